import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { LiveSession } from '../../../src/core/host/api.ts';
import type { Activity } from '../../../src/core/host/clients/host-activity.ts';
import { openHost, type RunningHost } from '../../../src/core/host/compose/open-host.ts';
import { createLog } from '../../../src/core/host/log/log.ts';
import type { SessionId } from '../../../src/core/session/words.ts';
import { tempFolder } from '../../support/agent-core/agent-core.ts';
import { MemoryClient } from '../../support/clients/memory-client.ts';
import { actor } from '../../support/journal/events.ts';
import { openTestJournal } from '../../support/journal/open.ts';

/** So long that no test comes to its end. */
const LONG_MS = 3_600_000;

type Rig = RunningHost & {
  readonly data: string;
  /** Resolves as soon as the activity is like this. */
  readonly activityIs: (wanted: Partial<Activity>) => Promise<void>;
  readonly send: (session: LiveSession, text: string) => ReturnType<LiveSession['prompt']>;
};

/** A whole host on a real store. */
async function aHost(graceMs: number, data = tempFolder('home')): Promise<Rig> {
  const log = createLog({ file: null, level: 'error', stderr: process.stderr });
  const running = openHost({
    journal: await openTestJournal(data),
    dataFolder: data,
    environment: { ...process.env, PILOTHOUSE_SANDBOX: 'off' },
    defaultModel: 'rehearsal/instant',
    version: '0.0.0',
    log,
    leavesQuestions: true,
    crashing: (parts) => ({ ...parts, graceMs }),
  });
  onTestFinished(async () => {
    await running.close();
    log.dispose();
  });
  const { host } = running;
  const activityIs = (wanted: Partial<Activity>): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => {
        const now = host.activity();
        if (Object.entries(wanted).some(([key, value]) => Reflect.get(now, key) !== value)) return;
        changed.dispose();
        resolve();
      };
      const changed = host.onDidChangeActivity(look);
      look();
    });
  const send: Rig['send'] = (session, text) =>
    session.prompt({ admission: host.admit(), content: [{ type: 'text', text }], actor });
  return { ...running, data, activityIs, send };
}

async function aSession({ host }: Rig, client: MemoryClient, mode: 'ask' | 'code' = 'code') {
  const cwd = tempFolder('work');
  const session = await host.create({ cwd, additionalDirectories: [], mcpServers: [] }, client);
  await session.setOption('mode', mode, actor);
  return { session, sessionId: session.sessionId, cwd };
}

/** A file that keeps a command running until it is there. */
function untilThere(cwd: string): { readonly command: string; readonly go: () => void } {
  const file = join(cwd, 'go');
  return {
    command: `until [ -e '${file}' ]; do sleep 0.05; done`,
    go: () => writeFileSync(file, ''),
  };
}

async function gateOf(session: LiveSession): Promise<string> {
  const [open] = session.openGates();
  if (open !== undefined) return open.gateId;
  return await new Promise((resolve) => {
    const { subscription } = session.subscribe((signal) => {
      if (signal.stream !== 'history' || signal.record.event.type !== 'gate_opened') return;
      subscription.dispose();
      resolve(signal.record.event.gateId);
    });
  });
}

describe('a session that nobody follows any more', () => {
  it('is freed when its turn, and what its turn started, has ended', async () => {
    const rig = await aHost(1);
    const { host, activityIs, send } = rig;
    const client = new MemoryClient('a');
    const { session, sessionId, cwd } = await aSession(rig, client);
    const [turn, process] = [untilThere(cwd), untilThere(tempFolder('work'))];
    const ended = send(session, `start ${process.command}\nrun ${turn.command}\nfinish with done`);
    await activityIs({ sessions: 1, running: 1, clients: 1 });
    await host.clientGone(client);
    expect(host.activity()).toEqual({ sessions: 1, running: 1, clients: 0 });
    turn.go();
    expect((await ended).stopReason).toBe('end_turn');
    // The background process works on: it keeps the session, and no host up.
    expect(host.activity()).toEqual({ sessions: 1, running: 0, clients: 0 });
    expect(host.live(sessionId)).toBe(session);
    process.go();
    await activityIs({ sessions: 0, running: 0, clients: 0 });
    expect(host.live(sessionId)).toBeUndefined();
  });

  it('is the same one for a client that comes within the grace, and another behind it', async () => {
    const warm = await aHost(LONG_MS);
    const client = new MemoryClient('a');
    const one = await aSession(warm, client);
    await warm.host.detach(one.sessionId, client);
    expect(warm.host.activity()).toEqual({ sessions: 1, running: 0, clients: 0 });
    expect(await warm.host.open(one.sessionId, {}, client)).toBe(one.session);

    const cold = await aHost(1);
    const other = await aSession(cold, client);
    await cold.host.detach(other.sessionId, client);
    await cold.activityIs({ sessions: 0 });
    expect(await cold.host.open(other.sessionId, {}, client)).not.toBe(other.session);
  });

  it('stays for as long as somebody reads it, and an observer that goes stops nothing', async () => {
    const rig = await aHost(1);
    const { host, activityIs, send } = rig;
    const owner = new MemoryClient('owner');
    const reader = new MemoryClient('reader', { ceiling: 'observer', onDetach: 'stop' });
    const { session, sessionId, cwd } = await aSession(rig, owner);
    const { command, go } = untilThere(cwd);
    const ended = send(session, `run ${command}\nwrite a.txt: x\nfinish with done`);
    await activityIs({ running: 1 });
    await host.open(sessionId, {}, reader);
    await host.clientGone(owner);
    await host.clientGone(reader);
    go();
    expect((await ended).stopReason).toBe('end_turn');
    expect(existsSync(join(cwd, 'a.txt'))).toBe(true);
    await activityIs({ sessions: 0 });
  });

  it('is stopped where its last client wants that, which is told from a turn that ends', async () => {
    const rig = await aHost(LONG_MS);
    const { host, activityIs, send } = rig;
    const client = new MemoryClient('a', { onDetach: 'stop' });
    const { session } = await aSession(rig, client);
    const ended = send(session, 'run sleep 60\nfinish with done');
    await activityIs({ running: 1 });
    await host.clientGone(client);
    expect(await ended).toMatchObject({ terminal: { kind: 'policy_stop' } });
    expect(host.activity()).toEqual({ sessions: 0, running: 0, clients: 0 });
  });
});

describe('a turn that stands at its question', () => {
  it('is no work that keeps a host, but a prompt behind it is', async () => {
    const rig = await aHost(1);
    const { host, send, activityIs } = rig;
    const client = new MemoryClient('a');
    const { session } = await aSession(rig, client, 'ask');
    const first = send(session, 'write a.txt: x\nfinish with done');
    await gateOf(session);
    await host.clientGone(client);
    await activityIs({ sessions: 1, running: 0, clients: 0 });
    const second = send(session, 'finish with more');
    await activityIs({ running: 1 });
    const [gate] = session.openGates();
    if (gate === undefined) throw new TypeError('The question is open');
    await session.answerGate(gate.gateId, { kind: 'selected', optionId: 'allow_once' }, actor);
    expect((await first).stopReason).toBe('end_turn');
    expect((await second).stopReason).toBe('end_turn');
    await activityIs({ sessions: 0 });
  });

  it('is left to the next host: only an owner goes on with it there, and it is freed at its question', async () => {
    const client = new MemoryClient('a');
    const before = await aHost(1);
    const { session, sessionId, cwd } = await aSession(before, client, 'ask');
    const broken = before.send(session, 'write a.txt: x\nfinish with done').catch(() => 'broken');
    const gateId = await gateOf(session);
    await before.close();
    expect(await broken).toBe('broken');

    const { host, activityIs } = await aHost(1, before.data);
    const reader = new MemoryClient('reader', { ceiling: 'observer' });
    const read = await host.open(sessionId, {}, reader);
    expect(read.openGates().map((gate) => gate.gateId)).toEqual([gateId]);
    expect(host.activity()).toEqual({ sessions: 1, running: 0, clients: 1 });
    await host.clientGone(reader);
    await activityIs({ sessions: 0 });

    const live = await host.open(sessionId, {}, client);
    expect(live.openGates().map((gate) => gate.gateId)).toEqual([gateId]);
    await host.controls.respondToGate({ sessionId, actor }, { gateId, optionId: 'allow_once' });
    await host.clientGone(client);
    await activityIs({ sessions: 0 });
    expect(existsSync(join(cwd, 'a.txt'))).toBe(true);
    expect(await host.describe(sessionId as SessionId)).toMatchObject({
      openGates: 0,
      activePrompt: false,
    });
  });
});
