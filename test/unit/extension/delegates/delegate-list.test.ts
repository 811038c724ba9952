import { describe, expect, it } from 'vitest';
import { DelegateList } from '../../../../src/extension/delegates/delegate-list.ts';
import type { SessionView } from '../../../../src/extension/sessions/session-view.ts';
import { Folds } from '../../../../src/extension/sessions/tree/folds.ts';
import {
  childNodes,
  foldKey,
  type TreeNode,
} from '../../../../src/extension/sessions/tree/tree-model.ts';
import type { ListedLoop } from '../../../../src/protocol/pilothouse.ts';

function loop(
  loopId: string,
  parentLoopId: string | null,
  part: Partial<ListedLoop> = {},
): ListedLoop {
  return {
    loopId,
    parentLoopId,
    name: `delegate ${loopId}`,
    state: 'idle',
    depth: 0,
    openGates: 0,
    prompt: `task of ${loopId}`,
    toolCallId: `call-${loopId}`,
    lastEventId: 1,
    ...part,
  };
}

/** The main agent, two delegates of it, and two of the first one, in the agent's two ways to order them. */
const LOOPS = [
  loop('s', null),
  loop('a', 's', { state: 'running' }),
  loop('b', 's'),
  loop('a1', 'a', { state: 'waiting' }),
  loop('a2', 'a'),
];

function listed(loops: readonly ListedLoop[] = LOOPS, activeLoopId = 's'): DelegateList {
  const list = new DelegateList('s');
  list.set({ activeLoopId, loops });
  return list;
}

function sessionNode(list: DelegateList): TreeNode {
  const view: SessionView = {
    row: {
      sessionId: 's',
      cwd: '/w',
      title: 't',
      createdAt: 0,
      updatedAt: 0,
      activePrompt: false,
      openGates: 0,
      modeId: '',
      model: '',
      lastEventId: 0,
    },
    state: 'idle',
    unread: false,
    gates: [],
    questions: 0,
    delegates: list.all(),
  };
  return { kind: 'session', view, groupId: 'today' };
}

/** A node and all below it, each indented by its depth. */
function outline(node: TreeNode, depth = 0): string[] {
  const own = node.kind === 'delegate' ? [`${'  '.repeat(depth)}${node.delegate.loopId}`] : [];
  return [...own, ...childNodes(node).flatMap((child) => outline(child, depth + 1))];
}

describe('the delegates of a session', () => {
  it('nest at every depth, in the order in which they were begun, however the agent lists them', () => {
    const wanted = ['  a', '    a1', '    a2', '  b'];
    expect(outline(sessionNode(listed()))).toEqual(wanted);
    const [root, a, b, a1, a2] = LOOPS;
    const depthFirst = [root, a, a1, a2, b].filter((one) => one !== undefined);
    expect(outline(sessionNode(listed(depthFirst)))).toEqual(wanted);
  });

  it('are none below a session that has none', () => {
    const list = listed([loop('s', null)]);
    expect(list.isEmpty).toBe(true);
    expect(childNodes(sessionNode(list))).toEqual([]);
  });

  it('say what they do, and how they ended what they were given', () => {
    const list = listed();
    expect(list.all().map(({ state }) => state)).toEqual(['running', 'idle', 'waiting', 'idle']);
    expect(list.atWork).toEqual(['a', 'a1']);
    expect(list.mark({ loopId: 'b', state: 'failed' }, 's', 'call-b')).toBe(true);
    expect(list.get('b')?.state).toBe('failed');
    expect(list.mark({ loopId: 'b', state: 'failed' }, 's', 'call-b')).toBe(false);
    // The agent's list does not tell how it ended; what a call said stays known.
    list.set({ activeLoopId: 's', loops: LOOPS });
    expect(list.get('b')?.state).toBe('failed');
    // It got another task.
    list.mark({ loopId: 'b', name: 'delegate b', state: 'running' }, 's', 'call-b');
    expect(list.get('b')?.state).toBe('running');
    list.lost();
    expect(list.atWork).toEqual([]);
  });

  it('are known from the first word of theirs on', () => {
    const list = new DelegateList('s');
    const news = { loopId: 'x', parentLoopId: 's', name: 'scout' };
    expect(list.meet(news)).toBe(true);
    expect(list.meet(news)).toBe(false);
    expect(list.get('x')).toMatchObject({ name: 'scout', state: 'running', toolCallId: null });
    list.mark({ loopId: 'x', state: 'running', prompt: 'look' }, 's', 'call-x');
    expect(list.get('x')).toMatchObject({ prompt: 'look', toolCallId: 'call-x' });
  });

  it('know whom messages go to, and the way down to each', () => {
    expect(listed().active).toBeNull();
    const list = listed(LOOPS, 'a1');
    expect(list.active).toMatchObject({ loopId: 'a1', isActive: true });
    expect(list.path('a1').map(({ loopId }) => loopId)).toEqual(['a', 'a1']);
  });

  it('stay folded as a person left them, over windows', () => {
    const saved: (readonly string[])[] = [];
    const folds = new Folds({ load: () => saved.at(-1) ?? [], save: (keys) => saved.push(keys) });
    const node = sessionNode(listed());
    expect(folds.isFolded(foldKey(node))).toBe(false);
    folds.set(foldKey(node), true);
    folds.set(foldKey(node), true);
    expect(saved).toEqual([['s']]);
    const next = new Folds({ load: () => saved.at(-1) ?? [], save: () => undefined });
    expect(next.isFolded('s')).toBe(true);
    next.set('s', false);
    expect(next.isFolded('s')).toBe(false);
    expect(foldKey({ kind: 'more', hostId: 'own' })).toBeNull();
  });
});
