import type { Cause, HistoryEvent } from '../events.ts';
import type { NewRecord } from '../ports.ts';
import type { CommandId, TurnId } from '../words.ts';

/** What a turn comes from: its prompt first, then every input that was folded into it. */
export type TurnCauses = { readonly turnId: TurnId; readonly commandIds: readonly CommandId[] };

/** Events that close a turn name all its commands; the others name the prompt. */
const CLOSING: ReadonlySet<HistoryEvent['type']> = new Set(['turn_ended', 'turn_checkpoint']);

/**
 * Says of every record what brought it about, in the order in which records are appended. A record that names its cause
 * keeps it; one of a turn is caused by the turn's prompt, and its end by all that was folded into the turn as well.
 */
export class Causes {
  readonly #turns = new Map<TurnId, readonly CommandId[]>();
  #running: TurnId | null = null;

  /** `open` is the turn that was running when the process before this one ended. */
  constructor(open: TurnCauses | null) {
    if (open === null) return;
    this.#turns.set(open.turnId, open.commandIds);
    this.#running = open.turnId;
  }

  /** The record with its cause. */
  caused(record: NewRecord): NewRecord & { readonly cause: Cause } {
    const cause = { command_ids: record.cause?.command_ids ?? this.#of(record) };
    if (record.stream === 'history') this.#note(record.event, cause.command_ids);
    return { ...record, cause };
  }

  #of({ event }: NewRecord): readonly CommandId[] {
    switch (event.type) {
      case 'command_issued':
      case 'loop_changed':
      case 'loop_change_refused':
        return [event.command.command_id];
      case 'command_accepted':
      case 'command_resolved':
      case 'turn_started':
        return [event.commandId];
      case 'delegate_ended':
        return [event.requestId];
      case 'delegate_started': {
        const ofTurn = this.#ofTurn(event.type, event.turnId);
        // A person wrote to the delegate when its parent's turn was over: the request itself is all there is.
        return ofTurn.length > 0 ? ofTurn : [event.requestId];
      }
      // They name no turn, and come from the one that runs.
      case 'title_changed':
      case 'usage_changed':
      case 'process_started':
      case 'file_staged':
        return this.#ofTurn(event.type, this.#running);
      default:
        return 'turnId' in event ? this.#ofTurn(event.type, event.turnId) : [];
    }
  }

  #ofTurn(type: string, turnId: TurnId | null): readonly CommandId[] {
    const all = turnId === null ? [] : (this.#turns.get(turnId) ?? []);
    return [...CLOSING].some((closing) => closing === type) ? all : all.slice(0, 1);
  }

  #note(event: HistoryEvent, caused: readonly CommandId[]): void {
    if (event.type === 'turn_started') {
      this.#turns.set(event.turnId, caused);
      this.#running = event.turnId;
    } else if (event.type === 'turn_ended') {
      this.#forgetOthers(event.turnId);
      this.#running = null;
    } else if (
      event.type === 'inject_delivered' ||
      event.type === 'directives_issued' ||
      event.type === 'machine_message'
    )
      this.#fold(event.turnId, caused);
  }

  /** The checkpoint of a turn that was stopped comes behind its end, but before the next one's. */
  #forgetOthers(turnId: TurnId): void {
    for (const known of this.#turns.keys()) if (known !== turnId) this.#turns.delete(known);
  }

  #fold(turnId: TurnId | null, caused: readonly CommandId[]): void {
    const known = turnId === null ? undefined : this.#turns.get(turnId);
    if (turnId === null || known === undefined) return;
    this.#turns.set(turnId, [...new Set([...known, ...caused])]);
  }
}
