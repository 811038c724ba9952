import { branchOf, isOn } from '../../session/history/branch.ts';
import type { Journal } from '../../session/ports.ts';
import type { SessionId } from '../../session/words.ts';
import { pages } from '../fold-session.ts';
import { Changes } from './changes.ts';

/** The newest event of each stream that is in `changes`, and how often the history had moved by then. */
type Known = {
  readonly changes: Changes;
  readonly moves: number;
  upTo: number;
  controlUpTo: number;
};

const nothingKnown = (moves: number): Known => ({
  changes: new Changes(),
  moves,
  upTo: 0,
  controlUpTo: 0,
});

/** The changes of sessions that somebody asked about, brought up to date from the history at each look. */
export class ChangeLog {
  readonly #journal: Journal;
  readonly #looks = new Map<SessionId, Promise<Known>>();

  constructor(journal: Journal) {
    this.#journal = journal;
  }

  /** The changes as of the newest stored event. */
  async of(sessionId: SessionId): Promise<Changes> {
    const before = this.#looks.get(sessionId) ?? Promise.resolve(nothingKnown(0));
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

  /** What was rolled back is no change any more: after a move everything is read again. */
  async #catchUp(sessionId: SessionId, before: Known): Promise<Known> {
    const moves = await this.#journal.moves(sessionId);
    const known = moves.length === before.moves ? before : nothingKnown(moves.length);
    const branch = branchOf(moves, Number.MAX_SAFE_INTEGER);
    const read = (after: number, limit: number) =>
      this.#journal.readHistory(sessionId, { after: Math.max(after, known.upTo), limit });
    for await (const page of pages(read)) {
      for (const record of page) {
        if (isOn(branch, record.seq)) known.changes.apply(record.event, record.at);
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
