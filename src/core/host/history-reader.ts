import type { HistoryEvent, Stored } from '../session/events.ts';
import { type Branch, branchOf } from '../session/history/branch.ts';
import type { Timeline } from '../session/history/timeline.ts';
import type { HistoryRange, Journal } from '../session/ports.ts';
import type { SessionId } from '../session/words.ts';
import { unknownSession } from './errors.ts';
import type { FreshHistory } from './fresh-history.ts';
import { type HistoryQuery, readBranch } from './read-branch.ts';

/** Where histories are read from. */
export type HistorySources = {
  readonly journal: Journal;
  readonly fresh: FreshHistory;
  /** Of a live session. */
  readonly timeline: (sessionId: SessionId) => Timeline | undefined;
};

/** Reads stored histories, of sessions that are live and that are not. */
export class HistoryReader {
  readonly #sources: HistorySources;

  constructor(sources: HistorySources) {
    this.#sources = sources;
  }

  /** Throws `host.unknown_session`. */
  async read(sessionId: SessionId, query: HistoryQuery): Promise<readonly Stored<HistoryEvent>[]> {
    const branch = await this.#branch(sessionId, query);
    const read = (range: HistoryRange) => this.#read(sessionId, range);
    return branch === null ? read(query) : readBranch(branch, query, read);
  }

  /** Null for everything. */
  async #branch(sessionId: SessionId, { all, tip }: HistoryQuery): Promise<Branch | null> {
    const { journal } = this.#sources;
    const timeline = this.#sources.timeline(sessionId);
    if (timeline !== undefined && all !== true)
      return tip === undefined ? timeline.branch : timeline.branchAt(tip);
    const row = timeline === undefined ? await journal.session(sessionId) : null;
    if (timeline === undefined && row === null) throw unknownSession(sessionId);
    if (all === true) return null;
    const newest = row?.lastEventId ?? 0;
    return branchOf(await journal.moves(sessionId), Math.min(tip ?? newest, newest));
  }

  async #read(sessionId: SessionId, range: HistoryRange): Promise<readonly Stored<HistoryEvent>[]> {
    const { fresh, journal } = this.#sources;
    const page = fresh.page(sessionId, range);
    if (page === null) return journal.readHistory(sessionId, range);
    // Others have their turn between two pages, as they have while the store reads.
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    return page;
  }
}
