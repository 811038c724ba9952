import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type DelegateViews, withDelegate } from '../../../../media/chat/state/delegate-rows.ts';
import { isObject } from '../../../../src/base/json.ts';
import type { AgentConnection } from '../../../../src/extension/core/connection.ts';
import { SessionDelegates } from '../../../../src/extension/delegates/session-delegates.ts';
import type { SessionUpdate } from '../../../../src/protocol/acp.ts';
import type { ChatItem } from '../../../../src/protocol/chat.ts';
import type { DelegateToChat } from '../../../../src/protocol/chat-delegates.ts';
import type { HistoryPage } from '../../../../src/protocol/pilothouse.ts';

type Place = { readonly eventId?: number; readonly offset?: number };

function wrapped(loopId: string, update: SessionUpdate, place: Place = {}): SessionUpdate {
  const loop = {
    loopId,
    parentLoopId: 's',
    name: `delegate ${loopId}`,
    depth: 1,
    ...place,
    update,
  };
  return { sessionUpdate: 'session_info_update', _meta: { pilothouse: { loop } } };
}

function chunk(messageId: string, text: string): SessionUpdate {
  return { sessionUpdate: 'agent_message_chunk', messageId, content: { type: 'text', text } };
}

function turn(state: 'started' | 'ended', turnId: string): SessionUpdate {
  const mark =
    state === 'started'
      ? { state, turnId, commandId: `c-${turnId}` }
      : { state, turnId, stopReason: 'end_turn', terminal: { kind: 'natural' } };
  return { sessionUpdate: 'session_info_update', _meta: { pilothouse: { turn: mark } } };
}

const EMPTY: HistoryPage = { entries: [], hasBefore: false, hasAfter: false, lastEventId: 0 };

/** The delegates of session `s`, an agent that answers from `pages`, and a webview that applies what it is told. */
function desk(pages: Record<string, HistoryPage> = {}) {
  const asked: string[] = [];
  const told: DelegateToChat[] = [];
  let views: DelegateViews = new Map();
  let changes = 0;
  const request = async (method: string, params: unknown): Promise<unknown> => {
    const id = isObject(params) ? String(params['loopId'] ?? params['sessionId']) : '';
    asked.push(`${method.replace('_pilothouse/', '')} ${id}`);
    if (method === '_pilothouse/history/page') {
      const page = pages[id];
      if (!page) throw new Error(`no ${id}`);
      return page;
    }
    if (method === '_pilothouse/loops/list') return { activeLoopId: 's', loops: [] };
    return { status: 'stopped', delivery: 'steered', requestId: 'r' };
  };
  const connection = { request } as unknown as AgentConnection;
  const lifetime = new AbortController();
  const delegates = new SessionDelegates(
    {
      sessionId: 's',
      // Nothing is fetched by itself here: what is known comes from the updates.
      clock: { now: () => 0, sleep: () => new Promise(() => undefined) },
      newId: () => 'new',
      connect: async () => connection,
      connection: () => connection,
      changed: () => {
        changes += 1;
      },
      told: (message) => {
        told.push(message);
        views = withDelegate(views, message);
      },
      log: () => undefined,
    },
    lifetime.signal,
  );
  const rows = (loopId: string): readonly ChatItem[] => {
    const view = views.get(loopId);
    return view?.kind === 'rows' ? view.items : [];
  };
  const texts = (loopId: string): string[] =>
    rows(loopId).flatMap((item) => (item.kind === 'assistant' ? [item.text] : []));
  return { delegates, asked, told, rows, texts, views: () => views, changes: () => changes };
}

describe('what delegates say and do', () => {
  it('is no part of what the session says, and tells who they are', () => {
    const { delegates, told } = desk();
    expect(delegates.take(wrapped('a', chunk('m', 'hi'), { offset: 0 }), undefined)).toBe(true);
    expect(delegates.take(chunk('m', 'own'), undefined)).toBe(false);
    expect(delegates.list.all().map(({ name, state }) => `${name} ${state}`)).toEqual([
      'delegate a running',
    ]);
    // Nobody looks at it: nothing is kept up.
    expect(told).toEqual([]);
    // One that can't be read is left out, and is no update of the session either.
    const broken: SessionUpdate = {
      sessionUpdate: 'session_info_update',
      _meta: { pilothouse: { loop: { loopId: 7 } } },
    };
    expect(delegates.take(broken, undefined)).toBe(true);
  });

  it('keeps two apart whose pieces come mixed, whatever was said before each was unfolded', async () => {
    const piece = fc.record({
      loop: fc.constantFrom('a', 'b'),
      length: fc.integer({ min: 1, max: 9 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 30 }), fc.nat(30), async (pieces, openAt) => {
        const one = desk({ a: EMPTY, b: EMPTY });
        const whole = {
          a: 'the first delegate tells of the forest'.repeat(9),
          b: '0123456789'.repeat(40),
        };
        const ends = { a: 0, b: 0 };
        for (const [at, { loop, length }] of pieces.entries()) {
          if (at === openAt)
            await Promise.all([one.delegates.openRows('a'), one.delegates.openRows('b')]);
          const id = loop === 'a' ? 'a' : 'b';
          const text = whole[id].slice(ends[id], ends[id] + length);
          one.delegates.take(wrapped(id, chunk(`m-${id}`, text), { offset: ends[id] }), undefined);
          ends[id] += length;
        }
        if (openAt >= pieces.length)
          await Promise.all([one.delegates.openRows('a'), one.delegates.openRows('b')]);
        for (const id of ['a', 'b'] as const)
          expect(one.texts(id).join('')).toBe(whole[id].slice(0, ends[id]));
      }),
      { numRuns: 60 },
    );
  });

  it('is read when it is unfolded, joined with what is live, and forgotten when it is folded', async () => {
    const page: HistoryPage = {
      ...EMPTY,
      hasBefore: true,
      lastEventId: 3,
      entries: [
        { eventId: 2, at: '2026-01-01T00:00:00Z', updates: [turn('started', 't')] },
        {
          eventId: 3,
          at: '2026-01-01T00:00:00Z',
          updates: [{ ...chunk('m', 'stored, '), _meta: { harn: { offset: 0 } } }],
        },
      ],
    };
    const one = desk({ a: page });
    one.delegates.take(wrapped('a', chunk('m', 'stored, and '), { offset: 0 }), undefined);
    const opening = one.delegates.openRows('a');
    one.delegates.take(wrapped('a', chunk('m', 'live'), { offset: 12 }), undefined);
    await opening;
    expect(one.texts('a')).toEqual(['stored, and live']);
    expect(one.views().get('a')).toMatchObject({ more: true });
    one.delegates.take(wrapped('a', chunk('m', '!'), { offset: 16 }), undefined);
    expect(one.texts('a')).toEqual(['stored, and live!']);
    one.delegates.closeRows('a');
    one.told.length = 0;
    one.delegates.take(wrapped('a', chunk('m', '?'), { offset: 17 }), undefined);
    expect(one.told).toEqual([]);
  });

  it('shows edits, its own delegates and why a turn failed, and is silent about a good end', async () => {
    const { delegates, rows } = desk({ a: EMPTY });
    await delegates.openRows('a');
    const updates: SessionUpdate[] = [
      turn('started', 't'),
      {
        sessionUpdate: 'tool_call',
        toolCallId: 'w',
        title: 'Write a.txt',
        content: [{ type: 'diff', path: '/a.txt', oldText: null, newText: 'hi' }],
      },
      { sessionUpdate: 'tool_call', toolCallId: 'd', title: 'Delegate: x', name: 'delegate' },
      {
        sessionUpdate: 'tool_call_update',
        toolCallId: 'd',
        _meta: { pilothouse: { delegate: { loopId: 'a1', name: 'deep', state: 'running' } } },
      },
      turn('ended', 't'),
    ];
    for (const update of updates) delegates.take(wrapped('a', update), undefined);
    expect(rows('a').map(({ kind }) => kind)).toEqual(['tool', 'tool']);
    expect(rows('a')[0]).toMatchObject({ diffs: [{ path: '/a.txt', added: 1 }] });
    expect(rows('a')[1]).toMatchObject({ delegate: { loopId: 'a1', name: 'deep' } });
    expect(delegates.list.get('a1')).toMatchObject({ parentLoopId: 'a', toolCallId: 'd' });
    expect(delegates.call('w')?.rows.loopId).toBe('a');
    expect(delegates.call('elsewhere')).toBeNull();
  });

  it('follows what each does: a question, its answer, the end', () => {
    const { delegates } = desk();
    const gate = (state: string) => ({
      sessionUpdate: 'session_info_update' as const,
      _meta: { pilothouse: { gate: { state, gateId: 'g', title: 'Write', answer: {} } } },
    });
    const state = (update: SessionUpdate) => {
      delegates.take(wrapped('a', update), undefined);
      return delegates.list.get('a')?.state;
    };
    expect(state(turn('started', 't'))).toBe('running');
    expect(state(gate('opened'))).toBe('waiting');
    expect(state(gate('resolved'))).toBe('running');
    expect(state(turn('ended', 't'))).toBe('idle');
  });

  it('says why it can not be read', async () => {
    const one = desk();
    await one.delegates.openRows('gone');
    expect(one.views().get('gone')).toEqual({ kind: 'closed', error: 'no gone' });
  });

  it('never keeps more than some up', async () => {
    const names = Array.from({ length: 30 }, (_, at) => `d${at}`);
    const one = desk(Object.fromEntries(names.map((name) => [name, EMPTY])));
    for (const name of names) await one.delegates.openRows(name);
    const open = [...one.views().values()].filter(({ kind }) => kind === 'rows');
    expect(open).toHaveLength(24);
    expect(one.views().get('d0')).toEqual({ kind: 'closed', error: null });
  });
});

describe('what a person says to a delegate', () => {
  const text = [{ type: 'text' as const, text: 'look again' }];

  it('goes into its work while it is at work, else is a turn of their own', async () => {
    const { delegates, asked } = desk();
    delegates.take(wrapped('a', turn('started', 't')), undefined);
    await delegates.say('a', text, 'look again');
    delegates.take(wrapped('a', turn('ended', 't')), undefined);
    await delegates.say('a', text, 'look again');
    expect(asked).toEqual(['delegates/message a', 'session/prompt s']);
  });

  it('is stopped alone, and talked to only when asked', async () => {
    const { delegates, asked } = desk();
    expect(await delegates.stop('a')).toBe(true);
    await delegates.activate('a');
    expect(asked).toEqual(['delegates/stop a', 'loops/activate a', 'loops/list s']);
  });
});
