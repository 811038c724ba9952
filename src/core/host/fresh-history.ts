import type { HistoryEvent, Stored } from '../session/events.ts';
import type { HistoryRange } from '../session/ports.ts';
import type { SessionId } from '../session/words.ts';

/** A history with more events than this is read again instead. */
const MAX_EVENTS = 20_000;
/** So long after a session was brought to life somebody is expected to want its history, in milliseconds. */
const KEEP_MS = 2_000;

type Records = readonly Stored<HistoryEvent>[];

/**
 * The history of the session that was brought to life last, for a moment: whoever loads a session wants to see what
 * it was just rebuilt from, and reading and checking that twice is most of the work.
 */
export class FreshHistory {
  #sessionId: SessionId | null = null;
  #records: Records = [];
  #timer: NodeJS.Timeout | undefined;

  /** Takes a whole history, from its first event on, and keeps it once that is done, unless it is large. */
  gather(sessionId: SessionId): {
    readonly take: (record: Stored<HistoryEvent>) => void;
    readonly done: () => void;
  } {
    let records: Stored<HistoryEvent>[] | null = [];
    return {
      take: (record) => {
        if (records?.length === MAX_EVENTS) records = null;
        records?.push(record);
      },
      done: () => {
        if (records !== null) this.#keep(sessionId, records);
      },
    };
  }

  #keep(sessionId: SessionId, records: Records): void {
    this.drop();
    this.#sessionId = sessionId;
    this.#records = records;
    this.#timer = setTimeout(() => this.drop(), KEEP_MS).unref();
  }

  /** All events of a range that reads forward, or null if they have to be read from the store. */
  page(sessionId: SessionId, range: HistoryRange): Records | null {
    const { after = 0, before, limit, newestFirst } = range;
    if (sessionId !== this.#sessionId || newestFirst === true || before !== undefined) return null;
    // Events are numbered from 1 without gaps, so what follows event `after` stands at that index.
    const found = this.#records.slice(after, after + limit);
    return found.length === limit && found[0]?.seq === after + 1 ? found : null;
  }

  drop(): void {
    clearTimeout(this.#timer);
    this.#sessionId = null;
    this.#records = [];
  }
}
