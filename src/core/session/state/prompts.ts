import { Deferred } from '../../../base/deferred.ts';
import type { ContentBlock, StopReason } from '../../../protocol/acp.ts';
import type { Actor } from '../../../protocol/controls.ts';
import type { Agency } from '../commands/command.ts';
import type { ControlEvent } from '../control-events.ts';
import { NO_USAGE } from '../turn/budget.ts';
import { cancelledEnding } from '../turn/terminal.ts';
import type { CommandId, Terminal, TurnId, Usage } from '../words.ts';

/** A prompt as it reaches a session. `order` is its place in the order of arrival at the host. */
export type Prompt = {
  readonly order: number;
  readonly commandId: CommandId;
  readonly content: readonly ContentBlock[];
  readonly actor: Actor;
  /** Missing: a person's. */
  readonly agency?: Agency;
};

/** How a prompt ended; `turnId` is null if it never began. */
export type PromptOutcome = {
  readonly turnId: TurnId | null;
  readonly stopReason: StopReason;
  readonly terminal: Terminal;
  readonly usage: Usage;
};

/** An admitted prompt and the promise of its end. */
export type PendingPrompt = Prompt & {
  /** The record that it left the next-turn queue, where it waited there; it goes before its admission. */
  readonly sent: ControlEvent | null;
  /** The record of its admission. */
  readonly issued: ControlEvent;
  readonly bodyHash: string;
  readonly outcome: Deferred<PromptOutcome>;
  /** True once its admission is recorded. */
  accepted: boolean;
};

/** Prompts that wait for their turn, first come first served. */
export class PromptQueue {
  readonly #waiting: PendingPrompt[] = [];

  get length(): number {
    return this.#waiting.length;
  }

  list(): readonly PendingPrompt[] {
    return this.#waiting;
  }

  push(prompt: PendingPrompt): void {
    this.#waiting.push(prompt);
  }

  shift(): PendingPrompt | undefined {
    return this.#waiting.shift();
  }

  /** Takes out one. */
  take(commandId: CommandId): PendingPrompt | undefined {
    const at = this.#waiting.findIndex((prompt) => prompt.commandId === commandId);
    return at === -1 ? undefined : this.#waiting.splice(at, 1)[0];
  }

  /** Takes out what arrived before `order`; later ones keep their places. */
  takeBefore(order: number): readonly PendingPrompt[] {
    const taken = this.#waiting.filter((prompt) => prompt.order < order);
    const kept = this.#waiting.filter((prompt) => prompt.order >= order);
    this.#waiting.splice(0, this.#waiting.length, ...kept);
    return taken;
  }
}

/** The outcome of a prompt that was stopped before its turn began. */
export function neverBegan(reason?: string): PromptOutcome {
  return { turnId: null, ...cancelledEnding(reason), usage: NO_USAGE };
}

/** A pending prompt with nothing recorded yet. */
export function pendingPrompt(
  prompt: Prompt,
  issued: Extract<ControlEvent, { type: 'command_issued' }>,
  sent: ControlEvent | null = null,
): PendingPrompt {
  const { bodyHash } = issued;
  return {
    ...prompt,
    issued,
    bodyHash,
    sent,
    outcome: new Deferred<PromptOutcome>(),
    accepted: false,
  };
}

/** True if a prompt holds nothing to read. */
export function isEmpty(content: readonly ContentBlock[]): boolean {
  return content.every((block) => block.type === 'text' && block.text.trim() === '');
}

/** What the model reads instead of a prompt that is one slash command; null for every other. */
export function expansion(
  content: readonly ContentBlock[],
  expand: (text: string) => string | null,
): string | null {
  const [only, ...rest] = content;
  return only?.type === 'text' && rest.length === 0 ? expand(only.text) : null;
}
