import type { Model, ModelError } from '../model.ts';
import type { Usage } from '../words.ts';
import { abortReason } from './aborts.ts';
import { runBatch } from './batch.ts';
import { addUsage, exhausted, NO_USAGE, outOfTime } from './budget.ts';
import { type ReplyResult, requestReply } from './reply.ts';
import {
  cancelledEnding,
  closedEnding,
  type Ending,
  finishedEnding,
  terminal,
} from './terminal.ts';
import type { TurnContext } from './turn-context.ts';

/** What a turn came to. */
export type TurnResult = {
  readonly ending: Ending;
  readonly usage: Usage;
  readonly iterations: number;
};

type Progress = { iteration: number; usage: Usage };

/**
 * Runs a turn to its terminal: iterations of one model reply and its tool batch, until a reply has no calls, a limit
 * is reached, or the signal aborts. Journal faults reject; everything else is an ending.
 */
export async function runTurn(turn: TurnContext): Promise<TurnResult> {
  const startedAt = turn.deps.clock.now();
  const progress: Progress = { iteration: 0, usage: NO_USAGE };
  for (;;) {
    const spent = {
      steps: progress.iteration,
      elapsedMs: turn.deps.clock.now() - startedAt,
      usage: progress.usage,
    };
    const forced = abortEnding(turn) ?? exhausted(turn.config.budget, spent);
    const ending = forced ?? (await iterate(turn, progress));
    // A message that came after the last seam is read in one more iteration, while the agent is the one who ends.
    if (ending === null || !turn.closeSeams(!endsByAgent(ending))) continue;
    await turn.passSeam('loop_exit', progress.iteration);
    return { ending, usage: progress.usage, iterations: progress.iteration };
  }
}

function endsByAgent({ terminal: { owner } }: Ending): boolean {
  return owner === 'agent' || owner === 'unknown';
}

/** One iteration; null means that the turn goes on. */
async function iterate(turn: TurnContext, progress: Progress): Promise<Ending | null> {
  progress.iteration += 1;
  await turn.passSeam('iteration_start', progress.iteration);
  const reply = await requestReply(turn, progress.iteration);
  if (reply.kind === 'aborted') return abortEnding(turn);
  if (reply.kind === 'interrupted') return null;
  if (reply.kind === 'failed') return failedEnding(reply.error);
  progress.usage = addUsage(progress.usage, reply.usage);
  await reportUsage(turn, reply.model, reply.usage);
  if (reply.calls.length > 0) {
    await runBatch(turn, progress.iteration, reply.calls);
    return abortEnding(turn) ?? unfinished(reply);
  }
  if (reply.finish === 'pause') return null;
  const { delivered } = await turn.passSeam('iteration_end', progress.iteration);
  return delivered > 0 ? null : finishedEnding(reply.finish);
}

/** A reply that was cut at its output limit ends the turn, even though its complete calls have run. */
function unfinished(reply: Extract<ReplyResult, { kind: 'replied' }>): Ending | null {
  return reply.finish === 'length' || reply.finish === 'refusal'
    ? finishedEnding(reply.finish)
    : null;
}

function abortEnding(turn: TurnContext): Ending | null {
  if (!turn.signal.aborted) return null;
  const reason = abortReason(turn.signal);
  switch (reason.kind) {
    case 'cancelled':
      return cancelledEnding();
    case 'out_of_time':
      return outOfTime(turn.config.budget);
    case 'closed':
      return closedEnding(reason.why);
    case 'fault':
      throw reason.cause;
    case 'interrupted':
    case 'call_cancelled':
      return null;
  }
}

function failedEnding(error: ModelError): Ending {
  return { terminal: terminal('provider_error', error.message), stopReason: 'end_turn' };
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
