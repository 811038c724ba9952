import type {
  LanguageModelV3FinishReason,
  LanguageModelV3StreamPart,
  LanguageModelV3ToolCall,
  SharedV3ProviderMetadata,
} from '@ai-sdk/provider';
import { isObject, type Json } from '../../../base/json.ts';
import type { FinishReason, ModelEvent, ModelRequest, ModelToolCall } from '../../session/model.ts';
import type { ModelPrice } from '../config/provider-config.ts';
import { CallIds } from './call-ids.ts';
import { packState, type ReplyPart, type StateOwner } from './provider-state.ts';
import { toUsage } from './usage.ts';

type Finish = Extract<LanguageModelV3StreamPart, { type: 'finish' }>;
type OpenPart = {
  -readonly [K in keyof Extract<ReplyPart, { from: number }>]: Extract<
    ReplyPart,
    { from: number }
  >[K];
};
type CallPart = {
  -readonly [K in keyof Extract<ReplyPart, { id: string }>]: Extract<ReplyPart, { id: string }>[K];
};

const BETWEEN_THOUGHTS = '\n\n';

/** What servers that only resemble OpenAI's say for `stop`; any other word leaves the end unexplained. */
const OWN_WORDS_FOR_STOP: ReadonlySet<string> = new Set([
  'eos',
  'eos_token',
  'end_turn',
  'stop_sequence',
  'complete',
  'completed',
  'done',
]);

/** A reply that ended without saying how: the connection was closed early. */
export const CUT = Symbol('cut');

/** Turns the parts of one streamed reply into events, and remembers what the provider needs back. */
export class ReplyReader {
  readonly #owner: StateOwner;
  readonly #price: ModelPrice | undefined;
  readonly #ids: CallIds;
  readonly #parts: (OpenPart | CallPart)[] = [];
  readonly #open = new Map<string, OpenPart>();
  readonly #calls: ModelToolCall[] = [];
  #text = '';
  #thought = '';

  constructor(request: ModelRequest, owner: StateOwner, price: ModelPrice | undefined) {
    this.#owner = owner;
    this.#price = price;
    this.#ids = new CallIds(request);
  }

  /** Text and thought are passed on at once. Calls wait for the finish, so that a cut reply has none. */
  read(part: LanguageModelV3StreamPart): ModelEvent | null {
    switch (part.type) {
      case 'text-start':
      case 'reasoning-start':
        this.#start(
          part.type === 'text-start' ? 'text' : 'thought',
          part.id,
          part.providerMetadata,
        );
        return null;
      case 'text-delta':
        return this.#add('text', part.id, part.delta, part.providerMetadata);
      case 'reasoning-delta':
        return this.#add('thought', part.id, part.delta, part.providerMetadata);
      case 'text-end':
      case 'reasoning-end':
        this.#end(part.type === 'text-end' ? 'text' : 'thought', part.id, part.providerMetadata);
        return null;
      case 'tool-call':
        if (part.providerExecuted !== true) this.#call(part);
        return null;
      default:
        return null;
    }
  }

  /** The calls and the finish; `CUT` when the reply did not come to its end. */
  finish(finish: Finish): readonly ModelEvent[] | typeof CUT {
    const reason = this.#reason(finish);
    if (reason === CUT) return CUT;
    const state = packState(this.#owner, {
      text: this.#text,
      thought: this.#thought,
      parts: this.#parts,
    });
    return [
      ...this.#calls.map((call): ModelEvent => ({ type: 'tool_call', call })),
      {
        type: 'finish',
        reason,
        usage: toUsage(finish.usage, this.#price),
        ...(state === undefined ? {} : { providerState: state }),
      },
    ];
  }

  #start(
    type: 'text' | 'thought',
    id: string,
    metadata: SharedV3ProviderMetadata | undefined,
  ): OpenPart {
    const at = type === 'text' ? this.#text.length : this.#thought.length;
    const part: OpenPart = { type, from: at, to: at, metadata };
    this.#parts.push(part);
    this.#open.set(`${type}:${id}`, part);
    return part;
  }

  #add(
    type: 'text' | 'thought',
    id: string,
    delta: string,
    metadata: SharedV3ProviderMetadata | undefined,
  ): ModelEvent | null {
    const part = this.#open.get(`${type}:${id}`) ?? this.#start(type, id, undefined);
    part.metadata = merge(part.metadata, metadata);
    if (delta === '') return null;
    if (type === 'text') {
      this.#text += delta;
      part.to = this.#text.length;
      return { type, text: delta };
    }
    const apart = part.from === part.to && this.#thought !== '' ? BETWEEN_THOUGHTS : '';
    part.from += apart.length;
    this.#thought += apart + delta;
    part.to = this.#thought.length;
    return { type, text: apart + delta };
  }

  #end(type: 'text' | 'thought', id: string, metadata: SharedV3ProviderMetadata | undefined): void {
    const part = this.#open.get(`${type}:${id}`);
    if (part === undefined) return;
    part.metadata = merge(part.metadata, metadata);
    this.#open.delete(`${type}:${id}`);
  }

  #call(part: LanguageModelV3ToolCall): void {
    const toolCallId = this.#ids.take(part.toolCallId);
    this.#calls.push({ toolCallId, name: part.toolName, ...parseInput(part.input) });
    this.#parts.push({ type: 'call', id: toolCallId, metadata: part.providerMetadata });
  }

  #reason(finish: Finish): FinishReason | typeof CUT {
    const { unified, raw } = finish.finishReason;
    // A prompt that Google blocks gets no candidate, and so no finish reason.
    if (isObject(finish.providerMetadata?.['google']?.['promptFeedback'])) {
      const { blockReason } = finish.providerMetadata['google']['promptFeedback'];
      if (typeof blockReason === 'string') return 'refusal';
    }
    if (raw === 'pause_turn') return 'pause';
    if (unified === 'other' && raw === undefined) return CUT;
    if (unified === 'other' && raw !== undefined && OWN_WORDS_FOR_STOP.has(raw.toLowerCase()))
      return reasonOf('stop', this.#calls.length > 0);
    return reasonOf(unified, this.#calls.length > 0);
  }
}

function reasonOf(unified: LanguageModelV3FinishReason['unified'], calls: boolean): FinishReason {
  switch (unified) {
    case 'stop':
      // Some servers say `stop` after tool calls.
      return calls ? 'tool_calls' : 'stop';
    case 'tool-calls':
      return calls ? 'tool_calls' : 'stop';
    case 'length':
      return 'length';
    case 'content-filter':
      return 'refusal';
    case 'error':
    case 'other':
      return 'other';
  }
}

function merge(
  old: SharedV3ProviderMetadata | undefined,
  next: SharedV3ProviderMetadata | undefined,
): SharedV3ProviderMetadata | undefined {
  if (next === undefined) return old;
  const merged: SharedV3ProviderMetadata = { ...old };
  for (const [provider, values] of Object.entries(next)) {
    merged[provider] = { ...merged[provider], ...values };
  }
  return merged;
}

function parseInput(text: string): Pick<ModelToolCall, 'input' | 'inputError'> {
  if (text.trim() === '') return { input: {} };
  try {
    const input: unknown = JSON.parse(text);
    if (isObject(input)) return { input: input as Record<string, Json> };
    return { input: {}, inputError: 'The arguments must be a JSON object.' };
  } catch {
    return { input: {}, inputError: 'The arguments are not valid JSON.' };
  }
}
