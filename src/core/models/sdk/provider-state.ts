import type {
  LanguageModelV3ReasoningPart,
  LanguageModelV3TextPart,
  LanguageModelV3ToolCallPart,
  SharedV3ProviderMetadata,
} from '@ai-sdk/provider';
import { z } from 'zod';
import { isObject, type Json } from '../../../base/json.ts';
import type { ModelMessage, ModelToolCall } from '../../session/model.ts';
import { wireCallId } from './call-ids.ts';

type Assistant = Extract<ModelMessage, { role: 'assistant' }>;

/** A part of an assistant message as it is sent back. */
export type AssistantPart =
  | LanguageModelV3TextPart
  | LanguageModelV3ReasoningPart
  | LanguageModelV3ToolCallPart;

/** Who made a state; signatures mean nothing to any other model. */
export type StateOwner = { readonly source: string; readonly model: string };

/** A part of a reply as it came: a range of the message's text or thought, or one of its calls. */
export type ReplyPart =
  | {
      readonly type: 'text' | 'thought';
      readonly from: number;
      readonly to: number;
      readonly metadata?: SharedV3ProviderMetadata | undefined;
    }
  | {
      readonly type: 'call';
      readonly id: string;
      readonly metadata?: SharedV3ProviderMetadata | undefined;
    };

const metadata = z.record(z.string(), z.record(z.string(), z.json())).optional();
const index = z.number().int().min(0);
const schema = z.object({
  version: z.literal(1),
  source: z.string(),
  model: z.string(),
  textLength: index,
  thoughtLength: index,
  parts: z.array(
    z.discriminatedUnion('type', [
      z.object({ type: z.enum(['text', 'thought']), from: index, to: index, metadata }),
      z.object({ type: z.literal('call'), id: z.string(), metadata }),
    ]),
  ),
});

/** Packs what the provider needs back: the order of the parts and their signatures, not the texts again. */
export function packState(
  owner: StateOwner,
  reply: { readonly text: string; readonly thought: string; readonly parts: readonly ReplyPart[] },
): Json | undefined {
  const needed = reply.parts.some(
    (part) => part.type === 'thought' || Object.keys(part.metadata ?? {}).length > 0,
  );
  if (!needed) return undefined;
  const state: unknown = JSON.parse(
    JSON.stringify({
      version: 1,
      ...owner,
      textLength: reply.text.length,
      thoughtLength: reply.thought.length,
      parts: reply.parts,
    }),
  );
  return isObject(state) ? (state as Record<string, Json>) : undefined;
}

/**
 * The assistant message as the provider sent it, part by part, when `owner` made it and it was not changed since;
 * else its text and calls alone, without the reasoning, which no other model accepts.
 */
export function assistantParts(message: Assistant, owner: StateOwner): AssistantPart[] {
  const parsed = schema.safeParse(message.providerState);
  const own =
    parsed.success &&
    parsed.data.source === owner.source &&
    parsed.data.model === owner.model &&
    parsed.data.textLength === message.text.length &&
    parsed.data.thoughtLength === message.thought.length;
  const rebuilt = own ? rebuild(message, parsed.data.parts) : null;
  return rebuilt ?? plainParts(message);
}

function plainParts(message: Assistant): AssistantPart[] {
  const text: AssistantPart[] =
    message.text.trim() === '' ? [] : [{ type: 'text', text: message.text }];
  return [...text, ...message.calls.map((call) => callPart(call, undefined))];
}

/** Null when the calls are not those of the reply any more. */
function rebuild(message: Assistant, parts: readonly ReplyPart[]): AssistantPart[] | null {
  const calls = new Map(
    message.calls.map((call): [string, ModelToolCall] => [call.toolCallId, call]),
  );
  if (parts.filter((part) => part.type === 'call').length !== calls.size) return null;
  const rebuilt: AssistantPart[] = [];
  for (const part of parts) {
    if (part.type === 'call') {
      const call = calls.get(part.id);
      if (call === undefined) return null;
      rebuilt.push(callPart(call, part.metadata));
      continue;
    }
    const text = (part.type === 'text' ? message.text : message.thought).slice(part.from, part.to);
    if (text.trim() === '' && part.metadata === undefined) continue;
    rebuilt.push({
      type: part.type === 'text' ? 'text' : 'reasoning',
      text,
      ...(part.metadata === undefined ? {} : { providerOptions: part.metadata }),
    });
  }
  return rebuilt;
}

function callPart(
  call: ModelToolCall,
  metadata: SharedV3ProviderMetadata | undefined,
): LanguageModelV3ToolCallPart {
  return {
    type: 'tool-call',
    toolCallId: wireCallId(call.toolCallId),
    toolName: call.name,
    input: call.input,
    ...(metadata === undefined ? {} : { providerOptions: metadata }),
  };
}
