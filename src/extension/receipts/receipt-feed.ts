import type { ReceiptList, ReceiptListParams } from '../../protocol/receipt-shapes.ts';
import type { ReceiptFilter, ReceiptStream } from '../../protocol/receipts-view.ts';
import type { ListedReceipt } from './receipt-entry.ts';

/** Asks the agent for a page of receipts, oldest first. */
export type ReadReceipts = (params: ReceiptListParams) => Promise<ReceiptList>;

/** How many receipts a page holds. */
const PAGE = 200;
const EXPORT_PAGE = 1_000;

/** The receipts of one stream that were read so far, newest first, under one filter. */
export class ReceiptFeed {
  readonly #read: ReadReceipts;
  readonly #base: Pick<ReceiptListParams, 'sessionId' | 'method' | 'status'>;
  #receipts: ListedReceipt[] = [];
  #hasOlder = false;
  #loading: Promise<unknown> = Promise.resolve();

  constructor(
    read: ReadReceipts,
    stream: ReceiptStream,
    sessionId: string | null,
    filter: ReceiptFilter,
  ) {
    this.#read = read;
    this.#base = {
      ...(stream === 'session' && sessionId !== null ? { sessionId } : {}),
      ...(filter.method === null ? {} : { method: filter.method }),
      ...(filter.status === null ? {} : { status: filter.status }),
    };
  }

  /** Newest first. */
  get receipts(): readonly ListedReceipt[] {
    return this.#receipts;
  }

  get hasOlder(): boolean {
    return this.#hasOlder;
  }

  /** Reads the newest page. */
  async start(): Promise<void> {
    await this.#inTurn(async () => {
      const page = await this.#read({ ...this.#base, limit: PAGE });
      this.#receipts = page.receipts.toReversed();
      this.#hasOlder = page.hasBefore;
    });
  }

  /** Reads the page before what is there; resolves with what is new, newest first. */
  async older(): Promise<readonly ListedReceipt[]> {
    return this.#inTurn(async () => {
      const before = this.#receipts.at(-1)?.seq;
      if (!this.#hasOlder || before === undefined) return [];
      const page = await this.#read({ ...this.#base, before, limit: PAGE });
      const older = page.receipts.toReversed();
      this.#receipts.push(...older);
      this.#hasOlder = page.hasBefore;
      return older;
    });
  }

  /** Reads what came since; resolves with what is new, newest first. */
  async newer(): Promise<readonly ListedReceipt[]> {
    return this.#inTurn(async () => {
      const found: ListedReceipt[] = [];
      for (let more = true; more; ) {
        const after = found[0]?.seq ?? this.#receipts[0]?.seq;
        const page = await this.#read({
          ...this.#base,
          ...(after === undefined ? {} : { after }),
          limit: PAGE,
        });
        found.unshift(...page.receipts.toReversed());
        more = page.hasAfter && page.receipts.length > 0;
      }
      this.#receipts = [...found, ...this.#receipts];
      return found;
    });
  }

  /** Every receipt of the stream under the filter, oldest first; what is shown stays as it is. */
  async all(): Promise<ListedReceipt[]> {
    const found: ListedReceipt[] = [];
    for (let after = 0; ; ) {
      const page = await this.#read({ ...this.#base, after, limit: EXPORT_PAGE });
      found.push(...page.receipts);
      const last = page.receipts.at(-1)?.seq;
      if (!page.hasAfter || last === undefined) return found;
      after = last;
    }
  }

  /** One read at a time: two at once could bring the same receipts twice. */
  #inTurn<T>(run: () => Promise<T>): Promise<T> {
    const next = this.#loading.then(run, run);
    this.#loading = next.then(
      () => undefined,
      () => undefined,
    );
    return next;
  }
}
