import { describe, expect, it } from 'vitest';
import { NarrowPolicy } from '../../../../../src/core/host/delegates/narrow/narrow-policy.ts';
import {
  isWithin,
  leftOf,
  narrowedConfig,
  narrower,
} from '../../../../../src/core/host/delegates/narrow/narrowing.ts';
import type { Access, Policy, PolicyDecision } from '../../../../../src/core/session/tool.ts';
import { MODES, type Mode, type SessionId } from '../../../../../src/core/session/words.ts';
import { createPolicy } from '../../../../../src/core/tools/policy/create-policy.ts';
import { createProtectedPaths } from '../../../../../src/core/tools/protected-paths.ts';

const SPENT = { steps: 2, elapsedMs: 1_500, usage: { inputTokens: 10, outputTokens: 5 } };

describe('the mode of a delegate', () => {
  it('is within that of its parent, where shadow has no effects at all', () => {
    const within = Object.fromEntries(
      MODES.map((parent) => [parent, MODES.filter((mode) => isWithin(mode, parent))]),
    );
    expect(within).toEqual({
      architect: ['architect'],
      shadow: ['architect', 'shadow'],
      ask: ['ask', 'architect', 'shadow'],
      code: ['ask', 'architect', 'code', 'shadow'],
    });
  });

  it('is what both allow when its parent was narrowed meanwhile', () => {
    expect(narrower('code', 'ask')).toBe('ask');
    expect(narrower('ask', 'code')).toBe('ask');
    expect(narrower('architect', 'shadow')).toBe('architect');
  });
});

describe('the budget of a delegate', () => {
  it('is what is left of every limit, and no limit where there is none', () => {
    expect(leftOf({}, SPENT)).toEqual({});
    expect(leftOf({ steps: 5, seconds: 10, tokens: 100, costUsd: 1 }, SPENT)).toEqual({
      steps: 3,
      seconds: 8,
      tokens: 85,
      costUsd: 1,
    });
  });

  it('is refused where nothing is left, and a judge is not handed down', () => {
    const parent = {
      mode: 'code',
      model: 'rehearsal/script',
      thoughtLevel: 'auto',
      budget: { steps: 2 },
      judge: 'same',
    } as const;
    expect(() => narrowedConfig(parent, SPENT)).toThrow(/Nothing is left of this turn's budget/);
    expect(narrowedConfig({ ...parent, budget: {} }, SPENT, 'ask')).toEqual({
      mode: 'ask',
      model: 'rehearsal/script',
      thoughtLevel: 'auto',
      budget: {},
    });
  });
});

const CHILD = 'child' as SessionId;
const PARENT = 'parent' as SessionId;
const ROOT = 'root' as SessionId;
const WORKSPACE = { cwd: '/w', roots: ['/w'] };

function realPolicy(): Policy {
  return createPolicy({
    store: {
      rules: async () => ({ user: [], workspaces: {} }),
      update: async () => undefined,
      problem: () => null,
    },
    protectedPaths: createProtectedPaths({ dataFolder: '/data', home: '/home/me' }),
    home: '/home/me',
    temporary: [],
    posixShell: true,
  });
}

function rig(modes: { child: Mode; parent: Mode; root?: Mode }) {
  const base = realPolicy();
  const policy = new NarrowPolicy(base, () => [
    { sessionId: PARENT, mode: modes.parent },
    { sessionId: ROOT, mode: modes.root ?? modes.parent },
  ]);
  const writing: Access = { kind: 'write', path: '/w/a.txt' };
  const call = { workspace: WORKSPACE, tool: 'write', readOnly: false, accesses: [writing] };
  return {
    base,
    policy,
    decide: () => policy.decide({ ...call, sessionId: CHILD, mode: modes.child }),
    askedOf: (sessionId: SessionId, mode: Mode) => base.decide({ ...call, sessionId, mode }),
  };
}

function sessionOption(decision: PolicyDecision) {
  const option =
    decision.decision === 'ask'
      ? decision.remember.find(({ scope }) => scope === 'session')
      : undefined;
  if (option === undefined) throw new Error('Nothing could be remembered');
  return option;
}

describe('the policy of a delegate', () => {
  it('allows what it and every loop above it may do', async () => {
    expect((await rig({ child: 'code', parent: 'code' }).decide()).decision).toBe('allow');
    expect((await rig({ child: 'ask', parent: 'code' }).decide()).decision).toBe('ask');
    expect((await rig({ child: 'code', parent: 'ask' }).decide()).decision).toBe('ask');
    expect(
      (await rig({ child: 'code', parent: 'code', root: 'architect' }).decide()).decision,
    ).toBe('deny');
    expect((await rig({ child: 'ask', parent: 'shadow' }).decide()).decision).toBe('propose');
  });

  it('is not widened by what was remembered for its parent, but narrowed by it', async () => {
    const t = rig({ child: 'ask', parent: 'ask' });
    const option = sessionOption(await t.decide());
    await t.base.remember(PARENT, WORKSPACE, option, 'allow');
    await t.base.remember(ROOT, WORKSPACE, option, 'allow');
    expect((await t.askedOf(PARENT, 'ask')).decision).toBe('allow');
    expect((await t.decide()).decision).toBe('ask');
    await t.base.remember(ROOT, WORKSPACE, option, 'deny');
    expect((await t.decide()).decision).toBe('deny');
  });

  it('remembers an answer for the session in every loop that has to agree, and in no other', async () => {
    const t = rig({ child: 'ask', parent: 'ask' });
    await t.policy.remember(CHILD, WORKSPACE, sessionOption(await t.decide()), 'allow');
    expect((await t.decide()).decision).toBe('allow');
    expect((await t.askedOf('sibling' as SessionId, 'ask')).decision).toBe('ask');
  });
});
