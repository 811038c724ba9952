import { describe, expect, it } from 'vitest';
import type { AgentConnection } from '../../../../src/extension/core/connection.ts';
import { systemClock } from '../../../../src/extension/core/system-clock.ts';
import { LiveSession } from '../../../../src/extension/sessions/live-session.ts';
import type { SessionUpdate } from '../../../../src/protocol/acp.ts';
import type { HistoryPage } from '../../../../src/protocol/pilothouse.ts';

const EMPTY: HistoryPage = { entries: [], hasBefore: false, hasAfter: false, lastEventId: 0 };

const STARTED: SessionUpdate = {
  sessionUpdate: 'session_info_update',
  _meta: { pilothouse: { turn: { state: 'started', turnId: 't', commandId: 'c' } } },
};

const STEP: SessionUpdate = {
  sessionUpdate: 'tool_call',
  toolCallId: 'x',
  title: 'Run ls',
  status: 'pending',
};

/** A session whose turn stands at an approval. */
async function parked(): Promise<LiveSession> {
  const session = new LiveSession('s', '/w', {
    clock: systemClock,
    newId: () => 'id',
    log: () => undefined,
    connect: () => Promise.reject(new Error('There is no process.')),
    cancelGates: () => undefined,
  });
  await session.attach(connectionTo(EMPTY), null);
  session.receive(STARTED, undefined);
  session.receive(STEP, undefined);
  return session;
}

function connectionTo(page: HistoryPage): AgentConnection {
  const request = async (method: string): Promise<unknown> => {
    if (method === '_pilothouse/history/page') return page;
    throw new Error(`${method} is not known here`);
  };
  return { request, isClosed: false } as unknown as AgentConnection;
}

const shown = (session: LiveSession): readonly string[] =>
  session.conversation.items().map((item) => (item.kind === 'tool' ? item.status : item.kind));

describe('a turn whose process ended', () => {
  it('says nothing of its end and of its steps as long as another process may tell', async () => {
    const session = await parked();
    session.detach();
    expect(session.isRunning).toBe(false);
    expect(session.ending).toBeNull();
    expect(shown(session)).toEqual(['pending']);
    session.dispose();
  });

  it('is what the restored session says, whatever was known before', async () => {
    const session = await parked();
    session.detach();
    const entries = [STARTED, STEP].map((update, index) => ({
      eventId: index + 1,
      at: '2026-01-01T00:00:00Z',
      updates: [update],
    }));
    await session.attach(connectionTo({ ...EMPTY, entries, lastEventId: 2 }), null);
    expect(session.isRunning).toBe(true);
    expect(shown(session)).toEqual(['pending']);
    session.detach(true);
    expect(session.ending).toBe('interrupted');
    session.dispose();
  });

  it('is interrupted with an unknown outcome once no other process is started', async () => {
    const session = await parked();
    session.detach();
    session.detach(true);
    expect(session.ending).toBe('interrupted');
    expect(shown(session)).toEqual(['outcome_unknown', 'turn_end']);
    session.detach(true);
    expect(shown(session)).toHaveLength(2);
    session.dispose();
  });
});

describe('a turn that another window began', () => {
  it('runs here from its middle, and its end is news', async () => {
    const session = await parked();
    const told: unknown[] = [];
    session.onDidChange((change) => {
      if (change.kind === 'turn_ended') told.push(change);
    });
    await session.attach(connectionTo(EMPTY), null, 't');
    expect([session.isRunning, session.turnId]).toEqual([true, 't']);
    await session.stop().catch(() => undefined);
    const turn = { state: 'ended', turnId: 't', stopReason: 'cancelled' };
    session.receive(
      { sessionUpdate: 'session_info_update', _meta: { pilothouse: { turn } } },
      undefined,
    );
    expect(session.isRunning).toBe(false);
    expect(session.stopState.kind).not.toBe('stopping');
    expect(told).toEqual([{ kind: 'turn_ended', stopReason: 'cancelled', failed: false }]);
    session.dispose();
  });
});
