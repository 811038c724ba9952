import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isObject } from '../../../src/base/json.ts';
import type { McpServer } from '../../../src/protocol/acp.ts';
import type { AcpTestClient } from '../../support/acp-client/client.ts';
import { connectAcpClient } from '../../support/acp-client/connect.ts';
import { streamableHttp } from '../../support/mcp-server/http.ts';
import { FakeAuthorization } from '../../support/mcp-server/oauth.ts';
import { browse, McpRig, stdioServer } from '../../support/mcp-server/rig.ts';
import { WebServer } from '../../support/mcp-server/web-server.ts';

const AGENT_CORE = fileURLToPath(new URL('../../../dist/agent-core.mjs', import.meta.url));

let rig: McpRig;
let client: AcpTestClient;

beforeEach(async () => {
  rig = await McpRig.open();
  client = connectAcpClient({
    spawn: {
      command: process.execPath,
      args: [AGENT_CORE, '--in-process'],
      env: { ...process.env, PILOTHOUSE_HOME: rig.path('home') },
    },
  });
});
afterEach(async () => {
  await client.close();
  await rig.close();
});

async function newSession(...mcpServers: McpServer[]): Promise<string> {
  const { sessionId } = await client.call('session/new', { cwd: rig.folder, mcpServers });
  return String(sessionId);
}

function allowEverything(): void {
  client.onRequest('session/request_permission', () => ({
    outcome: { outcome: 'selected', optionId: 'allow_once' },
  }));
}

/** The newest state of the call of a tool, over all its updates. */
function callOf(tool: string): { status?: unknown; text: string } {
  const updates = client.updates.map(({ update }) => update as Record<string, unknown>);
  const ids = updates.filter(({ name }) => name === tool).map(({ toolCallId }) => toolCallId);
  const own = updates.filter(({ toolCallId }) => ids.includes(toolCallId));
  const { status, content } = Object.assign({}, ...own) as Record<string, unknown>;
  return { status, text: JSON.stringify(content ?? null) };
}

/** Runs turns until the tool is there: a server may need longer to start than a turn waits for it. */
async function promptWith(sessionId: string, tool: string, text: string): Promise<unknown> {
  for (;;) {
    const { stopReason } = await client.prompt(sessionId, text);
    if (callOf(tool).status !== undefined) return stopReason;
  }
}

async function untilDead(pid: number): Promise<void> {
  for (;;) {
    try {
      process.kill(pid, 0);
    } catch {
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

function pidIn(name: string): number {
  return Number(readFileSync(rig.path(name), 'utf8'));
}

describe('agent-core with an MCP server', () => {
  it('runs its tool when the person allows it, and not when they refuse', async () => {
    await client.initialize();
    const sessionId = await newSession(stdioServer('x'));
    const asked: unknown[] = [];
    let optionId = 'allow_once';
    client.onRequest('session/request_permission', ({ toolCall }) => {
      asked.push(isObject(toolCall) ? toolCall['title'] : toolCall);
      return { outcome: { outcome: 'selected', optionId } };
    });
    const path = rig.path('a.txt');
    const script = `call mcp__x__write_file with ${JSON.stringify({ path, text: 'from afar' })}`;
    expect(await promptWith(sessionId, 'mcp__x__write_file', script)).toBe('end_turn');
    expect(asked).toEqual([`x: write_file ${JSON.stringify({ path, text: 'from afar' })}`]);
    expect(callOf('mcp__x__write_file')).toMatchObject({ status: 'completed' });
    expect(readFileSync(path, 'utf8')).toBe('from afar');
    optionId = 'reject_once';
    const other = rig.path('b.txt');
    await client.prompt(sessionId, script.replaceAll(path, other));
    expect(asked).toHaveLength(2);
    expect(existsSync(other)).toBe(false);
  });

  it('answers session/new before the server is there, and works without it while it hangs', async () => {
    await client.initialize();
    const sessionId = await newSession(stdioServer('x', ['--hang']));
    const { stopReason } = await client.prompt(sessionId, 'say still here');
    expect(stopReason).toBe('end_turn');
    expect(client.textOf(sessionId)).toContain('still here');
  });

  it('stops a call with its process, and leaves no trace of it', async () => {
    await client.initialize();
    allowEverything();
    const sessionId = await newSession(stdioServer('x', ['--pid', rig.path('pid')]));
    await promptWith(sessionId, 'mcp__x__echo', 'call mcp__x__echo with {"text":"hi"}');
    const pid = pidIn('pid');
    const input = JSON.stringify({ ms: 1_000, path: rig.path('out') });
    const prompt = client.prompt(sessionId, `call mcp__x__slow with ${input}\nfinish with done`);
    await client.waitForUpdate(({ update }) => JSON.stringify(update).includes('half way'));
    client.notify('session/cancel', { sessionId });
    expect((await prompt)['stopReason']).toBe('cancelled');
    await untilDead(pid);
    await promptWith(sessionId, 'mcp__x__echo', 'call mcp__x__echo with {"text":"again"}');
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    expect(existsSync(rig.path('out.begun'))).toBe(true);
    expect(existsSync(rig.path('out'))).toBe(false);
  });

  it('tells of a server that died, and the turn goes on', async () => {
    await client.initialize({ session: { notices: {} } });
    allowEverything();
    const sessionId = await newSession(stdioServer('x'));
    await promptWith(sessionId, 'mcp__x__echo', 'call mcp__x__echo with {"text":"hi"}');
    const script = 'call mcp__x__exit with {}\nfinish with went on';
    expect((await client.prompt(sessionId, script))['stopReason']).toBe('end_turn');
    expect(callOf('mcp__x__exit')).toMatchObject({ status: 'failed' });
    expect(client.textOf(sessionId)).toContain('went on');
    const { update } = await client.waitForUpdate((entry) =>
      JSON.stringify(entry.update).includes('MCP server x was lost'),
    );
    expect(update).toMatchObject({ sessionUpdate: 'notice', severity: 'warning' });
  });

  it('takes the servers of a later load instead of the first ones', async () => {
    await client.initialize();
    allowEverything();
    const sessionId = await newSession(stdioServer('x', ['--pid', rig.path('pid')]));
    await promptWith(sessionId, 'mcp__x__echo', 'call mcp__x__echo with {"text":"hi"}');
    const load = { sessionId, cwd: rig.folder, mcpServers: [stdioServer('y')] };
    await client.call('session/load', load);
    await untilDead(pidIn('pid'));
    await promptWith(sessionId, 'mcp__y__echo', 'call mcp__y__echo with {"text":"you"}');
    expect(callOf('mcp__y__echo').text).toContain('echo: you');
  });

  it('takes servers and all they started with it when its input ends', async () => {
    await client.initialize();
    allowEverything();
    const args = ['--pid', rig.path('pid'), '--child', rig.path('child')];
    const sessionId = await newSession(
      stdioServer('x', args),
      stdioServer('h', ['--hang', '--pid', rig.path('h')]),
    );
    await promptWith(sessionId, 'mcp__x__echo', 'call mcp__x__echo with {"text":"hi"}');
    const pids = ['pid', 'child', 'h'].map(pidIn);
    expect(await client.close()).toMatchObject({ code: 0 });
    await Promise.all(pids.map(untilDead));
  });
});

describe('agent-core with an MCP server that wants a login', () => {
  it('asks the client to open the page, goes on by itself, and keeps the token to itself', async () => {
    const authorization = new FakeAuthorization(streamableHttp());
    const web = await WebServer.open(authorization.handler);
    await client.initialize({ elicitation: { form: {}, url: {} } });
    allowEverything();
    client.onRequest('elicitation/create', async ({ mode, url }) => {
      if (mode === 'url') await browse(String(url));
      return { action: 'accept' };
    });
    const sessionId = await newSession({
      type: 'http',
      name: 'far',
      url: `${web.origin}/mcp`,
      headers: [],
    });
    const script = 'call mcp__far__echo with {"text":"hi"}';
    expect(await promptWith(sessionId, 'mcp__far__echo', script)).toBe('end_turn');
    expect(callOf('mcp__far__echo').text).toContain('echo: hi');
    expect(client.calls('elicitation/create')).toHaveLength(1);
    expect(client.calls('elicitation/complete')).toHaveLength(1);
    await client.close();
    const home = rig.path('home');
    const files = readdirSync(home, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => `${entry.parentPath}/${entry.name}`);
    const holding = files.filter((file) => {
      const content = readFileSync(file, 'latin1');
      return authorization.issued.some((token) => content.includes(token));
    });
    expect(holding).toEqual([`${home}/mcp-logins.json`]);
    expect(client.stderr).not.toContain(authorization.issued[0]);
    await web.close();
  });
});
