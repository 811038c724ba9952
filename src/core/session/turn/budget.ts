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
  const used: Required<Budget> = {
    steps: spent.steps,
    seconds: spent.elapsedMs / 1000,
    tokens: spent.usage.inputTokens + spent.usage.outputTokens,
    costUsd: spent.usage.costUsd ?? 0,
  };
  for (const kind of LIMITS) {
    const value = budget[kind];
    if (value !== undefined && used[kind] >= value) return over(kind, value);
  }
  return null;
}

const LIMITS = ['steps', 'seconds', 'tokens', 'costUsd'] as const satisfies (keyof Budget)[];

/** The ending when the time limit passes in the middle of a step. */
export function outOfTime(budget: Budget): Ending {
  return over('seconds', budget.seconds ?? 0);
}

function over(kind: keyof Budget, value: number): Ending {
  const reason = `The turn's budget of ${inWords(kind, value)} is used up`;
  const stopReason: StopReason = kind === 'tokens' ? 'max_tokens' : 'max_turn_requests';
  return { terminal: { ...terminal('policy_budget', reason), limit: { kind, value } }, stopReason };
}

function inWords(kind: keyof Budget, value: number): string {
  if (kind === 'costUsd') return `$${value}`;
  return kind === 'steps' && value === 1 ? '1 step' : `${value} ${kind}`;
}

function addOptional(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined && b === undefined ? undefined : (a ?? 0) + (b ?? 0);
}
