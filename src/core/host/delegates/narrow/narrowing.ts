import { addUsage } from '../../../session/turn/budget.ts';
import type { Budget, Mode, SessionConfig, Usage } from '../../../session/words.ts';
import { DelegateError } from '../delegate-error.ts';

/** The modes that are no wider than each mode. Shadow has no effects at all, so it counts as `ask` at most. */
const WITHIN: Readonly<Record<Mode, readonly Mode[]>> = {
  architect: ['architect'],
  shadow: ['architect', 'shadow'],
  ask: ['architect', 'shadow', 'ask'],
  code: ['architect', 'shadow', 'ask', 'code'],
};

/** True if `mode` allows nothing that `parent` does not. */
export function isWithin(mode: Mode, parent: Mode): boolean {
  return WITHIN[parent].includes(mode);
}

/** What both modes allow. */
export function narrower(a: Mode, b: Mode): Mode {
  if (isWithin(a, b)) return a;
  return isWithin(b, a) ? b : 'architect';
}

/** What a turn has used of its budget, with what it gave to delegates. */
export type TurnSpent = {
  readonly steps: number;
  readonly elapsedMs: number;
  readonly usage: Usage;
};

/** Adds what a delegate used. */
export function withUsage(spent: TurnSpent, usage: Usage): TurnSpent {
  return { ...spent, usage: addUsage(spent.usage, usage) };
}

/** What is left of a budget; a limit that is not set stays so. Throws `delegate.no_budget` if nothing is left. */
export function leftOf(budget: Budget, spent: TurnSpent): Budget {
  const used: Required<Budget> = {
    steps: spent.steps,
    seconds: spent.elapsedMs / 1000,
    tokens: spent.usage.inputTokens + spent.usage.outputTokens,
    costUsd: spent.usage.costUsd ?? 0,
  };
  const left: { -readonly [K in keyof Budget]: Budget[K] } = {};
  for (const kind of ['steps', 'seconds', 'tokens', 'costUsd'] as const) {
    const limit = budget[kind];
    if (limit === undefined) continue;
    const rest = kind === 'seconds' ? Math.floor(limit - used.seconds) : limit - used[kind];
    if (rest <= 0)
      throw new DelegateError(
        'delegate.no_budget',
        `Nothing is left of this turn's budget of ${limit} ${kind} that a delegate could use. Finish the work yourself.`,
      );
    left[kind] = rest;
  }
  return left;
}

/**
 * What a delegate works under: its parent's options, no wider mode, what is left of the turn's budget. Nobody judges it
 * but its parent. Throws `delegate.wider_mode` and `delegate.no_budget`.
 */
export function narrowedConfig(
  parent: SessionConfig,
  spent: TurnSpent,
  wish: Mode = parent.mode,
): SessionConfig {
  if (!isWithin(wish, parent.mode))
    throw new DelegateError(
      'delegate.wider_mode',
      `A delegate can't work in the mode "${wish}", which allows more than yours ("${parent.mode}"). Use ${WITHIN[parent.mode].map((mode) => `"${mode}"`).join(' or ')}, or leave the mode out.`,
    );
  const { judge: _, ...options } = parent;
  return { ...options, mode: wish, budget: leftOf(parent.budget, spent) };
}
