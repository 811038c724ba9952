import type { ControlEvent } from '../../../session/control-events.ts';
import type { Stored } from '../../../session/events.ts';
import type { HistoryRange } from '../../../session/ports.ts';
import { unknownSession } from '../../errors.ts';
import type { ListedReceipt, ReceiptPage, ReceiptQuery } from '../api.ts';

/** Where receipts are read from. `sessionId` null is the host's own stream. */
export interface ReceiptStore {
  isStored(sessionId: string): Promise<boolean>;
  readControl(
    sessionId: string | null,
    range: HistoryRange,
  ): Promise<readonly Stored<ControlEvent>[]>;
}

const DEFAULT_LIMIT = 200;
const MAX_LIMIT = 1_000;
const PAGE = 500;

/** Finds receipts among the bookkeeping of a control stream. */
export class ReceiptList {
  readonly #store: ReceiptStore;

  constructor(store: ReceiptStore) {
    this.#store = store;
  }

  /** Oldest first; without `after` the newest that fit. Throws `host.unknown_session`. */
  async page(query: ReceiptQuery): Promise<ReceiptPage> {
    const { sessionId, after, before } = query;
    if (sessionId !== undefined && !(await this.#store.isStored(sessionId)))
      throw unknownSession(sessionId);
    const limit = Math.min(Math.max(query.limit ?? DEFAULT_LIMIT, 1), MAX_LIMIT);
    const isForward = after !== undefined;
    const damaged = new Set<number>();
    const window = { after, before, newestFirst: !isForward };
    const found = await this.#find(query, window, limit + 1, damaged);
    const hasMore = found.length > limit;
    const kept = found.slice(0, limit);
    const receipts = isForward ? kept : kept.toReversed();
    const unreadable = damaged.size === 0 ? {} : { damaged: [...damaged].sort((a, b) => a - b) };
    if (isForward) {
      const hasBefore = await this.#hasBefore(query, after + 1);
      return { receipts, hasAfter: hasMore, hasBefore, ...unreadable };
    }
    return {
      receipts,
      ...unreadable,
      hasBefore: hasMore,
      hasAfter: before !== undefined && (await this.#hasAfter(query, before - 1)),
    };
  }

  async #hasBefore(query: ReceiptQuery, before: number): Promise<boolean> {
    return (await this.#find(query, { before, newestFirst: true }, 1)).length > 0;
  }

  async #hasAfter(query: ReceiptQuery, after: number): Promise<boolean> {
    return (await this.#find(query, { after, newestFirst: false }, 1)).length > 0;
  }

  async #find(
    query: ReceiptQuery,
    window: Window,
    most: number,
    damaged = new Set<number>(),
  ): Promise<ListedReceipt[]> {
    const found: ListedReceipt[] = [];
    let { after, before } = window;
    while (found.length < most) {
      const page = await this.#store.readControl(query.sessionId ?? null, {
        ...(after === undefined ? {} : { after }),
        ...(before === undefined ? {} : { before }),
        limit: PAGE,
        newestFirst: window.newestFirst,
        damagedReceipt: (seq) => damaged.add(seq),
      });
      for (const record of page) {
        const listed = fitting(record, query);
        if (listed !== null && found.length < most) found.push(listed);
      }
      const last = page.at(-1);
      if (last === undefined || page.length < PAGE) break;
      if (window.newestFirst) before = last.seq;
      else after = last.seq;
    }
    return found;
  }
}

type Window = {
  readonly after?: number | undefined;
  readonly before?: number | undefined;
  readonly newestFirst: boolean;
};

function fitting(record: Stored<ControlEvent>, query: ReceiptQuery): ListedReceipt | null {
  const { event, seq, at, hash } = record;
  if (event.type !== 'control_outcome') return null;
  const { receipt } = event;
  if (query.method !== undefined && receipt.method !== query.method) return null;
  if (query.status !== undefined && receipt.status !== query.status) return null;
  return { seq, at, hash, receipt };
}
