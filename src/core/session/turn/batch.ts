import type { JsonObject } from '../../../base/json.ts';
import type { HistoryEvent } from '../events.ts';
import type { ModelToolCall } from '../model.ts';
import type { ParkedTurn } from '../state/parked.ts';
import { ABORTED, orAborted } from './aborts.ts';
import { notKept } from './checkpoint-required.ts';
import { type Approved, approve, type Planned, plan, type ReadyCall, replan } from './plan-call.ts';
import {
  callCancelledResult,
  cancelledResult,
  errorText,
  type Finished,
  interruptedResult,
  runCall,
} from './run-call.ts';
import type { TurnContext } from './turn-context.ts';

/**
 * Runs the tool calls of one reply (design §4.8): all are proposed, then all questions are asked at once, then
 * effects happen in call order, one after another; only neighbouring read-only calls run side by side. Whatever
 * happens, every call has a result in the history when this returns.
 */
export async function runBatch(
  turn: TurnContext,
  iteration: number,
  calls: readonly ModelToolCall[],
): Promise<void> {
  const planned = await planAll(turn, calls);
  await turn.recorder.history(...planned.map((item) => proposed(turn, item)));
  await runPlanned(turn, iteration, planned);
}

/** Goes on with a batch that a restart found at a question: what has a result is done, the rest is asked for again. */
export async function resumeBatch(
  turn: TurnContext,
  iteration: number,
  { calls }: ParkedTurn,
): Promise<void> {
  await runPlanned(turn, iteration, await planAll(turn, calls));
}

async function planAll(
  turn: TurnContext,
  calls: readonly ModelToolCall[],
): Promise<readonly Planned[]> {
  const planned: Planned[] = [];
  for (const call of calls) turn.calls.begin(call);
  for (const call of calls) planned.push(await plan(turn, call));
  return planned;
}

async function runPlanned(
  turn: TurnContext,
  iteration: number,
  planned: readonly Planned[],
): Promise<void> {
  const dropped = (): readonly HistoryEvent[] =>
    planned.map(({ call }) => {
      const isCancelled = turn.calls.isCancelled(call.toolCallId);
      return ended(turn, call, isCancelled ? callCancelledResult() : interruptedResult());
    });
  const before = await turn.passSeam('pre_tool_dispatch', iteration, dropped);
  if (before.skipped) return;
  const approved = await allOf(
    turn,
    planned.map((item) => approve(turn, item)),
  );
  const answered = await turn.passSeam('pre_tool_dispatch', iteration, dropped);
  if (answered.skipped) return;
  await dispatch(turn, approved);
  await turn.passSeam('post_tool_dispatch', iteration);
}

async function dispatch(turn: TurnContext, approved: readonly Approved[]): Promise<void> {
  let changed = false;
  let interrupted = false;
  for (const group of groups(approved)) {
    if (turn.signal.aborted || interrupted) {
      const result = turn.signal.aborted ? cancelledResult() : interruptedResult();
      await turn.recorder.history(...group.map((item) => ended(turn, item.call, result)));
      continue;
    }
    const stale = changed;
    const statuses = await allOf(
      turn,
      group.map((item) => settle(turn, item, stale)),
    );
    // Its question was withdrawn for an interrupt: what comes after it is not wanted either.
    interrupted = statuses.includes('interrupted');
    if (group.some((item) => item.kind !== 'refused' && !item.readOnly)) changed = true;
  }
}

/** Brings one call to its result. `stale` says that the world changed since it was planned. */
async function settle(
  turn: TurnContext,
  item: Approved,
  stale: boolean,
): Promise<Finished['status']> {
  const current = stale || item.kind === 'deferred' ? await replan(turn, item) : item;
  const end = async (result: Finished): Promise<Finished['status']> => {
    await turn.recorder.history(ended(turn, current.call, result));
    return result.status;
  };
  if (turn.signal.aborted) return end(cancelledResult());
  if (turn.calls.isCancelled(item.call.toolCallId)) return end(callCancelledResult());
  if (current.kind === 'refused') return end(current.result);
  if (current.kind === 'deferred') return end(errorText('failed', current.error));
  const lacks = await keepBefore(turn, current);
  if (turn.signal.aborted) return end(cancelledResult());
  if (turn.calls.isCancelled(item.call.toolCallId)) return end(callCancelledResult());
  if (lacks !== null) {
    const failure = notKept(lacks);
    turn.fail(failure);
    return end(errorText('failed', `Not run. ${failure.message}`));
  }
  const { toolCallId } = current.call;
  // It only asked before the restart, and asks the same again.
  if (turn.parked?.started.has(toolCallId) !== true)
    await turn.recorder.history({ type: 'tool_started', turnId: turn.turnId, toolCallId });
  return end(await runCall(turn, current));
}

/**
 * What the call may change is kept before it runs; Stop does not wait for that. Resolves with what is lacking where it
 * has to be kept, else null.
 */
async function keepBefore(
  turn: TurnContext,
  { call, prepared, readOnly }: ReadyCall,
): Promise<string | null> {
  const { checkpoints } = turn.resources;
  const { accesses } = prepared;
  const policy = turn.config.checkpoints;
  if (checkpoints === undefined || policy === 'off') return null;
  if (readOnly || accesses.every(({ kind }) => kind === 'session')) return null;
  const paths = accesses.flatMap((access) => (access.kind === 'write' ? [access.path] : []));
  const effect = { turnId: turn.turnId, toolCallId: call.toolCallId, paths };
  const ended = turn.calls.signalOf(call.toolCallId, turn.signal);
  // The state before the turn is wanted also where this one call is not.
  const lacks = await orAborted(checkpoints.beforeEffect(effect, turn.signal), ended);
  return policy === 'required' && lacks !== ABORTED ? lacks : null;
}

/** Waits for all; the first failure stops the turn, so that nothing goes on behind it. */
async function allOf<T>(turn: TurnContext, work: readonly Promise<T>[]): Promise<readonly T[]> {
  for (const one of work) one.catch((failure: unknown) => turn.fail(failure));
  await Promise.allSettled(work);
  return Promise.all(work);
}

/** Neighbouring read-only calls together, every other call alone. */
function groups(items: readonly Approved[]): readonly (readonly Approved[])[] {
  const result: Approved[][] = [];
  let open = false;
  for (const item of items) {
    const last = result.at(-1);
    if (item.readOnly && open && last !== undefined) last.push(item);
    else result.push([item]);
    open = item.readOnly;
  }
  return result;
}

function proposed(turn: TurnContext, item: Planned): HistoryEvent {
  return {
    type: 'tool_proposed',
    turnId: turn.turnId,
    toolCallId: item.call.toolCallId,
    name: item.call.name,
    title: item.preview.title,
    kind: item.preview.kind,
    input: item.call.input satisfies JsonObject,
    locations: item.preview.locations,
    content: item.preview.content,
  };
}

function ended(turn: TurnContext, call: ModelToolCall, finished: Finished): HistoryEvent {
  turn.calls.end(call.toolCallId, finished.status);
  return {
    type: 'tool_ended',
    turnId: turn.turnId,
    toolCallId: call.toolCallId,
    result: {
      toolCallId: call.toolCallId,
      name: call.name,
      status: finished.status,
      parts: finished.parts,
    },
    content: finished.content,
    locations: finished.locations,
    ...(finished.rawOutput === undefined ? {} : { rawOutput: finished.rawOutput }),
  };
}
