import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import type { ControlEvent } from '../../../src/core/session/control-events.ts';
import type { HistoryEvent } from '../../../src/core/session/events.ts';
import type { SessionId } from '../../../src/core/session/words.ts';
import type { AcpTestClient } from '../../support/acp-client/client.ts';
import {
  answering,
  eventually,
  isAlive,
  pidFrom,
  startAgentCore,
  tempFolder,
} from '../../support/agent-core/agent-core.ts';
import { openTestJournal } from '../../support/journal/open.ts';

/** Ignores what asks it to end. */
const STUBBORN = "trap '' TERM INT HUP; echo $$ > pid.txt; while :; do sleep 0.2; done";

/** Neither the end of its input nor a signal ends it, and it answers nothing. */
const WEDGED_SERVER = `
process.on('SIGTERM', () => {});
process.stdin.on('error', () => {}).resume();
require('node:fs').writeFileSync(process.argv[2], String(process.pid));
setInterval(() => {}, 1000);
`;

async function aSession(mcpServers: readonly object[] = []) {
  const home = tempFolder('home');
  const folder = tempFolder('work');
  const client = answering(startAgentCore(home), 'allow_once');
  await client.initialize();
  const { sessionId } = await client.call('session/new', { cwd: folder, mcpServers });
  await client.call('session/set_mode', { sessionId, modeId: 'code' });
  return { home, folder, client, sessionId: String(sessionId) };
}

function signal(client: AcpTestClient, name: NodeJS.Signals): void {
  if (client.pid === undefined) throw new Error('No process');
  process.kill(client.pid, name);
}

/** What is left of a session when its process is gone; the data folder's lock is free, or this throws. */
async function leftOf(home: string, sessionId: string) {
  const journal = await openTestJournal(home);
  try {
    const id = sessionId as SessionId;
    const all = { limit: 10_000 };
    const history = (await journal.readHistory(id, all)).map(({ event }) => event);
    const control = (await journal.readControl(id, all)).map(({ event }) => event);
    return { history, control, ends: endsOf(control), turn: history.findLast(isTurnEnd) };
  } finally {
    await journal.close();
  }
}

function isTurnEnd(event: HistoryEvent): event is Extract<HistoryEvent, { type: 'turn_ended' }> {
  return event.type === 'turn_ended';
}

/** The commands and records of the end, in order. */
function endsOf(control: readonly ControlEvent[]): readonly string[] {
  return control.flatMap((event) => {
    if (event.type === 'session_closed') return [event.type];
    return event.type === 'command_issued' && event.command.type === 'shutdown' ? ['shutdown'] : [];
  });
}

describe('the end of agent-core', () => {
  it('ends a command that ignores its signals, seals the turn and records the shutdown once', async () => {
    const { home, folder, client, sessionId } = await aSession();
    const turn = client.prompt(sessionId, `run ${STUBBORN}`).catch(() => undefined);
    const pid = await pidFrom(join(folder, 'pid.txt'));
    expect((await client.close()).code).toBe(0);
    await turn;
    expect(isAlive(pid)).toBe(false);
    const left = await leftOf(home, sessionId);
    expect(left.ends).toEqual(['shutdown', 'session_closed']);
    expect(left.turn).toMatchObject({ terminal: { kind: 'policy_stop' } });
  });

  it('ends background processes that ignore their signals', async () => {
    const { home, folder, client, sessionId } = await aSession();
    await client.prompt(sessionId, `start ${STUBBORN}`);
    const pid = await pidFrom(join(folder, 'pid.txt'));
    expect((await client.close()).code).toBe(0);
    expect(isAlive(pid)).toBe(false);
    const { history, ends } = await leftOf(home, sessionId);
    expect(ends).toEqual(['shutdown', 'session_closed']);
    expect(history.findLast(({ type }) => type === 'process_ended')).toMatchObject({
      state: 'stopped',
    });
  });

  it('ends an MCP server that neither answers nor ends', async () => {
    const place = tempFolder('server');
    writeFileSync(join(place, 'server.cjs'), WEDGED_SERVER);
    const server = {
      name: 'wedged',
      command: process.execPath,
      args: [join(place, 'server.cjs'), join(place, 'pid.txt')],
      env: [],
    };
    const { home, client, sessionId } = await aSession([server]);
    const pid = await pidFrom(join(place, 'pid.txt'));
    expect((await client.close()).code).toBe(0);
    expect(isAlive(pid)).toBe(false);
    expect((await leftOf(home, sessionId)).ends).toEqual(['shutdown', 'session_closed']);
  });

  it('is whole on SIGTERM in the middle of a turn, and asking twice does not cut it', async () => {
    const { home, folder, client, sessionId } = await aSession();
    const turn = client.prompt(sessionId, `run ${STUBBORN}`).catch(() => undefined);
    const pid = await pidFrom(join(folder, 'pid.txt'));
    signal(client, 'SIGTERM');
    // The command takes a while to be ended, so the second one comes in the middle.
    signal(client, 'SIGTERM');
    signal(client, 'SIGINT');
    expect(await client.exited).toMatchObject({ code: 0, signal: null });
    await turn;
    expect(isAlive(pid)).toBe(false);
    const left = await leftOf(home, sessionId);
    expect(left.ends).toEqual(['shutdown', 'session_closed']);
    expect(left.turn).toMatchObject({ stopReason: 'cancelled' });
  });

  it('comes by itself where the input ends during the start', async () => {
    const home = tempFolder('home');
    const client = startAgentCore(home);
    client.endInput();
    expect((await client.exited).code).toBe(0);
    const next = startAgentCore(home);
    expect(await next.initialize()).toMatchObject({ protocolVersion: 1 });
  });

  it('leaves a disk behind that takes nothing, names the phase, and frees the data folder', async () => {
    const { home, client, sessionId } = await aSession();
    // Another program holds the database: every commit waits, as on a disk that hangs.
    const other = new DatabaseSync(join(home, 'sessions.db'), { timeout: 5_000 });
    other.exec('BEGIN IMMEDIATE');
    const turn = client.prompt(sessionId, 'say hello').catch(() => undefined);
    await client.close();
    await turn;
    const log = readFileSync(join(home, 'log', 'agent-core.log'), 'utf8');
    expect(log).toContain('host.shutdown_timeout');
    expect(log).toContain('"phase":"loop_drain"');
    other.exec('ROLLBACK');
    other.close();
    const next = startAgentCore(home);
    await next.initialize();
    expect(await next.call('session/list')).toMatchObject({ sessions: [{ sessionId }] });
  });

  it('lets the next process in at once', async () => {
    const { home, folder, client, sessionId } = await aSession();
    void client.prompt(sessionId, `run ${STUBBORN}`).catch(() => undefined);
    await pidFrom(join(folder, 'pid.txt'));
    client.endInput();
    const next = startAgentCore(home);
    expect(await next.initialize()).toMatchObject({ protocolVersion: 1 });
    await eventually(() => client.pid === undefined || !isAlive(client.pid), 'the first one ends');
  });
});
