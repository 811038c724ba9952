import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { PilothouseClientNotifications } from '../../../src/protocol/pilothouse.ts';
import type { AcpTestClient } from '../../support/acp-client/client.ts';
import { eventually, startAgentCore, tempFolder } from '../../support/agent-core/agent-core.ts';
import { controlClient, INSTANT, KNOWS_CONTROL } from '../../support/agent-core/control-client.ts';

type Told = PilothouseClientNotifications['_pilothouse/event'];

function told(client: AcpTestClient, subscriptionId?: unknown): readonly Told[] {
  return client
    .calls('_pilothouse/event')
    .map(({ params }) => params as unknown as Told)
    .filter((event) => subscriptionId === undefined || event.subscriptionId === subscriptionId);
}

/** Seqs of one stream, in the order of their arrival. */
function seqs(events: readonly Told[], loopId: string, kind: Told['class']): number[] {
  return events.flatMap((event) =>
    event.loopId === loopId && event.class === kind && event.eventId !== undefined
      ? [event.eventId]
      : [],
  );
}

function upTo(last: number): number[] {
  return Array.from({ length: last }, (_, index) => index + 1);
}

async function lastEvent(client: AcpTestClient, sessionId: string): Promise<number> {
  const { lastEventId } = await client.call('_pilothouse/history/page', { sessionId, limit: 1 });
  return Number(lastEventId);
}

/** How much live output of tools was told, in characters. */
function liveOutput(client: AcpTestClient): number {
  return client.updates.reduce((sum, { update }) => {
    const { pilothouse } = (update._meta ?? {}) as { pilothouse?: { output?: string } };
    return sum + (pilothouse?.output?.length ?? 0);
  }, 0);
}

/** Memory that the process holds, in MiB. */
function residentMiB(pid: number): number {
  const kib = /^VmRSS:\s+(\d+)/mu.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kib) / 1024;
}

describe('a subscription to the built process', () => {
  it('tells every event of the session and its delegates once and in order, from the first one on', async () => {
    const { client, sessionId } = await controlClient({ env: INSTANT });
    await client.prompt(sessionId, 'say before');
    const { subscriptionId } = await client.call('_pilothouse/events/subscribe', {
      sessionId,
      from: 0,
    });
    await client.prompt(sessionId, 'delegate: finish with from below');
    await client.prompt(sessionId, 'say after');
    const { loops } = await client.call('_pilothouse/loops/list', { sessionId });
    const loopIds = (loops as { loopId: string }[]).map(({ loopId }) => loopId);
    expect(loopIds).toHaveLength(2);
    for (const loopId of loopIds) {
      const last = await lastEvent(client, loopId);
      await eventually(
        () => seqs(told(client, subscriptionId), loopId, 'history').length >= last,
        `the events of ${loopId}`,
      );
      expect(seqs(told(client, subscriptionId), loopId, 'history')).toEqual(upTo(last));
      const control = seqs(told(client, subscriptionId), loopId, 'control');
      expect(control).toEqual(upTo(control.length));
      expect(control.length).toBeGreaterThan(0);
    }
    expect(told(client, subscriptionId).some((event) => event.class === 'ephemeral')).toBe(true);
  });

  it('goes on where a reader left off, also over a restart of the process', async () => {
    const home = tempFolder('home');
    const one = await controlClient({ home, env: INSTANT });
    const { sessionId, folder } = one;
    await one.client.call('_pilothouse/events/subscribe', { sessionId, from: 0 });
    await one.client.prompt(sessionId, 'say one');
    const cut = await lastEvent(one.client, sessionId);
    await eventually(() => seqs(told(one.client), sessionId, 'history').at(-1) === cut, 'the cut');
    await one.client.close();
    const two = startAgentCore(home, { env: INSTANT });
    await two.initialize(KNOWS_CONTROL);
    // Of a session that nobody has opened yet.
    await two.call('_pilothouse/events/subscribe', {
      sessionId,
      classes: ['history'],
      from: { [sessionId]: { history: cut } },
    });
    await two.call('session/resume', { sessionId, cwd: folder, mcpServers: [] });
    await two.prompt(sessionId, 'say two');
    const last = await lastEvent(two, sessionId);
    await eventually(() => seqs(told(two), sessionId, 'history').at(-1) === last, 'the rest');
    const all = [
      ...seqs(told(one.client), sessionId, 'history'),
      ...seqs(told(two), sessionId, 'history'),
    ];
    expect(all).toEqual(upTo(last));
  });

  it('tells only the classes and loops that were asked for, to an observer too, and ends when it is taken back', async () => {
    const { client, sessionId } = await controlClient({ env: INSTANT });
    const subscribe = async (params: object): Promise<string> => {
      const observer = { _meta: { harn: { actor: { role: 'observer' } } } };
      const answer = await client.call('_pilothouse/events/subscribe', {
        sessionId,
        ...observer,
        ...params,
      });
      return String(answer['subscriptionId']);
    };
    const control = await subscribe({ classes: ['control'], loops: [sessionId] });
    const ephemeral = await subscribe({ classes: ['ephemeral'] });
    const ended = await subscribe({});
    await client.call('_pilothouse/events/unsubscribe', { subscriptionId: ended });
    await client.prompt(sessionId, 'delegate: say below');
    const { loops } = await client.call('_pilothouse/loops/list', { sessionId });
    const child = (loops as { loopId: string }[])[1]?.loopId;
    await eventually(
      () => told(client, ephemeral).some(({ loopId }) => loopId === child),
      'what the delegate streams',
    );
    expect(new Set(told(client, control).map((event) => event.class))).toEqual(
      new Set(['control']),
    );
    expect(told(client, control).every(({ loopId }) => loopId === sessionId)).toBe(true);
    expect(new Set(told(client, ephemeral).map((event) => event.class))).toEqual(
      new Set(['ephemeral']),
    );
    expect(told(client, ended)).toEqual([]);
  });
});

/** Commands that tell about a MiB each, which is all that may wait for a client. */
const LOUD = Array.from({ length: 14 }, (_, index) => `run seq ${index + 1} 1000000`);

describe('a client that stops reading', () => {
  it('fills no memory and loses nothing that is stored, though a turn tells far more than may wait for it', async () => {
    const { client, sessionId, folder } = await controlClient({ env: INSTANT });
    const pid = client.pid ?? 0;
    await client.prompt(sessionId, 'run seq 1 1000000');
    // A client that reads is told all that the tool writes while it runs.
    const oneRun = liveOutput(client);
    expect(oneRun).toBeGreaterThan(500_000);
    const before = residentMiB(pid);
    const earlier = client.updates.length;
    client.pauseReading();
    const over = join(folder, 'over');
    const turn = client.prompt(
      sessionId,
      [...LOUD, 'run touch over', 'finish with all told'].join('\n'),
    );
    let most = 0;
    await eventually(() => {
      most = Math.max(most, residentMiB(pid) - before);
      return existsSync(over);
    }, 'the last tool');
    client.resumeReading();
    expect(await turn).toMatchObject({ stopReason: 'end_turn' });
    const later = client.updates.slice(earlier);
    const [calls, ended] = [
      later.filter(({ update }) => update.sessionUpdate === 'tool_call'),
      later.filter(
        ({ update }) =>
          update.sessionUpdate === 'tool_call_update' && update.status === 'completed',
      ),
    ];
    expect(calls).toHaveLength(LOUD.length + 1);
    expect(ended).toHaveLength(LOUD.length + 1);
    expect(client.textOf(sessionId)).toContain('all told');
    const ids = later.map(({ mark }) => mark?.eventId ?? 0).filter((id) => id > 0);
    expect(ids).toEqual(ids.toSorted((a, b) => a - b));
    expect(liveOutput(client) - oneRun).toBeLessThan(5 * oneRun);
    expect(most).toBeLessThan(200);
  }, 60_000);
});
