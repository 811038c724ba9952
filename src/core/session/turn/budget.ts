import type { StopReason } from '../../../protocol/acp.ts';
import type { Budget, Usage } from '../words.ts';
import { type Ending, terminal } from './terminal.ts';

/** Adds two usages; an optional count is present if either side has it. */
export function addUsage(a: Usage, b: Usage): Usage {
  const cached = addOptional(a.cachedInputTokens, b.cachedInputTokens);
  const thought = addOptional(a.thoughtTokens, b.thoughtTokens);
  const cost = addOptional(a.costUsd, b.costUsd);
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    ...(cached === undefined ? {} : { cachedInputTokens: cached }),
    ...(thought === undefined ? {} : { thoughtTokens: thought }),
    ...(cost === undefined ? {} : { costUsd: cost }),
  };
}

/** No tokens, no cost. */
export const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0 };

/** What a turn has spent so far. */
export type Spent = { readonly steps: number; readonly elapsedMs: number; readonly usage: Usage };

/** The ending for the first limit that is reached, or null while all have room. */
export function exhausted(budget: Budget, spent: Spent): Ending | null {
  if (reached(budget.steps, spent.steps))
    return over(`${budget.steps} ${budget.steps === 1 ? 'step' : 'steps'}`, 'max_turn_requests');
  if (reached(budget.seconds, spent.elapsedMs / 1000))
    return over(`${budget.seconds} seconds`, 'max_turn_requests');
  const tokens = spent.usage.inputTokens + spent.usage.outputTokens;
  if (reached(budget.tokens, tokens)) return over(`${budget.tokens} tokens`, 'max_tokens');
  if (reached(budget.costUsd, spent.usage.costUsd ?? 0))
    return over(`$${budget.costUsd}`, 'max_turn_requests');
  return null;
}

/** The ending when the time limit passes in the middle of a step. */
export function outOfTime(budget: Budget): Ending {
  return over(`${budget.seconds} seconds`, 'max_turn_requests');
}

function reached(limit: number | undefined, used: number): boolean {
  return limit !== undefined && used >= limit;
}

function over(limit: string, stopReason: StopReason): Ending {
  return {
    terminal: terminal('policy_budget', `The turn's budget of ${limit} is used up`),
    stopReason,
  };
}

function addOptional(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined && b === undefined ? undefined : (a ?? 0) + (b ?? 0);
}
