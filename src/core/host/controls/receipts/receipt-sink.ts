import type { ControlOutcome } from '../../../../protocol/controls.ts';
import { JournalError } from '../../../journal/errors.ts';
import { HOST_STREAM, type Journal } from '../../../session/ports.ts';
import type { SessionId } from '../../../session/words.ts';
import type { ReceiptSink } from './receipted.ts';

/** A live session as far as receipts go. */
export type ReceiptTaker = { receipt(receipt: ControlOutcome): Promise<void> };

/**
 * Keeps receipts where they belong: in the live session, so that its subscribers see them; in the stored one; and in
 * the host's own stream if the session is not here, was just deleted, or takes nothing any more.
 */
export class JournaledReceipts implements ReceiptSink {
  readonly #live: (sessionId: SessionId) => ReceiptTaker | undefined;
  readonly #journal: Pick<Journal, 'append' | 'session'>;

  constructor(
    live: (sessionId: SessionId) => ReceiptTaker | undefined,
    journal: Pick<Journal, 'append' | 'session'>,
  ) {
    this.#live = live;
    this.#journal = journal;
  }

  async keep(receipt: ControlOutcome): Promise<void> {
    const sessionId = receipt.session_id as SessionId;
    const live = this.#live(sessionId);
    if (live !== undefined) await this.#give(live, receipt);
    else if (!(await this.#store(sessionId, receipt))) await this.#append(HOST_STREAM, receipt);
  }

  /** A session that a failed append has stopped keeps nothing, but what was asked of it must still be found. */
  async #give(live: ReceiptTaker, receipt: ControlOutcome): Promise<void> {
    try {
      await live.receipt(receipt);
    } catch (refused) {
      try {
        await this.#append(HOST_STREAM, receipt);
      } catch {
        // The store takes nothing at all: what the session says is why.
        throw refused;
      }
    }
  }

  /** False if there is no such session. */
  async #store(sessionId: SessionId, receipt: ControlOutcome): Promise<boolean> {
    if (sessionId === HOST_STREAM || (await this.#journal.session(sessionId)) === null)
      return false;
    try {
      await this.#append(sessionId, receipt);
      return true;
    } catch (error) {
      if (error instanceof JournalError && error.code === 'journal.unknown_session') return false;
      throw error;
    }
  }

  async #append(sessionId: SessionId, receipt: ControlOutcome): Promise<void> {
    await this.#journal.append(sessionId, [
      { stream: 'control', event: { type: 'control_outcome', receipt } },
    ]);
  }
}
