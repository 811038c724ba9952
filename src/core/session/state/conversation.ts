import { Directives } from '../control/directives.ts';
import { defanged, defangedParts, renderEnvelope } from '../control/envelope.ts';
import type { HistoryEvent } from '../events.ts';
import { MessageMarks } from '../history/message-marks.ts';
import type { ModelMessage, ModelPart, ModelToolCall, ModelToolResult } from '../model.ts';
import type { MessageId, ToolCallId } from '../words.ts';
import { compactedMessages } from './compacted.ts';
import { toModelParts } from './prompt-content.ts';
import { TurnBrief } from './turn-brief.ts';

/**
 * The conversation as a model reads it, folded from the current branch of the history. Both a live and a restored
 * session fold the same events, so the message list is the same after a restart; but for a compaction it only grows
 * (design §4.7).
 */
export class Conversation {
  /** The directives that stand. */
  readonly directives = new Directives();
  /** What the newest turn is about. */
  readonly brief = new TurnBrief();
  /** Every message of the branch and where it was complete. */
  readonly marks = new MessageMarks();
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

  /** Messages of the branch, also those that a compaction took from the model. */
  get messageCount(): number {
    return this.marks.count;
  }

  /** Takes the next event of the branch; `eventId` is its number in the history. */
  apply(event: HistoryEvent, eventId = 0): void {
    const before = this.#messages.at(-1);
    this.#change(event);
    const after = this.#messages.at(-1);
    const isNew = event.type !== 'compacted' && after !== before;
    this.marks.note(event, eventId, isNew ? (after ?? null) : null);
  }

  #change(event: HistoryEvent): void {
    this.brief.apply(event);
    switch (event.type) {
      case 'turn_started':
        this.#addUser(
          event.messageId,
          event.origin ?? 'prompt',
          event.modelText === undefined
            ? defangedParts(toModelParts(event.content))
            : [{ type: 'text', text: event.modelText }],
        );
        break;
      case 'machine_message':
        this.#addUser(event.messageId, 'machine', [{ type: 'text', text: defanged(event.text) }]);
        break;
      case 'inject_delivered':
        this.#addInject(event);
        break;
      case 'directives_issued':
        this.directives.apply(event);
        this.#addUser(event.messageId, 'directives', [
          { type: 'text', text: renderEnvelope(event.nonce, event.directives) },
        ]);
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
      case 'compacted':
        this.#messages.splice(
          0,
          this.#messages.length,
          ...compactedMessages(event, this.#messages, this.brief, this.directives),
        );
        break;
      default:
        break;
    }
  }

  /** A note with mode `queue` is for people: no model reads it. */
  #addInject(event: Extract<HistoryEvent, { type: 'inject_delivered' }>): void {
    if (event.mode === 'queue') return;
    const origin = event.mode === 'steer' ? 'steer' : 'interrupt';
    this.#addUser(event.messageId, origin, defangedParts(toModelParts(event.content)));
  }

  #addUser(
    messageId: MessageId,
    origin: Extract<ModelMessage, { role: 'user' }>['origin'],
    parts: readonly ModelPart[],
  ): void {
    this.#messages.push({ role: 'user', messageId, origin, parts });
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
    this.brief.replies += 1;
  }

  #addResult(result: ModelToolResult): void {
    this.#results.set(result.toolCallId, { ...result, parts: defangedParts(result.parts) });
    if (this.#calls.length === 0 || this.openCalls.length > 0) return;
    const results = this.#calls.flatMap((call) => this.#results.get(call.toolCallId) ?? []);
    this.#messages.push({ role: 'tool', results });
    this.#calls = [];
    this.#results.clear();
  }
}
