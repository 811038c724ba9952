import { messageOf } from '../../../base/errors.ts';
import type { Model, ModelRequest } from '../model.ts';
import { ABORTED, orAborted, untilAborted } from '../turn/aborts.ts';
import type { TurnContext } from '../turn/turn-context.ts';
import type { MessageId, Usage } from '../words.ts';

/** A request of the engine's own, outside the conversation. */
export type SideRequest = {
  /** Finds the model; may reject. */
  readonly model: () => Promise<Model>;
  readonly system: string;
  /** The parts of the one message. */
  readonly texts: readonly string[];
  readonly deadlineMs: number;
};

/** What came of it. `dropped`: Stop or an interrupt ended it. */
export type SideAnswer =
  | { readonly kind: 'answered'; readonly text: string; readonly usage: Usage }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'late' }
  | { readonly kind: 'dropped' };

/** What a request of the engine's own is made on: a turn, or the loop where none runs. */
export type SideGround = Pick<
  TurnContext,
  'sessionId' | 'turnId' | 'deps' | 'config' | 'attention'
>;

/** Asks a model once, without tools. Never rejects; ends as soon as its ground is stopped or interrupted. */
export async function askAside(turn: SideGround, side: SideRequest): Promise<SideAnswer> {
  const attention = turn.attention();
  const late = new AbortController();
  const timer = new AbortController();
  turn.deps.clock.sleep(side.deadlineMs, timer.signal).then(
    () => late.abort(),
    () => undefined,
  );
  const signal = AbortSignal.any([attention, late.signal]);
  try {
    const answer = await collect(turn, side, signal);
    if (answer !== null && !signal.aborted) return answer;
  } catch (failure) {
    if (!signal.aborted) return { kind: 'failed', reason: messageOf(failure) };
  } finally {
    timer.abort();
  }
  return { kind: attention.aborted ? 'dropped' : 'late' };
}

/** Null when the signal aborted first. */
async function collect(
  turn: SideGround,
  side: SideRequest,
  signal: AbortSignal,
): Promise<SideAnswer | null> {
  const model = await orAborted(side.model(), signal);
  if (model === ABORTED) return null;
  let text = '';
  for await (const event of untilAborted(
    model.stream(toRequest(turn, side, model), signal),
    signal,
  )) {
    if (event.type === 'text') text += event.text;
    else if (event.type === 'finish') return { kind: 'answered', text, usage: event.usage };
  }
  return { kind: 'failed', reason: `The reply of ${model.info.name} broke off before its end` };
}

function toRequest(turn: SideGround, side: SideRequest, model: Model): ModelRequest {
  const { id } = model.info;
  return {
    sessionId: turn.sessionId,
    turnId: turn.turnId,
    model: id.slice(id.indexOf('/') + 1),
    system: side.system,
    messages: [
      {
        role: 'user',
        messageId: turn.deps.ids.unique() as MessageId,
        origin: 'prompt',
        parts: side.texts.map((text) => ({ type: 'text', text })),
      },
    ],
    tools: [],
    thoughtLevel: turn.config.thoughtLevel,
    attempt: 1,
  };
}
