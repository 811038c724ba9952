import { describe, expect, it } from 'vitest';
import manifest from '../../../../package.json' with { type: 'json' };
import { Conversation } from '../../../../src/extension/chat/model/conversation.ts';
import { DelegateList } from '../../../../src/extension/delegates/delegate-list.ts';
import { Waiting } from '../../../../src/extension/sessions/control/waiting.ts';
import { SessionDirectory } from '../../../../src/extension/sessions/directory.ts';
import {
  openQuestions,
  type SessionTrait,
  type SessionView,
  sessionContext,
  sessionState,
  sessionTraits,
} from '../../../../src/extension/sessions/session-view.ts';
import { relativeTime } from '../../../../src/extension/sessions/tree/relative-time.ts';
import { parseRow, type SessionRow } from '../../../../src/extension/sessions/tree/row.ts';
import {
  baseName,
  childNodes,
  type TreeInput,
  topNodes,
} from '../../../../src/extension/sessions/tree/tree-model.ts';
import { UnreadMarks } from '../../../../src/extension/sessions/tree/unread.ts';

const owner = { clientId: 'c', role: 'host_owner', source: 'test' } as const;
const NOW = Date.parse('2026-05-05T12:00:00');
const MINUTE = 60_000;

function row(sessionId: string, updatedAt = NOW, cwd = '/w/project'): SessionRow {
  const parsed = parseRow({ sessionId, cwd, updatedAt: new Date(updatedAt).toISOString() });
  if (!parsed) throw new Error('bad row');
  return parsed;
}

function view(sessionId: string, fields: Partial<SessionView> & { at?: number } = {}): SessionView {
  const { at = NOW, ...rest } = fields;
  const quiet = { state: 'idle', unread: false, gates: [], questions: 0 } as const;
  return { row: row(sessionId, at), ...quiet, ...rest };
}

function layout(views: readonly SessionView[], fields: Partial<TreeInput> = {}) {
  const input = { views, grouping: 'status', filter: '', hasMore: false, now: NOW } as const;
  return topNodes({ ...input, ...fields }).map((node) =>
    node.kind === 'group'
      ? [node.id, node.sessions.map(({ row: { sessionId } }) => sessionId)]
      : node.kind,
  );
}

describe('a session in a list', () => {
  it('is read from the fields of ACP, Harn and ours', () => {
    expect(
      parseRow({
        sessionId: 's',
        cwd: '/w',
        title: 'T',
        updatedAt: '2026-01-02T00:00:00Z',
        _meta: {
          harn: { activePrompt: true, currentModeId: 'ask', lastEventId: 7 },
          pilothouse: { openGates: 2 },
        },
      }),
    ).toMatchObject({
      title: 'T',
      activePrompt: true,
      modeId: 'ask',
      lastEventId: 7,
      openGates: 2,
    });
    expect(parseRow({ sessionId: 's' })).toBeNull();
    expect(parseRow(null)).toBeNull();
  });

  it('says how long ago its last message was', () => {
    expect(relativeTime(NOW - 5_000, NOW)).toBe('now');
    expect(relativeTime(NOW - 5 * MINUTE, NOW)).toBe('5 min');
    expect(relativeTime(NOW - 90 * MINUTE, NOW)).toBe('1 h');
    expect(relativeTime(NOW - 49 * 60 * MINUTE, NOW)).toBe('2 d');
  });

  it('needs a person as soon as it asks, and stops before all else', () => {
    expect(sessionState({ ...row('a'), activePrompt: true }, null, 0)).toBe('running');
    const asking = { ...row('a'), openGates: 1 };
    expect(openQuestions(asking, null, 0)).toBe(1);
    expect(sessionState(asking, null, openQuestions(asking, null, 0))).toBe('waiting');
    expect(sessionState(row('a'), null, 1)).toBe('waiting');
    expect(sessionState(row('a'), null, 0)).toBe('idle');
  });
});

describe('the menu of a session', () => {
  const menu = manifest.contributes.menus['view/item/context'];

  /** The commands that the manifest offers for such a row, read as the editor reads them. */
  function offered(state: SessionView['state'], traits: readonly SessionTrait[]): string[] {
    const value = sessionContext(view('s', { state, traits }));
    return menu.flatMap(({ command, when }) => {
      const pattern = /view == pilothouse\.sessions && viewItem =~ \/(.+)\/$/.exec(when)?.[1];
      return pattern !== undefined && new RegExp(pattern).test(value)
        ? [command.replace('pilothouse.', '')]
        : [];
    });
  }

  it('holds only what makes sense for it', () => {
    const some = ['stop', 'stopTool', 'addNote', 'pauseQueue', 'resumeQueue', 'editWaiting'];
    const of = (state: SessionView['state'], ...traits: SessionTrait[]): string[] => [
      ...new Set(offered(state, traits).filter((id) => [...some, 'redoRollback'].includes(id))),
    ];
    expect(of('idle')).toEqual([]);
    expect(of('idle', 'redo')).toEqual(['redoRollback']);
    expect(of('idle', 'waits', 'paused')).toEqual(['resumeQueue', 'editWaiting']);
    expect(of('running')).toEqual(['stop', 'addNote']);
    expect(of('waiting')).toEqual(['stop', 'addNote']);
    expect(of('stopping')).toEqual(['stop']);
    expect(of('running', 'step', 'waits', 'queued')).toEqual([
      'stop',
      'addNote',
      'stopTool',
      'pauseQueue',
      'editWaiting',
    ]);
    expect(offered('waiting', ['queued'])).toContain('approve');
    expect(offered('running', [])).not.toContain('approve');
  });

  it('knows of a session what is open here, and nothing of another', () => {
    const waiting = new Waiting();
    const delegates = { list: new DelegateList('s') };
    const live = {
      isRunning: true,
      conversation: new Conversation(() => undefined),
      waiting,
      delegates,
    };
    expect(sessionTraits(live, false)).toEqual([]);
    expect(sessionTraits(live, true)).toEqual(['redo']);
    const item = { itemId: 'q', content: [], at: '', owner };
    waiting.replace(null, { paused: null, items: [item] }, true);
    expect(sessionTraits(live, false)).toEqual(['waits', 'queued']);
    waiting.replace(null, { paused: 'stopped', items: [item] }, true);
    expect(sessionTraits(live, false)).toEqual(['waits', 'paused']);
    expect(sessionTraits(null, true)).toEqual([]);
  });
});

describe('the directory', () => {
  it('orders by the last message, whatever comes in when (A28)', async () => {
    const pages: Record<string, unknown[]> = {
      first: [row('new', 3_000), row('old', 1_000)].map(wire),
    };
    const directory = new SessionDirectory(async () => ({ sessions: pages['first'] ?? [] }));
    await directory.refresh();
    directory.update(wire(row('middle', 2_000)));
    directory.patch('old', { title: 'renamed' });
    expect(directory.rows().map(({ sessionId }) => sessionId)).toEqual(['new', 'middle', 'old']);
    pages['first'] = [row('new', 3_000)].map(wire);
    await directory.refresh();
    expect(directory.rows().map(({ sessionId }) => sessionId)).toEqual(['new']);
  });

  it('loads page after page, one at a time', async () => {
    const all = Array.from({ length: 5 }, (_, at) => row(`s${at}`, 1_000 - at));
    const directory = new SessionDirectory(async (cursor) => {
      const from = Number(cursor ?? 0);
      const next = from + 2;
      return {
        sessions: all.slice(from, next).map(wire),
        ...(next < all.length ? { nextCursor: String(next) } : {}),
      };
    });
    await directory.refresh();
    await Promise.all([directory.loadMore(), directory.loadMore()]);
    expect(directory.rows()).toHaveLength(5);
    expect(directory.hasMore).toBe(false);
    await directory.refresh();
    expect(directory.rows()).toHaveLength(5);
  });
});

function wire(one: SessionRow): unknown {
  return { ...one, updatedAt: new Date(one.updatedAt).toISOString() };
}

describe('the tree', () => {
  it('puts what needs a person first, then what runs, then by day', () => {
    const yesterday = NOW - 24 * 60 * MINUTE;
    expect(
      layout([
        view('today'),
        view('run', { state: 'running' }),
        view('ask', { state: 'waiting' }),
        view('stop', { state: 'stopping' }),
        view('failed', { state: 'failed' }),
        view('old', { at: yesterday }),
      ]),
    ).toEqual([
      ['waiting', ['ask']],
      ['running', ['run', 'stop']],
      ['today', ['today', 'failed']],
      ['earlier', ['old']],
    ]);
  });

  it('keeps the order of the last message when one is unread (A29)', () => {
    const read = [view('a', { at: NOW }), view('b', { at: NOW - MINUTE, unread: false })];
    const unread = [view('a', { at: NOW }), view('b', { at: NOW - MINUTE, unread: true })];
    expect(layout(unread)).toEqual(layout(read));
    expect(layout(unread)).toEqual([['today', ['a', 'b']]]);
  });

  it('groups by folder, filters by title and folder, and offers more', () => {
    const views = [
      { ...view('a'), row: { ...row('a'), title: 'Fix login', cwd: '/x' } },
      { ...view('b'), row: { ...row('b'), title: 'Other', cwd: '/y' } },
    ];
    expect(layout(views, { grouping: 'folder', hasMore: true })).toEqual([
      ['folder:/x', ['a']],
      ['folder:/y', ['b']],
      'more',
    ]);
    expect(layout(views, { filter: ' LOGIN ' })).toEqual([['today', ['a']]]);
    expect(layout(views, { filter: '/y' })).toEqual([['today', ['b']]]);
  });

  it('lists every open question below its session (A32)', () => {
    const gate = (gateId: string) => ({
      gateId,
      sessionId: 'a',
      openedAt: 0,
      question: { kind: 'ask', message: 'Which?', schema: {} } as const,
    });
    const [group] = topNodes({
      views: [view('a', { state: 'waiting', gates: [gate('g1'), gate('g2')] })],
      grouping: 'status',
      filter: '',
      hasMore: false,
      now: NOW,
    });
    const [session] = group ? childNodes(group) : [];
    const gates = session ? childNodes(session) : [];
    expect(gates.map((node) => node.kind === 'gate' && node.gate.gateId)).toEqual(['g1', 'g2']);
  });

  it('names a folder by its last part on either kind of system', () => {
    expect(baseName('/w/my project/')).toBe('my project');
    expect(baseName('C:\\work\\app')).toBe('app');
    expect(baseName('/')).toBe('/');
  });
});

describe('unread marks', () => {
  it('are kept until the session is seen', () => {
    let saved: readonly string[] = [];
    const store = {
      load: () => saved,
      save: (ids: readonly string[]) => {
        saved = ids;
      },
    };
    const first = new UnreadMarks(store);
    first.mark('a');
    first.mark('b');
    first.clear('a');
    const next = new UnreadMarks(store);
    expect([next.has('a'), next.has('b')]).toEqual([false, true]);
  });
});
