import { describe, expect, it } from 'vitest';
import { Agent } from '../../../../src/extension/core/agent.ts';
import { ClientCalls } from '../../../../src/extension/core/client-requests.ts';
import { AgentRequestError } from '../../../../src/extension/core/connection.ts';
import type { AddedHost } from '../../../../src/extension/hosts/host.ts';
import { hostClient } from '../../../../src/extension/hosts/host-client.ts';
import { hostView } from '../../../../src/extension/hosts/host-view.ts';
import { Hosts } from '../../../../src/extension/hosts/hosts.ts';
import { SessionLists } from '../../../../src/extension/sessions/session-lists.ts';
import { hostNode, topNodes } from '../../../../src/extension/sessions/tree/tree-model.ts';

const FOLDER: AddedHost = { id: 'f', kind: 'folder', name: 'Folder', dataFolder: '/d' };
const REMOTE: AddedHost = { id: 'r', kind: 'ws', name: 'Remote', url: 'wss://r.example' };

/** An agent that never gets a process, and why. */
function deadAgent(error: Error = new Error('no such program')): Agent {
  return new Agent({
    clock: { now: () => 0, sleep: () => new Promise(() => undefined) },
    version: '1',
    launch: () => Promise.reject(error),
    client: {
      onRequest: async () => null,
      onNotification: () => undefined,
      onProblem: () => undefined,
    },
    offers: { documents: true, onDetach: 'keep' },
    limits: { firstDelay: 1, maxDelay: 1, maxFailures: 1, window: 1000 },
    log: () => undefined,
    prepare: async () => undefined,
    forbidden: () => null,
  });
}

function setUp(list: readonly AddedHost[] = [FOLDER, REMOTE], open = () => deadAgent()): Hosts {
  const hosts = new Hosts(deadAgent(), () => 77);
  void hosts.set(list, open, 0);
  return hosts;
}

const row = (sessionId: string, at: number) => ({
  sessionId,
  cwd: '/w',
  title: sessionId,
  updatedAt: at,
});

describe('which host a session is of', () => {
  it('is the one that named it first, and the own one where nobody did', () => {
    const hosts = setUp();
    expect(hosts.learn('s1', 'r')).toBe(true);
    expect(hosts.learn('s1', 'f')).toBe(false);
    expect(hosts.learn('own-session', 'own')).toBe(true);
    expect(hosts.learn('own-session', 'r')).toBe(false);
    expect(hosts.of('s1').id).toBe('r');
    expect(hosts.of('own-session').id).toBe('own');
    expect(hosts.of('nobody knows').id).toBe('own');
    expect(hosts.of(null).id).toBe('own');
  });

  it('ends with the host: its sessions are told, and another one may have them', async () => {
    const hosts = setUp();
    hosts.learn('s1', 'r');
    hosts.learn('s2', 'f');
    const removed: string[][] = [];
    hosts.onDidRemove((ids) => removed.push([...ids]));
    await hosts.set([FOLDER], () => deadAgent(), 0);
    expect(removed).toEqual([['s1']]);
    expect(hosts.get('r')).toBeNull();
    expect(hosts.learn('s1', 'f')).toBe(true);
  });

  it('keeps the agent of a host that is renamed', async () => {
    const hosts = setUp();
    const agent = hosts.get('f')?.agent;
    await hosts.set([{ ...FOLDER, name: 'New' }, REMOTE], () => deadAgent(), 0);
    expect(hosts.get('f')).toMatchObject({ added: { name: 'New' } });
    expect(hosts.get('f')?.agent).toBe(agent);
  });
});

describe('a host that is not reached', () => {
  it('is offline since its first failure, and a request to its sessions says so with its name', async () => {
    const hosts = setUp();
    hosts.learn('s1', 'f');
    await expect(hosts.connectFor({ sessionId: 's1' })).rejects.toMatchObject({
      code: 'host.offline',
      message: expect.stringMatching(/“Folder” is offline: no such program\. .*Retry/),
      data: { hostId: 'f' },
    });
    expect(hosts.offlineSince('f')).toBe(77);
    expect(hosts.offlineSince('r')).toBeNull();
    const host = hosts.get('f');
    expect(host && hostView(host, 77, '1')).toMatchObject({
      state: 'reconnecting',
      reason: 'no such program',
    });
    await expect(hosts.connectFor({ sessionId: 's1' })).rejects.toThrow();
    expect(host && hostView(host, 77, '1').state).toBe('offline');
  });

  it('asks for another token, and is not tried again, where it refused the one it got', async () => {
    const refused = new AgentRequestError('agent.refused', 'The host did not take the token.', {
      details: { code: 'connect.unauthorized' },
    });
    const hosts = setUp([REMOTE], () => deadAgent(refused));
    const host = hosts.get('r');
    await expect(host && hosts.connect(host)).rejects.toThrow();
    expect(host?.agent.state.kind).toBe('failed');
    const view = host && hostView(host, 77, '1');
    expect(view?.state).toBe('refused');
    expect(view && hostNode(view, [])).toMatchObject({
      nodes: [{ kind: 'note', note: 'set_token' }],
    });
  });
});

describe('what a host may say', () => {
  function client(added: AddedHost) {
    const hosts = setUp();
    const calls = new ClientCalls();
    const seen: unknown[] = [];
    calls.onNotification('session/update', (params, host) => seen.push([params, host]));
    calls.onRequest('fs/read_text_file', async () => ({ content: 'mine' }));
    calls.onRequest('session/request_permission', async (_, __, host) => ({ host }));
    const side = hostClient({
      id: added.id,
      added,
      hosts: () => hosts,
      calls,
      log: () => undefined,
    });
    return { hosts, side, seen };
  }
  const signal = new AbortController().signal;

  it('goes on with the name of the host, and its sessions are known as its own', async () => {
    const { hosts, side, seen } = client(REMOTE);
    side.onNotification('session/update', { sessionId: 's1' });
    expect(seen).toEqual([[{ sessionId: 's1' }, 'r']]);
    expect(hosts.of('s1').id).toBe('r');
    expect(await side.onRequest('session/request_permission', { sessionId: 's1' }, signal)).toEqual(
      {
        host: 'r',
      },
    );
  });

  it('is left out where it is about a session of another host', async () => {
    const { hosts, side, seen } = client(REMOTE);
    hosts.learn('mine', 'own');
    side.onNotification('session/update', { sessionId: 'mine' });
    expect(seen).toEqual([]);
    await expect(
      side.onRequest('session/request_permission', { sessionId: 'mine' }, signal),
    ).rejects.toThrow(/another host/);
    side.onNotification('_pilothouse/session_deleted', { sessionId: 'mine' });
    expect(hosts.learn('mine', 'own')).toBe(true);
  });

  it('reads and writes documents only on this machine', async () => {
    const read = ['fs/read_text_file', { sessionId: 's', path: '/etc/hosts' }, signal] as const;
    await expect(client(REMOTE).side.onRequest(...read)).rejects.toThrow(/another machine/);
    expect(await client(FOLDER).side.onRequest(...read)).toEqual({ content: 'mine' });
  });
});

describe('the lists of all hosts', () => {
  const NO_STORE = { load: () => [], save: () => undefined };

  it('stand together by their last message, and each session with the host that has it', async () => {
    const hosts = setUp();
    const pages: Record<string, unknown[]> = {
      own: [row('a', 5), row('b', 1)],
      f: [row('c', 3), row('a', 9)],
    };
    const lists = new SessionLists(hosts, async (id) => ({ sessions: pages[id] ?? [] }), NO_STORE);
    await lists.refresh();
    await lists.refresh('f');
    expect(lists.rows().map(({ sessionId, updatedAt }) => [sessionId, updatedAt])).toEqual([
      ['a', 5],
      ['c', 3],
      ['b', 1],
    ]);
    expect(lists.rowsOf('f').map(({ sessionId }) => sessionId)).toEqual(['c']);
    expect(lists.get('c')?.title).toBe('c');
    lists.update(row('a', 99), 'f');
    expect(lists.get('a')?.updatedAt).toBe(5);
  });

  it('of a host that is not reached are those of the last time, in this window and the next', async () => {
    const kept = new Map<string, readonly unknown[]>([['r', [row('old', 4)]]]);
    const store = {
      load: (id: string) => kept.get(id) ?? [],
      save: (id: string, rows: readonly unknown[]) => void kept.set(id, rows),
    };
    const hosts = setUp();
    const lists = new SessionLists(
      hosts,
      async (id) => {
        if (id === 'r') throw new Error('offline');
        return { sessions: [row('c', 3)] };
      },
      store,
    );
    expect(lists.get('old')).toMatchObject({ title: 'old' });
    expect(hosts.of('old').id).toBe('r');
    await expect(lists.refresh('r')).rejects.toThrow('offline');
    expect(lists.rowsOf('r')).toHaveLength(1);
    expect(kept.get('r')).toHaveLength(1);
    await lists.refresh('f');
    expect(kept.get('f')).toMatchObject([{ sessionId: 'c' }]);
    await hosts.set([FOLDER], () => deadAgent(), 0);
    expect(lists.rows().map(({ sessionId }) => sessionId)).toEqual(['c']);
    expect(kept.get('r')).toEqual([]);
  });
});

describe('a host in the tree', () => {
  const view = {
    row: {
      ...row('s', 5),
      createdAt: 1,
      activePrompt: false,
      openGates: 0,
      modeId: '',
      model: '',
      lastEventId: 1,
    },
    state: 'idle' as const,
    unread: false,
    gates: [],
    questions: 0,
  };
  const input = { views: [view], grouping: 'status' as const, filter: '', hasMore: true, now: 5 };

  it('has groups of its own: what is folded in one host stays open in another', () => {
    expect(topNodes(input)).toMatchObject([{ id: 'today' }, { kind: 'more', hostId: 'own' }]);
    expect(topNodes({ ...input, hostId: 'f' })).toMatchObject([
      { id: 'f/today' },
      { kind: 'more', hostId: 'f' },
    ]);
  });
});
