import { canonicalJson } from '../../../base/canonical-json.ts';
import type { NewDirective } from '../control/directives.ts';
import type { ModelToolCall, ModelToolResult } from '../model.ts';
import type { ToolCallId, TurnId } from '../words.ts';
import { type Ending, guardrailEnding, stuckEnding, suspendedEnding } from './terminal.ts';

/** So many times the same batch with the same results, one after another, is no progress. */
const SAME_BATCHES = 5;
/** So many of them, and the model is told: it may not have noticed. */
const WARN_AT = 3;
/** So many batches in which policy itself denied every call, one after another, are a wall. */
const DENIED_BATCHES = 3;
/** So many pauses with nothing in them, one after another, are not going to become an answer. */
const EMPTY_PAUSES = 3;

/** Watches one turn for going round in circles. What a person does or says begins all counts anew. */
export class ProgressWatch {
  readonly #digest: (text: string) => string;
  readonly #denials = new Map<ToolCallId, string>();
  #lastBatch = '';
  #sameBatches = 0;
  #deniedBatches = 0;
  #emptyPauses = 0;

  /** `digest` is SHA-256 of UTF-8 text. */
  constructor(digest: (text: string) => string) {
    this.#digest = digest;
  }

  /** Policy itself denied a call; a person's refusal is not meant. */
  denied(toolCallId: ToolCallId, reason: string): void {
    this.#denials.set(toolCallId, reason);
  }

  /** Something new was said to the agent. */
  reset(): void {
    this.#lastBatch = '';
    this.#sameBatches = 0;
    this.#deniedBatches = 0;
    this.#emptyPauses = 0;
  }

  /** A reply that asks to be called again; null means that the turn goes on. */
  paused(isEmpty: boolean): Ending | null {
    this.#sameBatches = 0;
    this.#deniedBatches = 0;
    this.#emptyPauses = isEmpty ? this.#emptyPauses + 1 : 0;
    return this.#emptyPauses < EMPTY_PAUSES ? null : suspendedEnding(EMPTY_PAUSES);
  }

  /** A batch has its results: the turn goes on, goes on with a warning to the model, or ends. */
  batchEnded(
    calls: readonly ModelToolCall[],
    results: readonly ModelToolResult[],
  ): Ending | 'warn' | null {
    this.#emptyPauses = 0;
    const reasons = calls.map(({ toolCallId }) => this.#denials.get(toolCallId));
    this.#denials.clear();
    if (results.some(({ status }) => status === 'interrupted' || status === 'cancelled')) {
      this.reset();
      return null;
    }
    const batch = this.#digest(
      canonicalJson([
        calls.map(({ name, input, inputError }) => [name, input, inputError ?? null]),
        results.map(({ status, parts }) => [status, parts]),
      ]),
    );
    this.#sameBatches = batch === this.#lastBatch ? this.#sameBatches + 1 : 1;
    this.#lastBatch = batch;
    const denials = reasons.filter((reason) => reason !== undefined);
    this.#deniedBatches = denials.length === calls.length ? this.#deniedBatches + 1 : 0;
    if (this.#deniedBatches >= DENIED_BATCHES)
      return guardrailEnding(DENIED_BATCHES, [...new Set(denials)]);
    if (this.#sameBatches === WARN_AT) return 'warn';
    return this.#sameBatches < SAME_BATCHES ? null : stuckEnding(SAME_BATCHES);
  }
}

/** What the model is told before it is taken for stuck. */
export function repetitionWarning(turnId: TurnId): NewDirective {
  return {
    key: `no_progress/${turnId}`,
    authority: 'corrective',
    source: 'policy',
    text: `The same tool calls had the same results ${WARN_AT} times in a row. Take another way, wait for longer, or say what you need; after ${SAME_BATCHES} times the turn ends.`,
  };
}
