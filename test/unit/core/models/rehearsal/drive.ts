import { createRehearsalSource } from '../../../../../src/core/models/rehearsal/rehearsal-source.ts';
import type {
  FinishReason,
  Model,
  ModelEvent,
  ModelMessage,
  ModelRequest,
  ModelToolCall,
  ModelToolResult,
} from '../../../../../src/core/session/model.ts';
import type { MessageId } from '../../../../../src/core/session/words.ts';
import { collect, LeapingClock, request, session, user } from '../fakes.ts';

export type Reply = {
  readonly text: string;
  readonly thought: string;
  readonly calls: readonly ModelToolCall[];
  readonly reason: FinishReason;
};

export async function rehearsal(
  name: 'script' | 'instant' = 'script',
  clock = new LeapingClock(),
): Promise<Model> {
  const model = await createRehearsalSource({ clock }).resolve(name, session);
  if (model === null) throw new TypeError('The rehearsal model is missing.');
  return model;
}

export function replyOf(events: readonly ModelEvent[]): Reply {
  const last = events.at(-1);
  if (last?.type !== 'finish') throw new TypeError('The reply has no finish.');
  return {
    text: events.flatMap((event) => (event.type === 'text' ? [event.text] : [])).join(''),
    thought: events.flatMap((event) => (event.type === 'thought' ? [event.text] : [])).join(''),
    calls: events.flatMap((event) => (event.type === 'tool_call' ? [event.call] : [])),
    reason: last.reason,
  };
}

export function assistant(reply: Reply, index: number): ModelMessage {
  return {
    role: 'assistant',
    messageId: `assistant-${index}` as MessageId,
    text: reply.text,
    thought: reply.thought,
    calls: reply.calls,
  };
}

export type Tools = (call: ModelToolCall) => Partial<ModelToolResult> | string;

function resultOf(call: ModelToolCall, answer: Partial<ModelToolResult> | string): ModelToolResult {
  const base = { toolCallId: call.toolCallId, name: call.name, status: 'completed' as const };
  return typeof answer === 'string'
    ? { ...base, parts: [{ type: 'text', text: answer }] }
    : { ...base, parts: [], ...answer };
}

/** Runs a script to its end as the engine's loop would. `after[n]` holds what is delivered after the nth reply. */
export async function drive(
  prompt: string | readonly ModelMessage[],
  options: {
    readonly tools?: Tools;
    readonly after?: Readonly<Record<number, readonly ModelMessage[]>>;
    readonly changes?: Partial<ModelRequest>;
    readonly model?: Model;
  } = {},
): Promise<{ replies: Reply[]; messages: ModelMessage[] }> {
  const model = options.model ?? (await rehearsal());
  const messages: ModelMessage[] = typeof prompt === 'string' ? [user(prompt)] : [...prompt];
  const replies: Reply[] = [];
  for (let index = 1; index <= 500; index += 1) {
    const reply = replyOf(await collect(model, request([...messages], options.changes)));
    replies.push(reply);
    messages.push(assistant(reply, index));
    if (reply.calls.length > 0) {
      const results = reply.calls.map((call) => resultOf(call, options.tools?.(call) ?? ''));
      messages.push({ role: 'tool', results });
    }
    const delivered = options.after?.[index] ?? [];
    messages.push(...delivered);
    if (reply.reason === 'stop' && delivered.length === 0) return { replies, messages };
  }
  throw new TypeError('The script did not finish.');
}

export async function texts(
  prompt: string,
  options: Parameters<typeof drive>[1] = {},
): Promise<string[]> {
  return (await drive(prompt, options)).replies.map((reply) => reply.text);
}
