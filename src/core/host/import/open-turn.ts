import { decodeHistory } from '../../journal/codec/codec.ts';
import type { RawRecord } from '../../journal/raw-records.ts';
import type { NewRecord } from '../../session/ports.ts';
import { Conversation } from '../../session/state/conversation.ts';
import { interruptedEvents } from '../../session/state/restore.ts';
import { SessionState } from '../../session/state/session-state.ts';

/**
 * The turn that was open when a history was exported, from its records. It does not go on in a copy: what it asked and
 * what a person answered there is no leave for anything here.
 */
export class OpenTurn {
  readonly #loopId: string;
  #records: RawRecord[] = [];

  constructor(loopId: string) {
    this.#loopId = loopId;
  }

  /** The next records of the history, with their types. */
  take(records: readonly RawRecord[], types: readonly string[]): void {
    for (const [index, record] of records.entries()) {
      const type = types[index];
      if (type === 'turn_started') this.#records = [record];
      else if (type === 'turn_ended') this.#records = [];
      else if (this.#records.length > 0) this.#records.push(record);
    }
  }

  /** What ends it, as after a restart; nothing if none is open. */
  seal(): readonly NewRecord[] {
    const state = new SessionState();
    const conversation = new Conversation();
    for (const { seq, at, v, body } of this.#records) {
      const place = { session: this.#loopId, stream: 'history', seq } as const;
      const { event, cause } = decodeHistory(place, v, body);
      state.applyHistory(event, at, { seq, commandIds: cause.command_ids });
      conversation.apply(event, seq);
    }
    return this.#records.length === 0
      ? []
      : interruptedEvents(state, conversation, { isParked: false });
  }
}
