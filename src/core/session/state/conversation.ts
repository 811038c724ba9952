import type { HistoryEvent } from '../events.ts';
import type { ModelMessage, ModelToolCall, ModelToolResult } from '../model.ts';
import type { MessageId, ToolCallId } from '../words.ts';
import { toModelParts } from './prompt-content.ts';

/**
 * The conversation as a model reads it, folded from the history. Both a live and a restored session fold the same
 * events, so the message list is the same after a restart; it only ever grows (design §4.7).
 */
export class Conversation {
  readonly #messages: ModelMessage[] = [];
  readonly #texts = new Map<MessageId, { text: string; thought: string }>();
  #calls: readonly ModelToolCall[] = [];
  readonly #results = new Map<ToolCallId, ModelToolResult>();

  /** The messages so far; a batch whose results are not complete shows only its calls. */
  get messages(): readonly ModelMessage[] {
    return this.#messages;
  }

  /** Calls of the newest reply that have no result yet. */
  get openCalls(): readonly ModelToolCall[] {
    return this.#calls.filter((call) => !this.#results.has(call.toolCallId));
  }

  /** A reply whose text has begun and that is not complete. */
  get openReply(): MessageId | null {
    return [...this.#texts.keys()].at(-1) ?? null;
  }

  apply(event: HistoryEvent): void {
    switch (event.type) {
      case 'turn_started':
        this.#messages.push({
          role: 'user',
          messageId: event.messageId,
          origin: 'prompt',
          parts:
            event.modelText === undefined
              ? toModelParts(event.content)
              : [{ type: 'text', text: event.modelText }],
        });
        break;
      case 'machine_message':
        this.#messages.push({
          role: 'user',
          messageId: event.messageId,
          origin: 'machine',
          parts: [{ type: 'text', text: event.text }],
        });
        break;
      case 'message_delta':
        this.#addText(event);
        break;
      case 'model_replied':
        this.#addReply(event);
        break;
      case 'tool_ended':
        this.#addResult(event.result);
        break;
      default:
        break;
    }
  }

  #addText(event: Extract<HistoryEvent, { type: 'message_delta' }>): void {
    const texts = this.#texts.get(event.messageId) ?? { text: '', thought: '' };
    texts[event.kind] += event.text;
    this.#texts.set(event.messageId, texts);
  }

  #addReply(event: Extract<HistoryEvent, { type: 'model_replied' }>): void {
    const { text, thought } = this.#texts.get(event.messageId) ?? { text: '', thought: '' };
    this.#texts.delete(event.messageId);
    this.#calls = event.calls;
    this.#results.clear();
    if (
      text === '' &&
      thought === '' &&
      event.calls.length === 0 &&
      event.providerState === undefined
    )
      return;
    this.#messages.push({
      role: 'assistant',
      messageId: event.messageId,
      text,
      thought,
      calls: event.calls,
      ...(event.providerState === undefined ? {} : { providerState: event.providerState }),
    });
  }

  #addResult(result: ModelToolResult): void {
    this.#results.set(result.toolCallId, result);
    if (this.#calls.length === 0 || this.openCalls.length > 0) return;
    const results = this.#calls.flatMap((call) => this.#results.get(call.toolCallId) ?? []);
    this.#messages.push({ role: 'tool', results });
    this.#calls = [];
    this.#results.clear();
  }
}
