import { describe, expect, it } from 'vitest';
import { Worker, type WorkerClient } from '../../../../../src/core/door/ws/worker.ts';
import { Workers } from '../../../../../src/core/door/ws/workers.ts';
import {
  createFramePair,
  type FramePort,
} from '../../../../../src/protocol/transport/frame-port.ts';
import { parseFrame } from '../../../../../src/protocol/transport/message.ts';

type Message = { readonly [key: string]: unknown };

class Client implements WorkerClient {
  readonly got: Message[] = [];
  takes = true;
  isAlive = true;
  isHostGone = false;

  send(text: string): boolean {
    this.got.push(JSON.parse(text) as Message);
    return this.takes;
  }

  async probe(): Promise<boolean> {
    return this.isAlive;
  }

  hostReady(): void {
    // Nothing is held here.
  }

  hostGone(): void {
    this.isHostGone = true;
  }

  get ids(): readonly unknown[] {
    return this.got.map((message) => (message['_harn'] as Message)['eventId']);
  }
}

let made = 0;

function rig(
  role: 'host_owner' | 'observer' = 'host_owner',
  limits = { frames: 50, chars: 9_999 },
) {
  const [ours, theirs] = createFramePair();
  const received: Message[] = [];
  const workers = new Workers({ retainMs: 60_000, most: 2 });
  made += 1;
  const worker: Worker = new Worker(
    { port: ours, resume: () => undefined },
    {
      id: `w${made}`,
      role,
      isRelay: false,
      secret: () => 'secret',
      limits,
      onEnd: () => workers.remove(worker),
    },
  );
  theirs.start({
    frame: (frame) => {
      if (typeof frame === 'string') received.push(JSON.parse(frame) as Message);
      return true;
    },
    drained: () => undefined,
    ended: () => theirs.end(),
  });
  workers.add(worker);
  return { worker, workers, host: theirs, received };
}

function tell(host: FramePort, message: object): boolean {
  return host.send(JSON.stringify({ jsonrpc: '2.0', ...message }));
}

function say(worker: Worker, message: object): void {
  const text = JSON.stringify({ jsonrpc: '2.0', ...message });
  worker.fromClient(text, parseFrame(text));
}

/** Makes a worker follow a session as its client would. */
function follow(worker: Worker, host: FramePort, sessionId: string, more: object = {}): void {
  say(worker, { id: 'load', method: 'session/load', params: { sessionId, ...more } });
  tell(host, { id: 'load', result: {} });
}

const update = { method: 'session/update', params: { sessionId: 's', update: {} } };

describe('a worker', () => {
  it('numbers what it sends, and goes on behind the cursor of the next socket', () => {
    const { worker, host } = rig();
    const [first, second] = [new Client(), new Client()];
    worker.attach(first);
    for (let count = 0; count < 3; count += 1) tell(host, update);
    worker.detach(first);
    tell(host, update);
    worker.resume(second, 2, 1);
    tell(host, update);
    expect(first.ids).toEqual([1, 2, 3]);
    expect(second.ids).toEqual([3, 4, 5]);
    expect(second.got.map((message) => (message['_harn'] as Message)['replayed'])).toEqual([
      true,
      true,
      false,
    ]);
  });

  it('asks again what waits, however old, but nothing that was answered or withdrawn', () => {
    const { worker, host } = rig('host_owner', { frames: 5, chars: 9_999 });
    const client = new Client();
    worker.attach(client);
    for (const id of ['waits', 'answered', 'withdrawn'])
      tell(host, { id, method: 'session/request_permission', params: { sessionId: 's' } });
    say(worker, { id: 'answered', result: {} });
    tell(host, { method: '$/cancel_request', params: { requestId: 'withdrawn' } });
    for (let count = 0; count < 9; count += 1) tell(host, update);
    const cursor = Number(client.ids.at(-1));
    worker.detach(client);
    const next = new Client();
    const again = worker.resume(next, cursor, 1);
    expect(again.map(({ kind }) => kind)).toEqual(['request']);
    expect(next.got).toMatchObject([{ id: 'waits', _harn: { eventId: 1, replayed: true } }]);
  });

  it('sends no answer again under the id of the load that asks for it', () => {
    const { worker, host } = rig();
    const client = new Client();
    tell(host, { id: 1, result: {} });
    tell(host, { id: 2, result: {} });
    worker.resume(client, 0, 1);
    expect(client.got.map(({ id }) => id)).toEqual([2]);
  });

  it('holds the host back while its socket is behind, and not while it has none', () => {
    const { worker, host } = rig();
    const client = new Client();
    client.takes = false;
    worker.attach(client);
    expect(tell(host, update)).toBe(false);
    worker.clientReady(client);
    client.takes = true;
    expect(tell(host, update)).toBe(true);
    client.takes = false;
    expect(tell(host, update)).toBe(false);
    worker.detach(client);
    expect(tell(host, update)).toBe(true);
  });

  it('keeps its own questions from its client', async () => {
    const { worker, host, received } = rig();
    const client = new Client();
    worker.attach(client);
    const asked = worker.ask('session/list', {});
    tell(host, { id: received[0]?.['id'], result: { sessions: [] } });
    expect(await asked).toMatchObject({ kind: 'result', result: { sessions: [] } });
    expect(client.got).toEqual([]);
    const late = worker.ask('session/list', {});
    host.end();
    expect(await late).toBeNull();
    expect(client.isHostGone).toBe(true);
  });
});

describe('the worker that a cursor means', () => {
  const reference = { sessionId: 's', cursor: 1, worker: null, ceiling: 'host_owner' } as const;

  it('is the one that follows the session in that role, if it can be no other', () => {
    const { worker, workers, host } = rig();
    expect(workers.meant({ ...reference, role: 'host_owner' })).toBeNull();
    follow(worker, host, 's');
    expect(workers.meant({ ...reference, role: 'host_owner' })).toBe(worker);
    expect(workers.meant({ ...reference, role: 'observer' })).toBeNull();
    expect(workers.meant({ ...reference, role: 'host_owner', cursor: 99 })).toBeNull();
    expect(workers.meant({ ...reference, role: 'host_owner', ceiling: 'observer' })).toBeNull();
    const other = rig();
    follow(other.worker, other.host, 's');
    workers.add(other.worker);
    expect(workers.meant({ ...reference, role: 'host_owner' })).toBeNull();
    const named = { ...reference, role: 'host_owner', worker: worker.id } as const;
    expect(workers.meant(named)).toBe(worker);
    expect(workers.meant({ ...named, worker: 'none' })).toBeNull();
    worker.close();
    expect(workers.meant(named)).toBeNull();
  });

  it('is kept for a while only if it follows a session, and not more of them than are allowed', () => {
    const { worker, workers, host } = rig();
    workers.retain(worker);
    expect(worker.isOver).toBe(true);
    host.end();
    const kept = [rig(), rig(), rig()].map((each) => {
      follow(each.worker, each.host, 's');
      workers.add(each.worker);
      workers.retain(each.worker);
      return each.worker;
    });
    expect(kept.map(({ isOver }) => isOver)).toEqual([true, false, false]);
    workers.close();
    for (const each of kept) workers.wake(each);
  });

  it('is lost by a socket that gives no sign of life', async () => {
    const { worker } = rig();
    const client = new Client();
    worker.attach(client);
    expect(await worker.isAlive()).toBe(true);
    client.isAlive = false;
    expect(await worker.isAlive()).toBe(false);
    expect(worker.isConnected).toBe(false);
  });
});

describe('who controls a session by this door', () => {
  it('is told by what clients asked and were answered', () => {
    const [a, b] = [rig(), rig()];
    const { workers } = a;
    workers.add(b.worker);
    a.worker.attach(new Client());
    b.worker.attach(new Client());
    follow(a.worker, a.host, 's', { _meta: { harn: { actor: { role: 'observer' } } } });
    expect(workers.isControlled('s', b.worker)).toBe(false);
    say(a.worker, { id: 1, method: '_pilothouse/claim', params: { sessionId: 's' } });
    tell(a.host, { id: 1, result: { role: 'host_owner' } });
    expect(workers.isControlled('s', b.worker)).toBe(true);
    expect(workers.isControlled('s', a.worker)).toBe(false);
    const role = { sessionId: 's', role: 'observer' };
    tell(a.host, { method: '_pilothouse/role_changed', params: role });
    expect(workers.isControlled('s', b.worker)).toBe(false);
    say(a.worker, { id: 2, method: 'session/new', params: {} });
    tell(a.host, { id: 2, result: { sessionId: 't' } });
    expect(workers.isControlled('t', b.worker)).toBe(true);
    say(a.worker, { id: 3, method: '_pilothouse/detach', params: { sessionId: 't' } });
    tell(a.host, { id: 3, error: { code: -1, message: 'no' } });
    expect(workers.isControlled('t', b.worker)).toBe(true);
    say(a.worker, { id: 4, method: '_pilothouse/detach', params: { sessionId: 't' } });
    tell(a.host, { id: 4, result: {} });
    expect(workers.isControlled('t', b.worker)).toBe(false);
  });
});
