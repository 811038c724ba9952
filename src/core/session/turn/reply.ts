import { messageOf } from '../../../base/errors.ts';
import {
  type FinishReason,
  type Model,
  ModelError,
  type ModelEvent,
  type ModelRequest,
  type ModelToolCall,
} from '../model.ts';
import { askArrival } from '../state/sign-in.ts';
import type { MessageId, Usage } from '../words.ts';
import { ABORTED, orAborted, untilAborted } from './aborts.ts';
import { NO_USAGE } from './budget.ts';
import { TextStream } from './text-stream.ts';
import type { TurnContext } from './turn-context.ts';

/** Attempts of one request, the first included. */
const MAX_ATTEMPTS = 5;
const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 60_000;

/** What came of asking the model once, retries included. */
export type ReplyResult =
  | {
      readonly kind: 'replied';
      readonly calls: readonly ModelToolCall[];
      /** True if there is nothing in it: no text, no thought, no call. */
      readonly isEmpty: boolean;
      readonly finish: FinishReason;
      readonly usage: Usage;
      readonly model: Model;
    }
  | { readonly kind: 'aborted' }
  /** An interrupt ended it: what was said is kept, the message is delivered at the next seam. */
  | { readonly kind: 'interrupted' }
  | { readonly kind: 'failed'; readonly error: ModelError };

type Attempt =
  | Extract<ReplyResult, { kind: 'replied' | 'aborted' | 'interrupted' }>
  | { readonly kind: 'failed'; readonly error: ModelError; readonly begun: boolean };

/**
 * Asks the model for its next reply and journals it. A request that fails before its first token is tried again
 * where the failure says so; a missing or refused key opens an auth gate and the request goes on after the sign-in. So
 * does a model that only an editor reaches while none is connected: that gate is answered when one is.
 */
export async function requestReply(turn: TurnContext, iteration: number): Promise<ReplyResult> {
  for (let attempt = 1; ; attempt += 1) {
    // What came while it waited is in the request that the model reads next.
    if (attempt > 1) await turn.passSeam('iteration_start', iteration);
    const result = await tryOnce(turn, iteration, attempt);
    if (result.kind !== 'failed') return result;
    const { error, begun } = result;
    if (!begun && (needsSignIn(error) || error.arrival !== undefined)) {
      if (await signIn(turn, error)) continue;
      return turn.signal.aborted ? { kind: 'aborted' } : { kind: 'failed', error };
    }
    const retryInMs =
      !begun && error.retryable && attempt < MAX_ATTEMPTS ? retryDelay(error, attempt) : null;
    await turn.recorder.history({
      type: 'model_failed',
      turnId: turn.turnId,
      iteration,
      attempt,
      code: error.code,
      message: error.message,
      retryInMs,
    });
    if (retryInMs === null) return { kind: 'failed', error };
    await turn.passSeam('idle_pre', iteration);
    const attention = turn.attention();
    await orAborted(turn.deps.clock.sleep(retryInMs, attention), attention);
    if (turn.signal.aborted) return { kind: 'aborted' };
    await turn.passSeam('idle_post', iteration);
  }
}

async function tryOnce(turn: TurnContext, iteration: number, attempt: number): Promise<Attempt> {
  const stream = new TextStream(
    turn.turnId,
    turn.deps.ids.unique() as MessageId,
    turn.recorder,
    turn.deps.clock,
  );
  turn.setStream(stream);
  const attention = turn.attention();
  const cut = (): Attempt => ({ kind: turn.signal.aborted ? 'aborted' : 'interrupted' });
  const calls: ModelToolCall[] = [];
  try {
    // A source that does not answer keeps no Stop waiting.
    const model = await orAborted(turn.resolveModel(), attention);
    if (model === ABORTED) return cut();
    let finish: Extract<ModelEvent, { type: 'finish' }> | null = null;
    for await (const event of untilAborted(
      model.stream(toRequest(turn, model, attempt), attention),
      attention,
    )) {
      if (event.type === 'text' || event.type === 'thought') stream.add(event.type, event.text);
      else if (event.type === 'tool_call') calls.push(event.call);
      else finish = event;
    }
    if (attention.aborted) return await keepPartial(turn, iteration, stream, cut());
    if (finish === null) throw brokenOff(model);
    await record(turn, iteration, stream, { calls, finish });
    const isEmpty = stream.isEmpty && calls.length === 0;
    return { kind: 'replied', calls, isEmpty, finish: finish.reason, usage: finish.usage, model };
  } catch (failure) {
    if (attention.aborted) return await keepPartial(turn, iteration, stream, cut());
    const error = toModelError(failure, turn.config.model);
    return await keepPartial(turn, iteration, stream, {
      kind: 'failed',
      error,
      begun: !stream.isEmpty || calls.length > 0,
    });
  } finally {
    turn.setStream(null);
  }
}

/** Text that was shown stays in the conversation, marked; calls that came with it were never sent. */
async function keepPartial<R extends Attempt>(
  turn: TurnContext,
  iteration: number,
  stream: TextStream,
  result: R,
): Promise<R> {
  const finish = result.kind === 'interrupted' ? 'interrupted' : 'aborted';
  if (!stream.isEmpty) await record(turn, iteration, stream, { calls: [], finish });
  return result;
}

async function record(
  turn: TurnContext,
  iteration: number,
  stream: TextStream,
  reply: {
    calls: readonly ModelToolCall[];
    finish: Extract<ModelEvent, { type: 'finish' }> | 'aborted' | 'interrupted';
  },
): Promise<void> {
  stream.end();
  const { calls } = reply;
  const finish = typeof reply.finish === 'string' ? null : reply.finish;
  await turn.recorder.history({
    type: 'model_replied',
    turnId: turn.turnId,
    iteration,
    messageId: stream.messageId,
    calls,
    finish: typeof reply.finish === 'string' ? reply.finish : reply.finish.reason,
    usage: finish?.usage ?? NO_USAGE,
    ...(finish?.providerState === undefined ? {} : { providerState: finish.providerState }),
  });
}

function toRequest(turn: TurnContext, model: Model, attempt: number): ModelRequest {
  const { id } = model.info;
  return {
    sessionId: turn.sessionId,
    turnId: turn.turnId,
    model: id.slice(id.indexOf('/') + 1),
    system: turn.resources.system,
    messages: [...turn.conversation.messages],
    tools: turn.definitions,
    thoughtLevel: turn.config.thoughtLevel,
    attempt,
  };
}

function needsSignIn(error: ModelError): boolean {
  return error.code === 'model.key_missing' || error.code === 'model.key_refused';
}

async function signIn(turn: TurnContext, error: ModelError): Promise<boolean> {
  if (error.arrival !== undefined) return askArrival(turn.ask, error, error.arrival, turn.signal);
  const answer = await turn.ask(
    { kind: 'auth', target: error.source, targetKind: 'model', message: error.message },
    turn.signal,
  );
  return answer.kind === 'accepted' || answer.kind === 'selected';
}

/** The provider's own wish wins; else the wait doubles with each attempt. */
function retryDelay(error: ModelError, attempt: number): number {
  return Math.min(error.retryAfterMs ?? FIRST_RETRY_MS * 2 ** (attempt - 1), MAX_RETRY_MS);
}

function brokenOff(model: Model): ModelError {
  return new ModelError(
    'model.stream_cut',
    `The reply of ${model.info.name} broke off before its end`,
    {
      source: model.info.id,
      retryable: true,
    },
  );
}

function toModelError(failure: unknown, model: string): ModelError {
  if (failure instanceof ModelError) return failure;
  return new ModelError('model.failed', `The model ${model} failed: ${messageOf(failure)}`, {
    source: model,
    cause: failure,
  });
}
