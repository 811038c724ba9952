import type { ChatItem } from '../../protocol/chat.ts';
import type { ChatChange } from '../chat/model/conversation.ts';
import type { LiveChange } from '../sessions/live-types.ts';

/** Where a turn is told. */
export type TurnSink = {
  readonly text: (markdown: string) => void;
  /** What goes on, in one line. */
  readonly progress: (line: string) => void;
  /** A file that the turn touched; 1-based line. */
  readonly reference: (path: string, line: number | null) => void;
};

/** How the turn ended. */
export type TurnOutcome = {
  readonly stopReason: string;
  /** Why it failed, for a person; null if it did not. */
  readonly problem: string | null;
  readonly hasChanges: boolean;
};

const FAILURES: ReadonlySet<string> = new Set(['provider_error', 'runtime_error', 'suspended']);

/**
 * Tells one turn of a session out of the changes that its conversation goes through: from the prompt with this text
 * on, until it ends. What other turns do before is left out.
 */
export class TurnStream {
  readonly #prompt: string;
  readonly #sink: TurnSink;
  /** How much of each message was told. */
  readonly #told = new Map<string, number>();
  readonly #seen = new Set<string>();
  #begun = false;
  #outcome: TurnOutcome | null = null;
  #hasChanges = false;
  #needsBreak = false;

  constructor(prompt: string, sink: TurnSink) {
    this.#prompt = prompt;
    this.#sink = sink;
  }

  /** How the turn ended; null while it goes on. */
  get outcome(): TurnOutcome | null {
    return this.#outcome;
  }

  /** Takes the next change in; true once the turn has ended. */
  take(change: LiveChange): boolean {
    if (change.kind === 'chat') for (const one of change.changes) this.#chat(one);
    if (change.kind === 'turn_ended' && this.#begun)
      this.#outcome ??= {
        stopReason: change.stopReason,
        problem: change.failed ? '' : null,
        hasChanges: this.#hasChanges,
      };
    return this.#outcome !== null;
  }

  #chat(change: ChatChange): void {
    if (change.type === 'upsert') for (const item of change.items) this.#item(item);
    if (change.type === 'append' && change.field === 'text' && !this.#outcome) {
      const told = this.#told.get(change.id);
      if (told !== undefined)
        this.#tell(change.id, change.text.slice(Math.max(0, told - change.offset)));
    }
  }

  #item(item: ChatItem): void {
    if (this.#outcome) return;
    if (!this.#begun) {
      this.#begun = item.kind === 'user' && item.text === this.#prompt;
      return;
    }
    if (item.kind === 'assistant') {
      if (this.#told.has(item.id)) this.#tell(item.id, item.text.slice(this.#told.get(item.id)));
      else {
        this.#told.set(item.id, 0);
        this.#tell(item.id, this.#needsBreak ? `\n\n${item.text}` : item.text, item.text.length);
      }
    } else if (item.kind === 'tool') this.#tool(item);
    else if (item.kind === 'notice') this.#sink.progress(item.title);
    else if (item.kind === 'turn_end') this.#end(item);
  }

  #tell(id: string, text: string, length = text.length): void {
    if (text === '') return;
    this.#told.set(id, (this.#told.get(id) ?? 0) + length);
    this.#needsBreak = true;
    this.#sink.text(text);
  }

  #tool(item: Extract<ChatItem, { kind: 'tool' }>): void {
    this.#once(`${item.id} begun`, () => this.#sink.progress(item.title));
    if (item.status === 'failed' || item.status === 'denied')
      this.#once(`${item.id} ${item.status}`, () =>
        this.#sink.progress(`${item.title}: ${item.status}`),
      );
    if (item.status !== 'completed') return;
    if (item.diffs.length > 0) this.#hasChanges = true;
    for (const { path, line } of item.locations)
      this.#once(`file ${path}`, () => this.#sink.reference(path, line ?? null));
  }

  #end(item: Extract<ChatItem, { kind: 'turn_end' }>): void {
    this.#outcome = {
      stopReason: item.stopReason,
      problem: FAILURES.has(item.terminal) ? item.reason : null,
      hasChanges: this.#hasChanges,
    };
  }

  #once(key: string, run: () => void): void {
    if (this.#seen.has(key)) return;
    this.#seen.add(key);
    run();
  }
}
