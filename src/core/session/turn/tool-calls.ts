import type { ToolCallContent } from '../../../protocol/acp.ts';
import type { NewDirective } from '../control/directives.ts';
import type { CallCancelled } from '../control/session-control.ts';
import type { ModelToolCall, ModelToolResult } from '../model.ts';
import type { ToolCallId } from '../words.ts';
import type { AbortReason } from './aborts.ts';

type OpenCall = {
  readonly name: string;
  readonly abort: AbortController;
  /** What it has said so far; missing before it runs. */
  output?: () => CallOutput;
};

/** What a running call shows and has said so far. */
export type CallOutput = { readonly content: readonly ToolCallContent[]; readonly text: string };

/** The tool calls of a session that have no result yet, each of which can be ended by itself. */
export class ToolCalls {
  readonly #open = new Map<ToolCallId, OpenCall>();
  /** Tools of the calls that were ended early, by call. */
  readonly #cancelled = new Map<ToolCallId, string>();

  /** A model asked for this call. */
  begin({ toolCallId, name }: ModelToolCall): void {
    this.#open.set(toolCallId, { name, abort: new AbortController() });
  }

  /** It runs, and `output` reads what it has said so far. */
  runs(toolCallId: ToolCallId, output: () => CallOutput): void {
    const call = this.#open.get(toolCallId);
    if (call !== undefined) call.output = output;
  }

  /** What the calls that run now have said so far, perhaps nothing. */
  outputs(): readonly ({ readonly toolCallId: ToolCallId } & CallOutput)[] {
    return [...this.#open].flatMap(([toolCallId, { output }]) =>
      output === undefined ? [] : [{ toolCallId, ...output() }],
    );
  }

  /** Nothing can end this call early any more. */
  end(toolCallId: ToolCallId, status: ModelToolResult['status']): void {
    const call = this.#open.get(toolCallId);
    this.#open.delete(toolCallId);
    if (call !== undefined && status === 'cancelled') this.#cancelled.set(toolCallId, call.name);
  }

  /** Aborts when `signal` does, and with `call_cancelled` when this call alone is ended. */
  signalOf(toolCallId: ToolCallId, signal: AbortSignal): AbortSignal {
    const call = this.#open.get(toolCallId);
    return call === undefined ? signal : AbortSignal.any([signal, call.abort.signal]);
  }

  /** True if this call alone was ended and its result is not recorded yet. */
  isCancelled(toolCallId: ToolCallId): boolean {
    return this.#open.get(toolCallId)?.abort.signal.aborted ?? false;
  }

  /** Ends one call; whatever it waits for is given up. */
  cancel(toolCallId: ToolCallId, why: string): CallCancelled {
    const call = this.#open.get(toolCallId);
    if (call === undefined) {
      const tool = this.#cancelled.get(toolCallId) ?? null;
      return { status: tool === null ? 'not_found' : 'already_cancelled', tool };
    }
    if (call.abort.signal.aborted) return { status: 'already_cancelled', tool: call.name };
    const reason: AbortReason = { kind: 'call_cancelled', why };
    call.abort.abort(reason);
    return { status: 'cancelled', tool: call.name };
  }
}

/** What the model is told of a call that a person ended, where it is to be told. */
export function cancelledCall(
  toolCallId: ToolCallId,
  tool: string | null,
  reason: string,
): NewDirective {
  return {
    key: `call_cancelled/${toolCallId}`,
    authority: 'advisory',
    source: 'reminder',
    text: `The user cancelled the tool call ${toolCallId} (${tool}): ${reason}. Do not repeat it unless they ask for it.`,
  };
}
