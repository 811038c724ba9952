import { canonicalJson } from '../../../base/canonical-json.ts';
import type { ContentBlock } from '../../../protocol/acp.ts';
import type { Actor } from '../../../protocol/controls.ts';
import { resolution } from '../commands/resolution.ts';
import { SessionError } from '../commands/session-error.ts';
import type { CommandStamp } from '../commands/stamp.ts';
import type { ControlEvent } from '../control-events.ts';
import type { SessionDeps } from '../deps.ts';
import type { Recorder } from '../state/recorder.ts';
import type { CommandId, MessageId, SessionId } from '../words.ts';
import type { Inbox } from './inbox.ts';
import { ControlRefused } from './refusal.ts';
import { requireContent } from './required-content.ts';
import type { Seams } from './seams.ts';
import type { NewInject } from './session-control.ts';
import { requireRoom } from './waiting-limit.ts';

/** What the desk works with. */
export type InjectDeskParts = {
  readonly sessionId: SessionId;
  readonly deps: SessionDeps;
  readonly stamp: CommandStamp;
  readonly recorder: Recorder;
  readonly inbox: Inbox;
  readonly seams: Seams;
  /** True while a turn runs and was not stopped. */
  readonly isRunning: () => boolean;
  /** Tells subscribers what waits; called when a change is on disk. */
  readonly announce: () => void;
};

/** Takes messages for the running turn, and changes to those that wait. */
export class InjectDesk {
  readonly #parts: InjectDeskParts;

  constructor(parts: InjectDeskParts) {
    this.#parts = parts;
  }

  /** See `SessionControl.inject`. */
  async inject(
    message: NewInject,
  ): Promise<{ readonly messageId: MessageId; readonly isRepeat?: boolean }> {
    const { inbox, recorder, deps, seams } = this.#parts;
    const { mode, content, reminder, commandId } = message;
    const bodyHash = deps.digest(canonicalJson({ mode, content, reminder: reminder ?? null }));
    const repeated = inbox.repeated(commandId, bodyHash);
    if (repeated !== null) return { messageId: repeated, isRepeat: true };
    this.#requireOpen();
    requireContent(content);
    requireRoom(inbox.pending(), content);
    this.#claim(commandId);
    const messageId = deps.ids.unique() as MessageId;
    const event = injectIssued(this.#parts.stamp, message, messageId, bodyHash);
    inbox.apply(event, deps.clock.now());
    try {
      await recorder.control(event);
    } catch (failure) {
      // It was never accepted: nobody is to see it wait.
      const { actor } = message;
      inbox.apply(
        { type: 'inject_revoked', messageId, why: 'given_back', actor },
        deps.clock.now(),
      );
      throw failure;
    }
    if (mode === 'interrupt_immediate') seams.interrupt();
    this.#parts.announce();
    return { messageId };
  }

  /** See `SessionControl.revoke`. */
  async revoke(messageId: MessageId, actor: Actor): Promise<'revoked' | 'already_revoked'> {
    const entry = this.#parts.inbox.revocable(messageId, actor);
    if (entry === null) return 'already_revoked';
    const revoked = { type: 'inject_revoked', messageId, why: 'revoked', actor } as const;
    await this.#change(revoked, ...resolution(entry.commandId, 'cancelled', 'revoked'));
    return 'revoked';
  }

  /** See `SessionControl.replace`. */
  async replace(
    messageId: MessageId,
    content: readonly ContentBlock[],
    actor: Actor,
  ): Promise<void> {
    const { inbox } = this.#parts;
    inbox.replaceable(messageId, actor);
    requireContent(content);
    requireRoom(
      inbox.pending().filter((waiting) => waiting.messageId !== messageId),
      content,
    );
    await this.#change({ type: 'inject_replaced', messageId, content, actor });
  }

  async #change(...events: readonly ControlEvent[]): Promise<void> {
    for (const event of events) this.#parts.inbox.apply(event, this.#parts.deps.clock.now());
    await this.#parts.recorder.control(...events);
    this.#parts.announce();
  }

  #claim(commandId: CommandId | undefined): void {
    try {
      this.#parts.stamp.claim(commandId);
    } catch (collision) {
      if (!(collision instanceof SessionError)) throw collision;
      throw new ControlRefused('command_collision', collision.message, {}, collision);
    }
  }

  #requireOpen(): void {
    const { seams, isRunning, sessionId } = this.#parts;
    if (isRunning() && seams.isOpen) return;
    throw new ControlRefused(
      'no_active_prompt',
      `Session has no active prompt: ${sessionId}. Send the message as a prompt, or hold it in the next-turn queue.`,
    );
  }
}

function injectIssued(
  stamp: CommandStamp,
  message: NewInject,
  messageId: MessageId,
  bodyHash: string,
): Extract<ControlEvent, { type: 'command_issued' }> {
  const { mode, content, actor, agency = 'user', reminder, commandId } = message;
  const payload = { message_id: messageId, mode, blocks: content };
  const command = stamp.stamp(
    'inject',
    { ...payload, ...(reminder === undefined ? {} : { reminder }) },
    { actor, agency, ...(commandId === undefined ? {} : { commandId }) },
  );
  return { type: 'command_issued', command, bodyHash };
}
