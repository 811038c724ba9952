import { canonicalJson } from '../../../base/canonical-json.ts';
import { resolution } from '../commands/resolution.ts';
import { SessionError } from '../commands/session-error.ts';
import type { CommandStamp } from '../commands/stamp.ts';
import { ControlRefused } from '../control/refusal.ts';
import { requireRoom } from '../control/waiting-limit.ts';
import type { ControlEvent } from '../control-events.ts';
import type { CommandId } from '../words.ts';
import {
  isEmpty,
  neverBegan,
  type PendingPrompt,
  type Prompt,
  type PromptOutcome,
  PromptQueue,
  pendingPrompt,
} from './prompts.ts';
import type { Recorder } from './recorder.ts';
import type { SessionState } from './session-state.ts';

/** What prompts need from the loop that runs their turns. */
export type PromptDeskParts = {
  readonly recorder: Recorder;
  readonly state: SessionState;
  readonly stamp: CommandStamp;
  /** SHA-256 of UTF-8 text. */
  readonly digest: (text: string) => string;
  /** True if the id belongs to a message that waits elsewhere. */
  readonly isReserved: (commandId: CommandId) => boolean;
  /** Begins the next turn, unless that has to wait. */
  readonly begin: () => void;
  /** Tells subscribers how many wait. */
  readonly announce: () => void;
};

/** Prompts from their admission to their end; each ends exactly once, first come first served (design §4.3). */
export class PromptDesk {
  readonly #parts: PromptDeskParts;
  readonly #waiting = new PromptQueue();
  /** Every prompt without an outcome. */
  readonly #open = new Map<CommandId, PendingPrompt>();
  #cancelledBefore = 0;

  constructor(parts: PromptDeskParts) {
    this.#parts = parts;
  }

  /** How many wait for their turn. */
  get length(): number {
    return this.#waiting.length;
  }

  /** True if a prompt of this id was ever admitted, or another command has it. */
  knows(commandId: CommandId): boolean {
    const { state, stamp } = this.#parts;
    return (
      this.#open.has(commandId) ||
      state.command(commandId) !== undefined ||
      stamp.hasClaimed(commandId)
    );
  }

  /** See `Session.prompt`. */
  admit(prompt: Prompt): Promise<PromptOutcome> {
    if (isEmpty(prompt.content))
      return Promise.reject(
        new SessionError(
          'session.empty_prompt',
          'The prompt is empty. Send at least one content block with something in it.',
        ),
      );
    const bodyHash = this.#parts.digest(canonicalJson(prompt.content));
    const repeated = this.#repeated(prompt.commandId, bodyHash);
    if (repeated !== null) return repeated;
    const isStopped = prompt.order < this.#cancelledBefore;
    const full = isStopped ? null : this.#full(prompt);
    if (full !== null) return Promise.reject(full);
    let pending: PendingPrompt;
    try {
      pending = pendingPrompt(prompt, this.issued(prompt, bodyHash));
      this.#parts.stamp.claim(prompt.commandId);
    } catch (refusal) {
      return Promise.reject(refusal);
    }
    this.open(pending);
    if (isStopped) this.#withdraw([pending]);
    else {
      this.#waiting.push(pending);
      this.#parts.begin();
      if (this.#waiting.list().includes(pending)) this.#accept(pending);
    }
    return pending.outcome.promise;
  }

  /** Why it may not wait with those that do; null if it may, or none does. */
  #full({ content }: Prompt): ControlRefused | null {
    if (this.#waiting.length === 0) return null;
    try {
      requireRoom(this.#waiting.list(), content);
      return null;
    } catch (refusal) {
      if (refusal instanceof ControlRefused) return refusal;
      throw refusal;
    }
  }

  /** The record of a prompt's admission. */
  issued(prompt: Prompt, bodyHash: string): Extract<ControlEvent, { type: 'command_issued' }> {
    const { commandId, content, actor, agency = 'user' } = prompt;
    const origin = { actor, agency, commandId };
    const command = this.#parts.stamp.stamp('user_input', { blocks: content }, origin);
    return { type: 'command_issued', command, bodyHash };
  }

  /** The prompt whose turn it is. */
  shift(): PendingPrompt | undefined {
    return this.#waiting.shift();
  }

  /** A prompt that did not wait here: repeats of it get its outcome. */
  open(prompt: PendingPrompt): void {
    this.#open.set(prompt.commandId, prompt);
  }

  /** The outcome of a prompt is known. */
  close(prompt: PendingPrompt): void {
    this.#open.delete(prompt.commandId);
  }

  /** Ends those that arrived before `order`, and those that did and have yet to be heard. True if any waited. */
  cancelBefore(order: number): boolean {
    this.#cancelledBefore = Math.max(this.#cancelledBefore, order);
    const waiting = this.#waiting.takeBefore(order);
    this.#withdraw(waiting);
    return waiting.length > 0;
  }

  /** Takes back one that waits; false if none of this id does. Resolves when that is recorded. */
  withdrawOne(commandId: CommandId, reason: string): Promise<void> | null {
    const prompt = this.#waiting.take(commandId);
    return prompt === undefined ? null : this.#withdrawn(prompt, reason);
  }

  /** Ends those that wait now. */
  cancelWaiting(): void {
    this.#withdraw(this.#waiting.takeBefore(Number.POSITIVE_INFINITY));
  }

  /** Ends those that wait as rejected: no turn can be begun. */
  reject(cause: unknown): void {
    const failure = notBegun(cause);
    for (const prompt of this.#waiting.takeBefore(Number.POSITIVE_INFINITY)) {
      this.close(prompt);
      const resolved = resolution(prompt.commandId, 'rejected', 'internal');
      const events = prompt.accepted ? resolved : [prompt.issued, ...resolved];
      this.#parts.recorder.control(...events).then(
        () => prompt.outcome.reject(failure),
        (fault: unknown) => prompt.outcome.reject(fault),
      );
    }
    this.#parts.announce();
  }

  /** Fails those that wait. */
  fail(cause: unknown): void {
    for (const prompt of this.#waiting.takeBefore(Number.POSITIVE_INFINITY))
      prompt.outcome.reject(cause);
  }

  #repeated(commandId: CommandId, bodyHash: string): Promise<PromptOutcome> | null {
    const pending = this.#open.get(commandId);
    const known = this.#parts.state.command(commandId);
    if (!this.knows(commandId) && !this.#parts.isReserved(commandId)) return null;
    const hash = pending?.bodyHash ?? known?.bodyHash;
    if (hash !== bodyHash) {
      return Promise.reject(
        new SessionError(
          'session.command_collision',
          `The command id ${commandId} was used before with another body. Use a new id.`,
        ),
      );
    }
    if (pending !== undefined) return pending.outcome.promise;
    if (known?.resolution === 'rejected') return Promise.reject(notBegun());
    const why =
      known?.resolution === 'held' || this.#parts.isReserved(commandId)
        ? 'It waits in the next-turn queue'
        : 'It was taken back before it began';
    return Promise.resolve(known?.ended ?? neverBegan(why));
  }

  /** A prompt that has to wait is on disk before it waits. */
  #accept(prompt: PendingPrompt): void {
    prompt.accepted = true;
    this.#parts.announce();
    this.#parts.recorder
      .control(prompt.issued)
      .catch((cause: unknown) => prompt.outcome.reject(cause));
  }

  #withdraw(prompts: readonly PendingPrompt[]): void {
    // Whoever waits for the prompt is told what it came to, a failure too.
    for (const prompt of prompts) this.#withdrawn(prompt, 'user_cancelled').catch(() => undefined);
    if (prompts.length > 0) this.#parts.announce();
  }

  async #withdrawn(prompt: PendingPrompt, reason: string): Promise<void> {
    const { commandId, issued } = prompt;
    const resolved = {
      type: 'command_resolved',
      commandId,
      resolution: 'cancelled',
      reason,
    } as const;
    const events = prompt.accepted ? [resolved] : [issued, resolved];
    try {
      await this.#parts.recorder.control(...events);
      prompt.outcome.resolve(neverBegan());
    } catch (cause) {
      prompt.outcome.reject(cause);
      throw cause;
    } finally {
      // Until its end is on disk a repeat is told by the prompt itself.
      this.close(prompt);
    }
  }
}

function notBegun(cause?: unknown): SessionError {
  return new SessionError(
    'session.not_begun',
    'The turn could not be begun. Send the message again, as a new one.',
    cause === undefined ? {} : { cause },
  );
}
