import { canonicalJson } from '../../../base/canonical-json.ts';
import type { Inbox } from '../control/inbox.ts';
import type { Loop } from '../loop.ts';
import type { NewRecord } from '../ports.ts';
import { controlRecords } from '../records.ts';
import { gateCommand } from '../state/gate-commands.ts';
import type { Gates } from '../state/gates.ts';
import type { Recorder } from '../state/recorder.ts';
import type { SessionState } from '../state/session-state.ts';
import type { AbortReason } from '../turn/aborts.ts';
import type { CommandId, GateId, QueueItemId } from '../words.ts';
import type { Command, DurableCommand } from './command.ts';
import type { PersonsAnswer } from './entry-points.ts';
import { resolution } from './resolution.ts';
import { SessionError } from './session-error.ts';
import type { CommandOrigin, CommandStamp } from './stamp.ts';

/** What the desk works with. */
export type CommandDeskParts = {
  readonly stamp: CommandStamp;
  readonly recorder: Recorder;
  readonly state: SessionState;
  readonly gates: Gates;
  readonly inbox: Inbox;
  readonly loop: Loop;
  /** SHA-256 of UTF-8 text. */
  readonly digest: (text: string) => string;
};

/** What a cancel came to. `recorded` resolves when its command is on disk, which its effect does not wait for. */
export type Cancelled = { readonly ended: boolean; readonly recorded: Promise<void> };

type Cancelling = Extract<AbortReason, { kind: 'cancelled' }>;

/**
 * Takes the commands that answer, take back and stop. A repeat of one, by its id, gets what the first one got and does
 * nothing; the same id with another body is refused.
 */
export class CommandDesk {
  readonly #parts: CommandDeskParts;
  /** What commands of this process came to, while their records are on their way too. */
  readonly #answers = new Map<
    CommandId,
    { readonly bodyHash: string; readonly answer: Promise<boolean> }
  >();
  readonly #cancels = new Map<CommandId, Cancelled>();

  constructor(parts: CommandDeskParts) {
    this.#parts = parts;
  }

  /** See `LoopEntries.respondToGate`. */
  async respondToGate(
    gateId: GateId,
    answer: PersonsAnswer,
    origin: CommandOrigin,
  ): Promise<boolean> {
    const { commandId } = origin;
    const bodyHash = this.#digest({ gateId, answer });
    const repeated = this.#repeated(commandId, bodyHash);
    if (repeated !== null) return await repeated;
    this.#parts.stamp.claim(commandId);
    const answered = this.#respond(gateId, answer, origin, bodyHash);
    if (commandId !== undefined) this.#answers.set(commandId, { bodyHash, answer: answered });
    return await answered;
  }

  async #respond(
    gateId: GateId,
    answer: PersonsAnswer,
    origin: CommandOrigin,
    bodyHash: string,
  ): Promise<boolean> {
    const { gates, stamp } = this.#parts;
    const gate = gates.find(gateId);
    if (gate === undefined) return false;
    const command = gateCommand(stamp, gate, answer, origin);
    return await gates.answer(gateId, answer, origin.actor, {
      before: [issuedRecord(command, bodyHash)],
      after: controlRecords(resolution(command.command_id, 'applied')),
    });
  }

  /** See `LoopEntries.withdraw`. */
  async withdraw(commandId: CommandId, origin: CommandOrigin): Promise<'withdrawn' | 'no_op'> {
    const payload = { target_command_id: commandId };
    const bodyHash = this.#digest(payload);
    const repeated = this.#repeated(origin.commandId, bodyHash);
    if (repeated !== null) return (await repeated) ? 'withdrawn' : 'no_op';
    this.#parts.stamp.claim(origin.commandId);
    const command = this.#parts.stamp.stamp('cancel_queued_input', payload, origin);
    const answer = this.#withdrawWith(command, bodyHash, origin);
    this.#answers.set(command.command_id, { bodyHash, answer });
    return (await answer) ? 'withdrawn' : 'no_op';
  }

  async #withdrawWith(
    command: Extract<Command, { type: 'cancel_queued_input' }>,
    bodyHash: string,
    origin: CommandOrigin,
  ): Promise<boolean> {
    const { recorder } = this.#parts;
    const issued = recorder.append([issuedRecord(command, bodyHash)]);
    const taken = this.#takeBack(command.target_command_id, origin);
    const resolved = recorder.control(
      ...resolution(command.command_id, taken === null ? 'no_op' : 'applied'),
    );
    await Promise.all([issued, taken, resolved]);
    return taken !== null;
  }

  /** See `LoopEntries.cancelRequest`. */
  async cancelRequest(
    commandId: CommandId,
    origin: CommandOrigin,
  ): Promise<'noop' | 'queued' | 'active'> {
    const { recorder, loop, stamp } = this.#parts;
    const payload = { target_command_id: commandId };
    const command = stamp.stamp('cancel_delegate_request', payload, origin);
    const issued = recorder.append([issuedRecord(command, this.#digest(payload))]);
    const taken = this.#takeBack(commandId, origin);
    const reason: AbortReason = { kind: 'cancelled', by: origin.actor.clientId };
    const isActive = taken === null && loop.cancelTurnOf(commandId, reason);
    const came = taken === null && !isActive ? 'no_op' : 'applied';
    const resolved = recorder.control(...resolution(command.command_id, came));
    await Promise.all([issued, taken, resolved]);
    if (taken !== null) return 'queued';
    return isActive ? 'active' : 'noop';
  }

  /**
   * Stops what arrived before `order`; see `Session.cancelBefore`, which `stop` is. Throws `session.command_collision`
   * and stops nothing if a command of another type has the id.
   */
  cancel(order: number, reason: Cancelling, origin: CommandOrigin, stop: CancelBefore): Cancelled {
    const { commandId } = origin;
    const known = commandId === undefined ? undefined : this.#knownCancel(commandId);
    if (known !== undefined) return known;
    const { recorder, stamp } = this.#parts;
    stamp.claim(commandId);
    const payload = reason.why === undefined ? {} : { reason: reason.why };
    const command = stamp.stamp('cancel', payload, origin);
    const issued = recorder.append([issuedRecord(command, this.#digest(payload))]);
    const ended = stop(order, reason);
    const resolved = recorder.control(
      ...resolution(command.command_id, ended ? 'applied' : 'no_op'),
    );
    const recorded = Promise.all([issued, resolved]).then(() => undefined);
    // A failed append has stopped the session already; whoever waits is told.
    recorded.catch(() => undefined);
    const cancelled = { ended, recorded };
    this.#cancels.set(command.command_id, cancelled);
    return cancelled;
  }

  /** A cancel that is sent again must not stop what began since. */
  #knownCancel(commandId: CommandId): Cancelled | undefined {
    const live = this.#cancels.get(commandId);
    if (live !== undefined) return live;
    const known = this.#parts.state.command(commandId);
    if (known?.type !== 'cancel') return undefined;
    return { ended: known.resolution === 'applied', recorded: Promise.resolve() };
  }

  /** Null where nothing of this id waits. */
  #takeBack(commandId: CommandId, { actor }: CommandOrigin): Promise<unknown> | null {
    const { loop, inbox } = this.#parts;
    const waiting = loop.withdraw(commandId, 'withdrawn');
    if (waiting !== null) return waiting;
    const message = inbox.ofCommand(commandId);
    if (message !== null) return loop.injects.revoke(message.messageId, actor);
    const itemId = String(commandId) as QueueItemId;
    const isHeld = loop.nextTurns.view.items.some((item) => item.itemId === itemId);
    return isHeld ? loop.nextTurns.change({ kind: 'remove', itemId }, actor) : null;
  }

  #repeated(commandId: CommandId | undefined, bodyHash: string): Promise<boolean> | null {
    if (commandId === undefined) return null;
    const live = this.#answers.get(commandId);
    const known = this.#parts.state.command(commandId);
    const hash = live?.bodyHash ?? known?.bodyHash;
    if (hash === undefined) return null;
    if (hash !== bodyHash)
      throw new SessionError(
        'session.command_collision',
        `The command id ${commandId} was used before with another body. Use a new id.`,
      );
    return live?.answer ?? Promise.resolve(known?.resolution === 'applied');
  }

  #digest(payload: unknown): string {
    return this.#parts.digest(canonicalJson(payload));
  }
}

type CancelBefore = (order: number, reason: AbortReason) => boolean;

function issuedRecord(command: DurableCommand, bodyHash: string): NewRecord {
  return {
    stream: 'control',
    event: { type: 'command_issued', command, bodyHash },
    cause: { command_ids: [command.command_id] },
  };
}
