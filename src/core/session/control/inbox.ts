import type { ContentBlock } from '../../../protocol/acp.ts';
import type { Actor } from '../../../protocol/controls.ts';
import type { Inject } from '../commands/command.ts';
import type { ControlEvent, PendingMessage, ReminderTraits } from '../control-events.ts';
import type { HistoryEvent } from '../events.ts';
import type { CommandId, InjectMode, MessageId, Seam } from '../words.ts';
import { ControlRefused } from './refusal.ts';

/** A message for a running turn, from its acceptance to its end. */
export type InboxEntry = {
  readonly messageId: MessageId;
  readonly mode: InjectMode;
  readonly content: readonly ContentBlock[];
  readonly owner: Actor;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly reminder: ReminderTraits | null;
  /** Null where an older version took it without one. */
  readonly commandId: CommandId | null;
  readonly state: 'pending' | 'delivered' | 'revoked';
};

/** Which pending messages each seam delivers. Source: Harn session control, seams. */
const DRAINS: Readonly<Record<Seam, readonly InjectMode[]>> = {
  iteration_start: ['interrupt_immediate', 'steer'],
  pre_compact: [],
  post_compact: [],
  pre_tool_dispatch: ['interrupt_immediate'],
  post_tool_dispatch: ['interrupt_immediate', 'steer'],
  iteration_end: ['interrupt_immediate', 'steer'],
  idle_pre: ['interrupt_immediate'],
  idle_post: ['interrupt_immediate'],
  loop_exit: ['queue'],
};

/**
 * The messages that wait for a seam, folded from the session's events: each is delivered or revoked, once. Live, an
 * event is applied when its append is asked for, so that two controls in the same tick see each other's effect.
 */
export class Inbox {
  readonly #entries = new Map<MessageId, InboxEntry>();
  /** Delivered messages whose acceptance is folded later: the two streams are read one after the other. */
  readonly #early = new Set<MessageId>();
  readonly #commands = new Map<CommandId, { messageId: MessageId; bodyHash: string }>();

  apply(event: ControlEvent | HistoryEvent, at: number): void {
    switch (event.type) {
      case 'command_issued':
        if (event.command.type === 'inject') this.#issued(event.command, event.bodyHash, at);
        break;
      case 'inject_accepted':
        this.#accept(event, at);
        break;
      case 'inject_replaced':
        this.#update(event.messageId, { content: event.content });
        break;
      case 'inject_revoked':
        this.#update(event.messageId, { state: 'revoked' });
        break;
      case 'inject_delivered':
        this.#deliver(event.messageId);
        break;
      case 'directives_issued':
        for (const { messageId } of event.directives)
          if (messageId !== undefined) this.#deliver(messageId);
        break;
      default:
        break;
    }
  }

  /** What waits, oldest first. */
  pending(): readonly InboxEntry[] {
    return [...this.#entries.values()].filter(({ state }) => state === 'pending');
  }

  /** What waits and may still change what the turn does. */
  steering(): readonly InboxEntry[] {
    return this.pending().filter(({ mode }) => mode !== 'queue');
  }

  /**
   * What this seam delivers, oldest first; the others keep their places. Steers that were sent before an interrupt
   * come with it where only interrupts are drained: there is no step left that they could wait for, and behind it
   * they would count as the newer word.
   */
  due(seam: Seam): readonly InboxEntry[] {
    const modes = DRAINS[seam];
    if (modes.length === 0) return [];
    const pending = this.pending();
    const interrupt = modes.includes('interrupt_immediate')
      ? pending.findLastIndex(({ mode }) => mode === 'interrupt_immediate')
      : -1;
    return pending.filter(
      ({ mode }, at) => modes.includes(mode) || (mode === 'steer' && at < interrupt),
    );
  }

  /** The pending message that a command brought, or null. */
  ofCommand(commandId: CommandId): InboxEntry | null {
    return this.pending().find((entry) => entry.commandId === commandId) ?? null;
  }

  /** The message that a command id was used for, or null. Throws `command_collision` if its body was another. */
  repeated(commandId: CommandId | undefined, bodyHash: string): MessageId | null {
    const known = commandId === undefined ? undefined : this.#commands.get(commandId);
    if (known === undefined) return null;
    if (known.bodyHash !== bodyHash)
      throw new ControlRefused(
        'command_collision',
        `The command id ${commandId} was used before with another body. Use a new id.`,
      );
    return known.messageId;
  }

  /** The entry if `actor` may revoke it now; null if that was done before. Throws `ControlRefused`. */
  revocable(messageId: MessageId, actor: Actor): InboxEntry | null {
    const entry = this.#owned(messageId, actor);
    return entry.state === 'revoked' ? null : entry;
  }

  /** The entry if `actor` may replace its text now. Throws `ControlRefused`. */
  replaceable(messageId: MessageId, actor: Actor): InboxEntry {
    const entry = this.#owned(messageId, actor);
    if (entry.state === 'revoked')
      throw new ControlRefused(
        'already_revoked',
        'This message was revoked. Send a new one instead.',
        { messageId },
      );
    return entry;
  }

  #owned(messageId: MessageId, actor: Actor): InboxEntry {
    const entry = this.#entries.get(messageId);
    if (entry === undefined)
      throw new ControlRefused(
        'unknown_message_id',
        `No message ${messageId} was sent to this session. List the pending ones to see which there are.`,
        { messageId },
      );
    const { owner } = entry;
    if (actor.role !== 'host_owner' && actor.clientId !== owner.clientId)
      throw new ControlRefused(
        'not_owner_or_not_authorized',
        'This message belongs to another client; only its sender or a host owner may change it.',
        { messageId, actor: { ...actor }, owner: { ...owner } },
      );
    if (entry.state === 'delivered')
      throw new ControlRefused(
        'already_delivered',
        'This message was delivered; it is part of the conversation. Steer again to correct it.',
        { messageId },
      );
    return entry;
  }

  #issued(command: Inject, bodyHash: string, at: number): void {
    const { command_id: commandId, message_id: messageId, mode, blocks, actor, reminder } = command;
    this.#add({ messageId, mode, content: blocks, owner: actor, at, reminder, commandId });
    this.#commands.set(commandId, { messageId, bodyHash });
  }

  #accept(event: Extract<ControlEvent, { type: 'inject_accepted' }>, at: number): void {
    const { messageId, mode, content, actor, reminder, commandId = null, bodyHash } = event;
    this.#add({ messageId, mode, content, owner: actor, at, reminder, commandId });
    if (commandId !== null && bodyHash !== undefined)
      this.#commands.set(commandId, { messageId, bodyHash });
  }

  #add(
    entry: Omit<InboxEntry, 'state' | 'reminder'> & {
      readonly reminder: ReminderTraits | undefined;
    },
  ): void {
    const { messageId, reminder = null } = entry;
    const state = this.#early.delete(messageId) ? 'delivered' : 'pending';
    this.#entries.set(messageId, { ...entry, reminder, state });
  }

  #deliver(messageId: MessageId): void {
    if (this.#entries.has(messageId)) this.#update(messageId, { state: 'delivered' });
    else this.#early.add(messageId);
  }

  #update(messageId: MessageId, change: Partial<InboxEntry>): void {
    const entry = this.#entries.get(messageId);
    if (entry !== undefined) this.#entries.set(messageId, { ...entry, ...change });
  }
}

/** An entry as everybody may see it. */
export function toPending(entry: InboxEntry, behindGate: boolean): PendingMessage {
  const { messageId, mode, content, owner, at, reminder } = entry;
  const kind = reminder === null ? 'user' : 'reminder';
  return { messageId, kind, mode, content, owner, at, behindGate };
}
