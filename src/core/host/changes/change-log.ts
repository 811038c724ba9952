import type { Journal } from '../../session/ports.ts';
import type { SessionId } from '../../session/words.ts';
import { pages } from '../fold-session.ts';
import { Changes } from './changes.ts';

/** The newest event of each stream that is in `changes`. */
type Known = { readonly changes: Changes; upTo: number; controlUpTo: number };

/** The changes of sessions that somebody asked about, brought up to date from the history at each look. */
export class ChangeLog {
  readonly #journal: Journal;
  readonly #looks = new Map<SessionId, Promise<Known>>();

  constructor(journal: Journal) {
    this.#journal = journal;
  }

  /** The changes as of the newest stored event. */
  async of(sessionId: SessionId): Promise<Changes> {
    const before =
      this.#looks.get(sessionId) ??
      Promise.resolve({ changes: new Changes(), upTo: 0, controlUpTo: 0 });
    const look = before.then((known) => this.#catchUp(sessionId, known));
    this.#looks.set(sessionId, look);
    try {
      return (await look).changes;
    } catch (failure) {
      this.#looks.delete(sessionId);
      throw failure;
    }
  }

  /** Lets go of what is known of a session. */
  forget(sessionId: SessionId): void {
    this.#looks.delete(sessionId);
  }

  async #catchUp(sessionId: SessionId, known: Known): Promise<Known> {
    const read = (after: number, limit: number) =>
      this.#journal.readHistory(sessionId, { after: Math.max(after, known.upTo), limit });
    for await (const page of pages(read)) {
      for (const record of page) {
        known.changes.apply(record.event, record.at);
        known.upTo = record.seq;
      }
    }
    const readControl = (after: number, limit: number) =>
      this.#journal.readControl(sessionId, { after: Math.max(after, known.controlUpTo), limit });
    for await (const page of pages(readControl)) {
      for (const record of page) {
        known.changes.applyControl(record.event, record.at);
        known.controlUpTo = record.seq;
      }
    }
    return known;
  }
}
