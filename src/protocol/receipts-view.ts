/** The bridge between the extension and the receipts page. The extension owns all state but scroll and open rows. */

/** One receipt, in words. */
export type ReceiptEntry = {
  /** Its place in its stream, and that record's hash. */
  readonly seq: number;
  readonly hash: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly controlId: string;
  /** The control by its wire name, and what was asked for in plain words. */
  readonly method: string;
  readonly asked: string;
  readonly status: 'accepted' | 'idempotent' | 'rejected';
  /** What happened, in plain words; `outcome` is the wire's word. */
  readonly happened: string;
  readonly outcome: string;
  /** Why it was refused: in plain words, with the wire's word; null if it was not. */
  readonly refusal: { readonly words: string; readonly reason: string } | null;
  readonly who: string;
  /** Null for the agent itself: it needs no role to act. */
  readonly role: string | null;
  readonly door: string;
  /** What it named besides the session, and further facts that it states. */
  readonly facts: readonly { readonly label: string; readonly value: string }[];
};

/** Which receipts: of the session, or of controls that named no session here. */
export type ReceiptStream = 'session' | 'host';

export type ReceiptFilter = {
  /** A wire name; null for all. */
  readonly method: string | null;
  readonly status: ReceiptEntry['status'] | null;
};

/** One chain, checked. */
export type ChainResult = {
  readonly name: string;
  readonly ok: boolean;
  /** What was found, in a sentence. */
  readonly text: string;
};

export type VerifyState =
  | { readonly kind: 'none' }
  | { readonly kind: 'running' }
  | { readonly kind: 'done'; readonly at: number; readonly chains: readonly ChainResult[] };

/** Everything that the page shows. */
export type ReceiptsState = {
  readonly title: string;
  readonly stream: ReceiptStream;
  readonly hasSession: boolean;
  readonly filter: ReceiptFilter;
  readonly methods: readonly { readonly value: string; readonly label: string }[];
  /** Newest first. */
  readonly entries: readonly ReceiptEntry[];
  readonly hasOlder: boolean;
  readonly loading: boolean;
  /** Why nothing could be read, or null. */
  readonly problem: string | null;
  readonly verify: VerifyState;
};

/** Extension → page. */
export type ToReceipts =
  | {
      readonly type: 'state';
      readonly state: ReceiptsState;
      readonly strings: Readonly<Record<ReceiptStringKey, string>>;
    }
  /** All but the entries may differ; `newer` come in front, `older` behind what is there. */
  | {
      readonly type: 'more';
      readonly state: Omit<ReceiptsState, 'entries'>;
      readonly newer: readonly ReceiptEntry[];
      readonly older: readonly ReceiptEntry[];
    };

/** Page → extension. */
export type FromReceipts =
  | { readonly type: 'ready' }
  | { readonly type: 'load_older' }
  | { readonly type: 'filter'; readonly filter: ReceiptFilter }
  | { readonly type: 'stream'; readonly stream: ReceiptStream }
  | { readonly type: 'refresh' }
  | { readonly type: 'verify' }
  | { readonly type: 'export' }
  | { readonly type: 'copy'; readonly seq: number };

/** The keys of every text of the page that does not come with an entry. */
export type ReceiptStringKey =
  | 'filterControl'
  | 'filterStatus'
  | 'filterAll'
  | 'statusAccepted'
  | 'statusIdempotent'
  | 'statusRejected'
  | 'statusAny'
  | 'streamLabel'
  | 'streamSession'
  | 'streamHost'
  | 'verify'
  | 'verifying'
  | 'verifiedAt'
  | 'export'
  | 'refresh'
  | 'listLabel'
  | 'emptyTitle'
  | 'emptyBody'
  | 'emptyFiltered'
  | 'clearFilter'
  | 'loading'
  | 'retry'
  | 'by'
  | 'byItself'
  | 'door'
  | 'wireName'
  | 'wireOutcome'
  | 'wireReason'
  | 'controlId'
  | 'place'
  | 'hash'
  | 'time'
  | 'copy'
  | 'copied';
