import type {
  Policy,
  PolicyDecision,
  RememberOption,
  RememberScope,
  Workspace,
} from '../../../session/tool.ts';
import type { Mode, SessionId } from '../../../session/words.ts';
import { narrower } from './narrowing.ts';

/** A loop above a delegate, as it stands when a call is decided. */
export type Superior = { readonly sessionId: SessionId; readonly mode: Mode };

type Call = Parameters<Policy['decide']>[0];

/** From what binds most to what binds least. */
const STRICTEST: readonly PolicyDecision['decision'][] = ['deny', 'propose', 'ask', 'allow'];

/**
 * The policy of a delegate: what it may do is what its own rules and those of every loop above it allow, each asked in
 * its own mode, so a parent that was narrowed meanwhile narrows what works for it. What was remembered for a parent
 * allows a delegate nothing.
 */
export class NarrowPolicy implements Policy {
  readonly #base: Policy;
  readonly #superiors: () => readonly Superior[];

  /** `superiors` gives the parent first. */
  constructor(base: Policy, superiors: () => readonly Superior[]) {
    this.#base = base;
    this.#superiors = superiors;
  }

  async decide(call: Call): Promise<PolicyDecision> {
    const superiors = this.#superiors();
    const mode = superiors.reduce((all, superior) => narrower(all, superior.mode), call.mode);
    const decisions = await Promise.all([
      this.#base.decide({ ...call, mode }),
      ...superiors.map(({ sessionId }) => this.#base.decide({ ...call, sessionId, mode })),
    ]);
    return strictest(decisions);
  }

  /**
   * A person who answers for the whole session means every loop that has to agree; siblings are asked all the same.
   */
  async remember(
    sessionId: SessionId,
    workspace: Workspace,
    option: RememberOption,
    effect: 'allow' | 'deny',
  ): Promise<void> {
    const loops: readonly SessionId[] = isShared(option.scope)
      ? [sessionId]
      : [sessionId, ...this.#superiors().map((superior) => superior.sessionId)];
    for (const loop of loops) await this.#base.remember(loop, workspace, option, effect);
  }
}

function isShared(scope: RememberScope): boolean {
  return scope !== 'session';
}

/** The decision that binds most; the first of them, so that a delegate's own reason is told where it has one. */
function strictest(decisions: readonly PolicyDecision[]): PolicyDecision {
  for (const kind of STRICTEST) {
    const found = decisions.find(({ decision }) => decision === kind);
    if (found !== undefined) return found;
  }
  return { decision: 'deny', reason: 'No rule was asked.' };
}
