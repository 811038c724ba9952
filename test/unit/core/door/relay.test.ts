import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Writable } from 'node:stream';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import { openDoor } from '../../../../src/core/door/relay.ts';
import { createFramePair, type Frame } from '../../../../src/protocol/transport/frame-port.ts';
import type { AcpTestClient } from '../../../support/acp-client/client.ts';
import { connectAcpClient } from '../../../support/acp-client/connect.ts';
import { connectFake } from '../../../support/fake-host/connect-fake.ts';

const AGENT = fileURLToPath(new URL('../../../support/fake-host/agent.ts', import.meta.url));
const started: AcpTestClient[] = [];

function startAgent(): AcpTestClient {
  const client = connectAcpClient({ spawn: { command: process.execPath, args: [AGENT] } });
  started.push(client);
  return client;
}

afterEach(() => {
  for (const client of started.splice(0)) client.kill();
});

const silent = { debug: ignore, info: ignore, warn: ignore, error: ignore };
function ignore(): void {
  // What is logged is no part of these tests.
}

describe('the door', () => {
  test('holds the host back while the client does not read, and the client while the host does not', async () => {
    const [door, host] = createFramePair();
    const input = new PassThrough({ highWaterMark: 100 });
    const output = new PassThrough({ highWaterMark: 100 });
    const received: Frame[] = [];
    let mayTake = false;
    let drained = 0;
    host.start({
      frame: (frame) => {
        received.push(frame);
        return mayTake;
      },
      drained: () => (drained += 1),
      ended: ignore,
    });
    const closed = openDoor({ input, output, host: door, log: silent });
    expect(host.send('x'.repeat(200))).toBe(false);
    expect(drained).toBe(0);
    output.resume();
    await once(output, 'data');
    await new Promise((resolve) => setImmediate(resolve));
    expect(drained).toBe(1);
    input.write('a\nb\nc\n');
    await new Promise((resolve) => setImmediate(resolve));
    expect(received).toEqual(['a']);
    mayTake = true;
    host.ready();
    await new Promise((resolve) => setImmediate(resolve));
    expect(received).toEqual(['a', 'b', 'c']);
    input.end('last');
    await new Promise((resolve) => setImmediate(resolve));
    expect(received.at(-1)).toBe('last');
    host.end();
    await closed;
    expect(output.writableFinished).toBe(true);
  });

  test('a client that closes its output ends the connection without an error', async () => {
    const { client, stdout, doorClosed, server, host, logged } = connectFake();
    await client.initialize();
    stdout.destroy(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
    await doorClosed;
    await server.done;
    expect(host.gone).toHaveLength(1);
    expect(logged.filter(({ level }) => level === 'error')).toEqual([]);
  });

  test('a client that reads late gets all text in fewer frames', async () => {
    const { client, stdout, host, stdin } = connectFake({ highWaterMark: 1024 });
    await client.initialize();
    const sessionId = await client.newSession('/tmp');
    host.script = async ({ say }) => {
      for (let index = 0; index < 5000; index += 1) say(`${index} `);
      return 'end_turn';
    };
    stdout.pause();
    const prompt = client.prompt(sessionId, 'flood');
    await new Promise((resolve) => setTimeout(resolve, 50));
    stdout.resume();
    await prompt;
    expect(client.textOf(sessionId)).toBe(
      Array.from({ length: 5000 }, (_, index) => `${index} `).join(''),
    );
    expect(client.updates.length).toBeLessThan(500);
    stdin.end();
  });
});

describe('a process behind the door', () => {
  test('answers piped requests and exits when they end', () => {
    const lines =
      '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}\n{"jsonrpc":"2.0","id":2,"method":"session/list","params":{}}';
    const output = execFileSync(process.execPath, [AGENT], {
      input: lines,
      encoding: 'utf8',
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    expect(
      output
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { id: number }).id),
    ).toEqual([1, 2]);
  });

  test('writes nothing but messages to stdout, one a line', async () => {
    const client = startAgent();
    client.sendRaw('junk\n');
    await client.initialize();
    await client.prompt(await client.newSession('/tmp'), 'hi');
    expect(client.frames.every(({ message }) => message?.['jsonrpc'] === '2.0')).toBe(true);
    expect(await client.close()).toEqual({ code: 0, signal: null });
  });

  test('exits within two seconds of the end of input although a turn runs', async () => {
    const client = startAgent();
    await client.initialize();
    const prompt = client.prompt(await client.newSession('/tmp'), 'count slowly');
    await client.waitForUpdate(({ update }) => update.sessionUpdate === 'agent_message_chunk');
    const before = performance.now();
    const exit = client.close();
    expect(await prompt).toMatchObject({ stopReason: 'cancelled' });
    expect((await exit).code).toBe(0);
    expect(performance.now() - before).toBeLessThan(2000);
  });

  test('exits quietly when the reader of its output is gone', async () => {
    const child = spawn(process.execPath, [AGENT], { stdio: ['pipe', 'pipe', 'pipe'] });
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    child.stdin.on('error', ignore);
    child.stdin.write(
      '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}\n',
    );
    await once(child.stdout, 'data');
    child.stdout.destroy();
    child.stdin.write('{"jsonrpc":"2.0","id":2,"method":"session/list","params":{}}\n'.repeat(100));
    const [code] = (await once(child, 'close')) as [number];
    expect(code).toBe(0);
    expect(stderr).not.toContain('"error"');
    expect(stderr).not.toContain('Unhandled');
  });

  test('Stop works while the client does not read', async () => {
    const client = startAgent();
    await client.initialize();
    const sessionId = await client.newSession('/tmp');
    const prompt = client.prompt(sessionId, 'flood 50000');
    await client.waitForUpdate(({ update }) => update.sessionUpdate === 'agent_message_chunk');
    client.pauseReading();
    client.notify('session/cancel', { sessionId });
    await client.waitForLog('session/cancel was read');
    client.resumeReading();
    expect(await prompt).toMatchObject({ stopReason: 'cancelled' });
    expect(client.textOf(sessionId).length).toBeLessThan(50_000_000);
  });

  test('a client that never reads is cut off before memory runs out', {
    timeout: 60_000,
  }, async () => {
    const child = spawn(process.execPath, [AGENT], { stdio: ['pipe', 'pipe', 'pipe'] });
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    child.stdin.on('error', ignore);
    const send = (message: object): boolean =>
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    send({ id: 1, method: 'initialize', params: { protocolVersion: 1 } });
    await once(child.stdout, 'data');
    child.stdout.pause();
    const exited = once(child, 'exit');
    let peak = 0;
    const watch = setInterval(() => {
      peak = Math.max(peak, residentMiB(child.pid));
    }, 20);
    // Updates of a session can be read again and do not pile up; answers can't, and these name what was asked.
    const asked = 'x'.repeat(100_000);
    for (let id = 2; id < 1_500 && child.exitCode === null; id += 1)
      if (!send({ id, method: asked })) await Promise.race([drained(child.stdin), exited]);
    await exited;
    clearInterval(watch);
    child.stdout.destroy();
    expect(stderr).toContain('does not read what it is sent');
    expect(peak).toBeLessThan(600);
  });
});

/** Resolves when more can be written; a broken pipe is no error here. */
function drained(stream: Writable): Promise<void> {
  return new Promise((resolve) => stream.once('drain', resolve));
}

function residentMiB(pid: number | undefined): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
  } catch (error) {
    if (error instanceof Error && 'code' in error) return 0;
    throw error;
  }
}
