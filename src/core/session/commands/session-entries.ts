import type { ContentBlock } from '../../../protocol/acp.ts';
import type { Actor } from '../../../protocol/controls.ts';
import type { LoopChanges } from '../control/loop-change.ts';
import type {
  NewInject,
  QueueChanged,
  QueueRequest,
  SessionControl,
} from '../control/session-control.ts';
import type { NextTurns, PendingMessage } from '../control-events.ts';
import type { Loop } from '../loop.ts';
import type { MessageId } from '../words.ts';
import type { CommandDesk } from './command-desk.ts';
import type { LoopEntries } from './entry-points.ts';

/** What the entries lead to. */
export type EntryParts = {
  readonly loop: Loop;
  readonly commands: CommandDesk;
  readonly changes: LoopChanges;
};

/** The ways into a session's loop, besides its prompts and Stop; each is led to the desk that takes it. */
export class SessionEntries implements LoopEntries, SessionControl {
  readonly #parts: EntryParts;

  constructor(parts: EntryParts) {
    this.#parts = parts;
  }

  /** See `LoopEntries`. */
  respondToGate: LoopEntries['respondToGate'] = (gateId, answer, origin) =>
    this.#parts.commands.respondToGate(gateId, answer, origin);

  /** See `LoopEntries`. */
  withdraw: LoopEntries['withdraw'] = (commandId, origin) =>
    this.#parts.commands.withdraw(commandId, origin);

  /** See `LoopEntries`. */
  cancelRequest: LoopEntries['cancelRequest'] = (commandId, origin) =>
    this.#parts.commands.cancelRequest(commandId, origin);

  /** See `LoopEntries`. */
  notifyProcess: LoopEntries['notifyProcess'] = (info) =>
    this.#parts.loop.machine.notifyProcess(info);

  /** See `LoopEntries`. */
  handBack: LoopEntries['handBack'] = (result) => this.#parts.loop.machine.handBack(result);

  /** See `LoopEntries`. */
  compact: LoopEntries['compact'] = (origin) => this.#parts.loop.compactions.compact(origin);

  /** See `LoopEntries`. */
  changeLoop: LoopEntries['changeLoop'] = (change, origin) =>
    this.#parts.changes.changeLoop(change, origin);

  /** See `LoopChanges`. */
  replaceTools: LoopChanges['replaceTools'] = (tools, origin) =>
    this.#parts.changes.replaceTools(tools, origin);

  /** See `Loop`. */
  get isAtQuestion(): boolean {
    return this.#parts.loop.isAtQuestion;
  }

  /** See `SessionControl`. */
  pending(): readonly PendingMessage[] {
    return this.#parts.loop.pending();
  }

  /** See `SessionControl`. */
  nextTurns(): NextTurns {
    return this.#parts.loop.nextTurns.view;
  }

  /** See `SessionControl`. */
  changeQueue(change: QueueRequest, actor: Actor): Promise<QueueChanged> {
    return this.#parts.loop.nextTurns.change(change, actor);
  }

  /** See `SessionControl`. */
  inject(
    message: NewInject,
  ): Promise<{ readonly messageId: MessageId; readonly isRepeat?: boolean }> {
    return this.#parts.loop.injects.inject(message);
  }

  /** See `SessionControl`. */
  revoke(messageId: MessageId, actor: Actor): Promise<'revoked' | 'already_revoked'> {
    return this.#parts.loop.injects.revoke(messageId, actor);
  }

  /** See `SessionControl`. */
  replace(messageId: MessageId, content: readonly ContentBlock[], actor: Actor): Promise<void> {
    return this.#parts.loop.injects.replace(messageId, content, actor);
  }

  /** See `SessionControl`. */
  cancelToolCall: SessionControl['cancelToolCall'] = (toolCallId, options) =>
    this.#parts.loop.cancelToolCall(toolCallId, options);
}
