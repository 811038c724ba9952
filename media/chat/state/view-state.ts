import type {
  ChatAttachment,
  ChatCompletion,
  ChatGate,
  ChatItem,
  ChatStatus,
  ToChat,
} from '../../../src/protocol/chat.ts';
import type { Strings } from '../strings.ts';
import type { DelegateViews } from './delegate-rows.ts';

/** Everything the webview draws, but draft text, scroll position and what is folded. */
export type ViewState = {
  /** False until the first `reset`. */
  readonly ready: boolean;
  /** How many times the conversation was laid anew. */
  readonly resets: number;
  readonly status: ChatStatus;
  readonly items: readonly ChatItem[];
  /** Where each row stands in `items`. */
  readonly index: ReadonlyMap<string, number>;
  readonly hasBefore: boolean;
  readonly loadingBefore: boolean;
  /** Rows of delegates that are unfolded. */
  readonly delegates: DelegateViews;
  readonly gates: readonly ChatGate[];
  readonly answers: ReadonlyMap<string, AnswerState>;
  readonly stop: StopState | null;
  readonly send: SendState;
  readonly completions: {
    readonly requestId: number;
    readonly items: readonly ChatCompletion[];
  } | null;
  readonly compose: ComposeRequest | null;
  readonly reveal: { readonly seq: number; readonly id: string } | null;
  /** A streamed piece was missing: the bridge has to ask for a `reset`. */
  readonly gap: boolean;
  readonly strings: Strings;
};

/** A pressed Stop, held until the turn that it was pressed for has ended. */
export type StopState = { readonly turnId: string | null; readonly confirmed: boolean };

/** What became of the answer a person gave to a gate that is still open. */
export type AnswerState = { readonly sending: boolean; readonly error: string | null };

/** The composer's last send. `seq` grows with every result, so that each is seen once. */
export type SendState = {
  readonly pending: number | null;
  readonly seq: number;
  readonly done: number | null;
  readonly error: string | null;
};

/** Text or attachments to put into the composer, and a text to take out of it if it is all there is; once per `seq`. */
export type ComposeRequest = {
  readonly seq: number;
  readonly text: string;
  readonly takesBack: string | null;
  readonly attachments: readonly ChatAttachment[];
  readonly focus: boolean;
};

/** What the person did here, before the extension has answered. */
export type LocalAction =
  | { readonly type: 'local_send'; readonly requestId: number }
  | { readonly type: 'local_send_error_seen' }
  | { readonly type: 'local_stop' }
  | { readonly type: 'local_answer'; readonly gateId: string }
  | { readonly type: 'local_load_before' }
  | { readonly type: 'local_delegate_close'; readonly loopId: string };

export type Action = ToChat | LocalAction;
