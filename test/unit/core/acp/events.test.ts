import { afterEach, describe, expect, test } from 'vitest';
import type { SessionId } from '../../../../src/core/session/words.ts';
import type { AcpTestClient } from '../../../support/acp-client/client.ts';
import { connectFake, type FakeConnection } from '../../../support/fake-host/connect-fake.ts';
import type { FakeSession } from '../../../support/fake-host/fake-session.ts';

const open: FakeConnection[] = [];

async function following(): Promise<FakeConnection & { session: FakeSession }> {
  const connection = connectFake();
  open.push(connection);
  await connection.client.initialize();
  return { ...connection, session: connection.host.add('/work') };
}

afterEach(async () => {
  for (const { client, server } of open.splice(0)) {
    client.endInput();
    await server.done;
  }
});

type Told = { eventId?: number; subscriptionId: string; class: string; event: { type: string } };

async function told(client: AcpTestClient, count: number): Promise<Told[]> {
  const events = (): Told[] =>
    client.calls('_pilothouse/event').map(({ params }) => params as Told);
  while (events().length < count) await new Promise((resolve) => setImmediate(resolve));
  return events();
}

describe('subscriptions over ACP', () => {
  test('tell what is stored and what happens, with place, time, hash and cause', async () => {
    const { client, session } = await following();
    const { sessionId } = session;
    session.append({ type: 'title_changed', title: 'one' });
    const { subscriptionId, lastEventId } = await client.call('_pilothouse/events/subscribe', {
      sessionId,
      classes: ['history'],
      from: 1,
    });
    expect(lastEventId).toBe(1);
    session.append({ type: 'title_changed', title: 'two' });
    expect(await told(client, 2)).toEqual([
      {
        subscriptionId,
        loopId: sessionId,
        class: 'history',
        eventId: 2,
        at: 2000,
        hash: 'hash-2',
        event: { type: 'title_changed', title: 'one' },
      },
      expect.objectContaining({ eventId: 3, event: { type: 'title_changed', title: 'two' } }),
    ]);
    // What is not asked for is not told.
    session.emit({ type: 'activity_changed', activePrompt: true, openGates: 0, queued: 0 });
    session.append({ type: 'title_changed', title: 'three' });
    expect((await told(client, 3)).map(({ eventId }) => eventId)).toEqual([2, 3, 4]);
  });

  test('begin where a cursor of several loops says', async () => {
    const { client, session } = await following();
    for (const title of ['one', 'two']) session.append({ type: 'title_changed', title });
    await client.call('_pilothouse/events/subscribe', {
      sessionId: session.sessionId,
      from: { [session.sessionId]: { history: 2, control: 0 } },
    });
    expect((await told(client, 1)).map(({ eventId }) => eventId)).toEqual([3]);
  });

  test('end when they are taken back, as often as one likes', async () => {
    const { client, session } = await following();
    const { sessionId } = session;
    const { subscriptionId } = await client.call('_pilothouse/events/subscribe', { sessionId });
    for (let i = 0; i < 2; i += 1)
      expect(await client.call('_pilothouse/events/unsubscribe', { subscriptionId })).toEqual({});
    session.append({ type: 'title_changed', title: 'unheard' });
    // The negative control: another one of the same client hears it.
    await client.call('_pilothouse/events/subscribe', { sessionId, from: 1 });
    const events = await told(client, 1);
    expect(events).toHaveLength(1);
    expect(events[0]?.subscriptionId).not.toBe(subscriptionId);
    expect(client.calls('_pilothouse/events_ended')).toEqual([]);
  });

  test('say so when their session is deleted', async () => {
    const { client, host, session } = await following();
    const { sessionId } = session;
    const { subscriptionId } = await client.call('_pilothouse/events/subscribe', { sessionId });
    host.events.deleted(sessionId);
    while (client.calls('_pilothouse/events_ended').length === 0)
      await new Promise((resolve) => setImmediate(resolve));
    expect(client.calls('_pilothouse/events_ended')[0]?.['params']).toEqual({
      subscriptionId,
      reason: 'deleted',
    });
  });

  test('refuse what can not be followed, with what to do', async () => {
    const { client, session } = await following();
    const { sessionId } = session;
    for (const [params, code, path] of [
      [{ sessionId: 'ghost' }, -32002, undefined],
      [{ sessionId, loops: ['ghost'] }, -32602, '/loops'],
      [{ sessionId, from: 99 }, -32602, '/from'],
      [{ sessionId, from: -1 }, -32602, '/from'],
      [{ sessionId, classes: ['all'] }, -32602, '/classes/0'],
    ] as const)
      await expect(
        client.request('_pilothouse/events/subscribe', params),
        JSON.stringify(params),
      ).rejects.toMatchObject({ code, ...(path === undefined ? {} : { data: { path } }) });
    for (let i = 0; i < 64; i += 1)
      await client.call('_pilothouse/events/subscribe', { sessionId, classes: ['control'] });
    await expect(
      client.request('_pilothouse/events/subscribe', { sessionId }),
    ).rejects.toMatchObject({ code: -32600, data: { reason: 'too_many_subscriptions' } });
  });

  test('are read no faster than the client reads', async () => {
    const { client, host, session, stdout } = await following();
    const { sessionId } = session;
    const page = host.events;
    const subscribe = page.subscribe.bind(page);
    const opened: { buffered: number }[] = [];
    page.subscribe = async (request) => {
      const subscribed = await subscribe(request);
      opened.push(subscribed.events);
      return subscribed;
    };
    await client.call('_pilothouse/events/subscribe', { sessionId, classes: ['history'] });
    stdout.pause();
    const total = 3_000;
    for (let i = 0; i < total; i += 1) {
      session.append({ type: 'title_changed', title: 'x'.repeat(2_000) });
      if (i % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    expect(opened[0]?.buffered).toBeLessThanOrEqual(256);
    const before = client.calls('_pilothouse/event').length;
    expect(before).toBeLessThan(total);
    stdout.resume();
    const ids = (await told(client, total)).map(({ eventId }) => eventId);
    expect(ids).toEqual(Array.from({ length: total }, (_, index) => index + 2));
    expect(host.live(sessionId as SessionId)).toBeDefined();
  });
});
