import type { HistoryEvent } from '../events.ts';
import type { CommandId, ToolCallId } from '../words.ts';

/** What a delegate's request came to. */
export type HandedBack = Pick<
  Extract<HistoryEvent, { type: 'delegate_ended' }>,
  'outcome' | 'text'
>;

/** Calls that wait for a delegate, folded from the history: what was handed back to one is its result. */
export class DelegateCalls {
  readonly #waiting = new Map<CommandId, ToolCallId>();
  readonly #handedBack = new Map<ToolCallId, HandedBack>();

  /** Undefined where nothing was, or the call has its result. */
  handedBack(toolCallId: ToolCallId): HandedBack | undefined {
    return this.#handedBack.get(toolCallId);
  }

  apply(event: HistoryEvent): void {
    switch (event.type) {
      case 'delegate_started':
        if (!event.background) this.#waiting.set(event.requestId, event.toolCallId);
        break;
      case 'delegate_ended': {
        const toolCallId = this.#waiting.get(event.requestId);
        this.#waiting.delete(event.requestId);
        const { outcome, text } = event;
        if (toolCallId !== undefined) this.#handedBack.set(toolCallId, { outcome, text });
        break;
      }
      case 'tool_ended':
        this.#handedBack.delete(event.toolCallId);
        break;
      default:
        break;
    }
  }
}
