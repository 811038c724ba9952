import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { endpointFile } from '../../../src/core/link/endpoint-file.ts';
import {
  answering,
  eventually,
  hostStatus,
  isAlive,
  pidFrom,
  startDoor,
  stopHost,
  tempFolder,
} from '../../support/agent-core/agent-core.ts';
import { INSTANT } from '../../support/agent-core/control-client.ts';
import {
  endpointOf,
  gone,
  hostsOf,
  isThere,
  processesOf,
  reachedBy,
} from '../../support/host-process/host-process.ts';

/** Runs until somebody makes the file `go`. */
const SLOW = 'run echo $$ > begun; while [ ! -e go ]; do sleep 0.02; done; echo end > end';

describe('the host of a data folder', () => {
  it('is started by the first client, found by the second, told about, and ended cleanly', async () => {
    const home = tempFolder('home');
    expect(hostStatus(home)).toEqual({ pid: null });
    const first = startDoor(home);
    const pid = await reachedBy(first);
    expect(pid).not.toBe(first.pid);
    const second = startDoor(home);
    expect(await reachedBy(second)).toBe(pid);
    expect(hostsOf(home)).toEqual([pid]);
    await first.newSession(tempFolder('work'));
    expect(hostStatus(home)).toEqual({
      pid,
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      sessions: 1,
      clients: 2,
    });

    stopHost(home);
    for (const client of [first, second]) {
      expect(await client.exited).toEqual({ code: 1, signal: null });
      expect(client.stderr).toContain('The session host has ended');
    }
    expect(hostStatus(home)).toEqual({ pid: null });
    expect(processesOf(home)).toEqual([]);
    expect(existsSync(endpointFile(home))).toBe(false);
    expect(readdirSync(join(home, 'run'))).toEqual([]);
    // Ending what is not there is no error.
    stopHost(home);
  });

  it('is one, also where ten clients come at the same instant', async () => {
    const home = tempFolder('home');
    const clients = Array.from({ length: 10 }, () => startDoor(home));
    const pids = new Set(await Promise.all(clients.map(reachedBy)));
    expect(pids.size).toBe(1);
    // Whoever lost the race ends.
    await eventually(() => hostsOf(home).length === 1, 'the end of the other hosts');
    expect(hostsOf(home)).toEqual([...pids]);
    expect(hostStatus(home)).toMatchObject({ clients: 10 });
  });

  it('stays while a client is there or a turn runs, and ends when neither was for a while', async () => {
    const env = { ...INSTANT, PILOTHOUSE_IDLE_MS: '200' };
    const [working, attended, idle] = [1, 2, 3].map(() => tempFolder('home')) as [
      string,
      string,
      string,
    ];
    const folder = tempFolder('work');
    const worker = answering(startDoor(working, { env }), 'allow_once');
    const workingPid = await reachedBy(worker);
    const sessionId = await worker.newSession(folder);
    await worker.call('session/set_mode', { sessionId, modeId: 'code' });
    worker.prompt(sessionId, SLOW).catch(() => undefined);
    await isThere(join(folder, 'begun'));
    const attendedPid = await reachedBy(startDoor(attended, { env }));
    expect(await worker.close()).toEqual({ code: 0, signal: null });
    // The idle one is the clock: what it does not outlast would have ended by now as well.
    const visitor = startDoor(idle, { env });
    const idlePid = await reachedBy(visitor);
    await visitor.close();
    await gone(idlePid);
    expect(existsSync(endpointFile(idle))).toBe(false);
    expect(isAlive(attendedPid)).toBe(true);
    expect(isAlive(workingPid)).toBe(true);
    writeFileSync(join(folder, 'go'), '');
    await gone(workingPid);
    expect(readFileSync(join(folder, 'end'), 'utf8')).toBe('end\n');
    expect(hostStatus(attended)).toMatchObject({ pid: attendedPid, clients: 1 });
  });

  it('ends idle at an open question, which the next one asks again', async () => {
    const home = tempFolder('home');
    const env = { ...INSTANT, PILOTHOUSE_IDLE_MS: '200' };
    const folder = tempFolder('work');
    const first = startDoor(home, { env });
    const firstPid = await reachedBy(first);
    first.onRequest('session/request_permission', () => undefined);
    const sessionId = await first.newSession(folder);
    first.prompt(sessionId, 'write a.txt: text\nfinish with written').catch(() => undefined);
    await first.waitFor(
      ({ message }) => message?.['method'] === 'session/request_permission',
      'the question',
    );
    await first.close();
    await gone(firstPid);
    const second = answering(startDoor(home, { env }), 'allow_once');
    expect(await reachedBy(second)).not.toBe(firstPid);
    await second.call('session/load', { sessionId, cwd: folder, mcpServers: [] });
    await isThere(join(folder, 'a.txt'));
  });
});

describe('a session host that is killed', () => {
  it('ends its doors with an error, and the next client finds everything by the durable rules', async () => {
    const home = tempFolder('home');
    const folder = tempFolder('work');
    const first = answering(startDoor(home, { env: INSTANT }), 'allow_once');
    const firstPid = await reachedBy(first);
    const other = startDoor(home, { env: INSTANT });
    await reachedBy(other);
    const running = await first.newSession(folder);
    await first.call('session/set_mode', { sessionId: running, modeId: 'code' });
    first.prompt(running, SLOW).catch(() => undefined);
    const tool = await pidFrom(join(folder, 'begun'));
    const asking = await first.newSession(folder);
    first.onRequest('session/request_permission', () => undefined);
    first.prompt(asking, 'write a.txt: text\nfinish with written').catch(() => undefined);
    await first.waitFor(
      ({ message }) => message?.['method'] === 'session/request_permission',
      'the question',
    );

    process.kill(firstPid, 'SIGKILL');
    for (const client of [first, other])
      expect(await client.exited).toEqual({ code: 1, signal: null });
    await gone(tool);
    expect(hostStatus(home)).toEqual({ pid: null });

    const second = answering(startDoor(home, { env: INSTANT }), 'allow_once');
    const secondPid = await reachedBy(second);
    expect(secondPid).not.toBe(firstPid);
    expect(hostsOf(home)).toEqual([secondPid]);
    // What the killed one left lies in nobody's way.
    expect(readdirSync(join(home, 'run'))).toHaveLength(1);
    for (const sessionId of [running, asking])
      await second.call('session/load', { sessionId, cwd: folder, mcpServers: [] });
    await isThere(join(folder, 'a.txt'));
    const page = await second.call('_pilothouse/history/page', { sessionId: running, limit: 100 });
    expect(JSON.stringify(page)).toContain('outcome_unknown');
    expect(existsSync(join(folder, 'end'))).toBe(false);
  });

  it('while it starts is replaced by another try of the same door', async () => {
    const home = tempFolder('home');
    const client = startDoor(home, { env: INSTANT });
    const reached = reachedBy(client);
    await eventually(() => hostsOf(home).length > 0, 'a host');
    const [first = 0] = hostsOf(home);
    process.kill(first, 'SIGKILL');
    const pid = await reached;
    expect(pid).not.toBe(first);
    expect(hostsOf(home)).toEqual([pid]);
  });
});

describe('a door that is killed', () => {
  it('takes nothing with it: the turn goes on, and the next client sees how it ended', async () => {
    const home = tempFolder('home');
    const folder = tempFolder('work');
    const first = answering(startDoor(home, { env: INSTANT }), 'allow_once');
    const hostPid = await reachedBy(first);
    const sessionId = await first.newSession(folder);
    await first.call('session/set_mode', { sessionId, modeId: 'code' });
    first.prompt(sessionId, `${SLOW}\nfinish with all done`).catch(() => undefined);
    const tool = await pidFrom(join(folder, 'begun'));
    first.kill();
    await eventually(() => hostStatus(home).clients === 0, 'the end of the client');
    expect(isAlive(tool)).toBe(true);
    const second = startDoor(home, { env: INSTANT });
    expect(await reachedBy(second)).toBe(hostPid);
    await second.call('session/load', { sessionId, cwd: folder, mcpServers: [] });
    writeFileSync(join(folder, 'go'), '');
    await second.waitForUpdate(
      ({ update }) =>
        update.sessionUpdate === 'agent_message_chunk' && JSON.stringify(update).includes('done'),
      'the end of the turn',
    );
    expect(second.textOf(sessionId)).toContain('all done');
  });
});

describe('a host that was started by hand', () => {
  it('says nothing to a descriptor that nobody gave it, and is found like any other', async () => {
    const { spawn } = await import('node:child_process');
    const { AGENT_CORE } = await import('../../support/agent-core/agent-core.ts');
    const home = tempFolder('home');
    const child = spawn(process.execPath, [AGENT_CORE, 'host', '--run'], {
      env: { ...process.env, PILOTHOUSE_HOME: home },
      stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    });
    onTestFinished(() => {
      child.kill('SIGKILL');
    });
    let said = '';
    child.stdio[3]?.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
    await isThere(endpointFile(home));
    expect(await reachedBy(startDoor(home))).toBe(child.pid);
    child.kill('SIGTERM');
    await gone(endpointOf(home).pid);
    expect(said).toBe('');
    expect(existsSync(endpointFile(home))).toBe(false);
  });
});
