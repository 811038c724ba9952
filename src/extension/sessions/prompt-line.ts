import type { ContentBlock } from '../../protocol/acp.ts';

/** A prompt on its way. `held`: it waits here until a stopped turn has ended; `sent`: the agent has it. */
export type PromptEntry = {
  readonly commandId: string;
  readonly text: string;
  readonly blocks: readonly ContentBlock[];
  state: 'held' | 'sent' | 'running';
};

/** The prompts of one session that have no end yet, in the order in which they were sent. */
export class PromptLine {
  #entries: PromptEntry[] = [];

  add(entry: PromptEntry): void {
    this.#entries.push(entry);
  }

  remove(entry: PromptEntry): void {
    this.#entries = this.#entries.filter((other) => other !== entry);
  }

  find(commandId: string): PromptEntry | null {
    return this.#entries.find((entry) => entry.commandId === commandId) ?? null;
  }

  /** True while the agent has a prompt that has not ended. */
  get isBusy(): boolean {
    return this.#entries.some((entry) => entry.state !== 'held');
  }

  get running(): PromptEntry | null {
    return this.#entries.find((entry) => entry.state === 'running') ?? null;
  }

  /** The next one that the agent will begin, if none runs. */
  get next(): PromptEntry | null {
    if (this.running) return null;
    return this.#entries.find((entry) => entry.state === 'sent') ?? null;
  }

  /** What waits to begin, oldest first. */
  get queued(): readonly PromptEntry[] {
    return this.#entries.filter((entry) => entry.state !== 'running');
  }

  get held(): readonly PromptEntry[] {
    return this.#entries.filter((entry) => entry.state === 'held');
  }
}
