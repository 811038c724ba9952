import { messageOf } from '../../../base/errors.ts';
import type { Model, ModelToolCall } from '../model.ts';
import type { ParkedTurn } from '../state/parked.ts';
import type { Usage } from '../words.ts';
import { abortReason } from './aborts.ts';
import { resumeBatch, runBatch } from './batch.ts';
import { addUsage, exhausted, NO_USAGE, outOfTime } from './budget.ts';
import { replyInContext } from './compact.ts';
import { CompletionJudge } from './judge.ts';
import { repetitionWarning } from './progress.ts';
import {
  cancelledEnding,
  closedEnding,
  type Ending,
  finishedEnding,
  providerEnding,
  runtimeErrorEnding,
} from './terminal.ts';
import type { TurnContext } from './turn-context.ts';

/** What a turn came to. */
export type TurnResult = {
  readonly ending: Ending;
  readonly usage: Usage;
  readonly iterations: number;
};

type Progress = { iteration: number; usage: Usage; readonly judge: CompletionJudge };

/**
 * Runs a turn to its terminal: iterations of one model reply and its tool batch, until a reply has no calls, a limit
 * is reached, or the signal aborts. Journal faults reject; everything else is an ending.
 */
export async function runTurn(turn: TurnContext): Promise<TurnResult> {
  const { parked } = turn;
  const startedAt = turn.deps.clock.now() - (parked?.elapsedMs ?? 0);
  const progress: Progress = {
    iteration: parked?.iteration ?? 0,
    usage: parked?.usage ?? NO_USAGE,
    judge: new CompletionJudge(turn),
  };
  try {
    const ending = await runToEnding(turn, progress, startedAt);
    await turn.passSeam('loop_exit', progress.iteration);
    return { ending, usage: progress.usage, iterations: progress.iteration };
  } catch (failure) {
    turn.fail(failure);
    const ending = abortEnding(turn);
    if (ending === null) throw failure;
    return { ending, usage: progress.usage, iterations: progress.iteration };
  }
}

async function runToEnding(
  turn: TurnContext,
  progress: Progress,
  startedAt: number,
): Promise<Ending> {
  const resumed = await goOn(turn, progress);
  if (resumed !== null && turn.closeSeams(!endsByAgent(resumed))) return resumed;
  for (;;) {
    const spent = {
      steps: progress.iteration,
      elapsedMs: turn.deps.clock.now() - startedAt,
      usage: progress.usage,
    };
    const forced = abortEnding(turn) ?? exhausted(turn.config.budget, spent);
    const ending = forced ?? (await iterate(turn, progress));
    // A message that came after the last seam is read in one more iteration, while the agent is the one who ends.
    if (ending !== null && turn.closeSeams(!endsByAgent(ending))) return ending;
  }
}

/** What comes of the question that a turn stood at before a restart; null means that the turn goes on. */
async function goOn(turn: TurnContext, progress: Progress): Promise<Ending | null> {
  const { parked } = turn;
  if (parked === null) return null;
  const { calls, finish } = parked;
  if (calls.length === 0) return abortEnding(turn);
  await resumeBatch(turn, progress.iteration, parked);
  await turn.abandonRestored();
  return abortEnding(turn) ?? unfinished(finish) ?? goingRound(turn, calls);
}

function endsByAgent({ terminal: { owner } }: Ending): boolean {
  return owner === 'agent' || owner === 'unknown';
}

/** One iteration; null means that the turn goes on. */
async function iterate(turn: TurnContext, progress: Progress): Promise<Ending | null> {
  progress.iteration += 1;
  await turn.passSeam('iteration_start', progress.iteration);
  const { reply, summaryUsage } = await replyInContext(turn, progress.iteration);
  progress.usage = addUsage(progress.usage, summaryUsage);
  // Whatever it stood at was asked again by now.
  await turn.abandonRestored();
  if (reply.kind === 'aborted') return abortEnding(turn);
  if (reply.kind === 'interrupted') return null;
  if (reply.kind === 'failed') return providerEnding(reply.error.message);
  progress.usage = addUsage(progress.usage, reply.usage);
  await reportUsage(turn, reply.model, reply.usage);
  if (reply.calls.length > 0) {
    await runBatch(turn, progress.iteration, reply.calls);
    return abortEnding(turn) ?? unfinished(reply.finish) ?? goingRound(turn, reply.calls);
  }
  if (reply.finish === 'pause') return turn.watch.paused(reply.isEmpty);
  const { ending, usage } = await progress.judge.end(
    progress.iteration,
    finishedEnding(reply.finish),
  );
  progress.usage = addUsage(progress.usage, usage);
  return abortEnding(turn) ?? ending;
}

/** The ending of a turn whose batches come to nothing, or null. */
function goingRound(turn: TurnContext, calls: readonly ModelToolCall[]): Ending | null {
  const batch = turn.conversation.messages.findLast(({ role }) => role === 'tool');
  const ending = batch?.role === 'tool' ? turn.watch.batchEnded(calls, batch.results) : null;
  if (ending !== 'warn') return ending;
  turn.tellDirective(repetitionWarning(turn.turnId));
  return null;
}

/** A reply that was cut at its output limit ends the turn, even though its complete calls have run. */
function unfinished(finish: NonNullable<ParkedTurn['finish']> | null): Ending | null {
  return finish === 'length' || finish === 'refusal' ? finishedEnding(finish) : null;
}

function abortEnding(turn: TurnContext): Ending | null {
  if (!turn.signal.aborted) return null;
  const reason = abortReason(turn.signal);
  switch (reason.kind) {
    case 'cancelled':
      return cancelledEnding(reason.why);
    case 'out_of_time':
      return outOfTime(turn.config.budget);
    case 'closed':
      return closedEnding(reason.why);
    case 'failed':
      return runtimeErrorEnding(messageOf(reason.cause));
    case 'fault':
      throw reason.cause;
    case 'interrupted':
    case 'call_cancelled':
      return null;
  }
}

async function reportUsage(turn: TurnContext, model: Model, usage: Usage): Promise<void> {
  const used = usage.inputTokens + usage.outputTokens;
  if (used === 0) return;
  await turn.recorder.history({
    type: 'usage_changed',
    used,
    size: model.info.contextTokens ?? 0,
    costUsd: usage.costUsd ?? null,
  });
}
