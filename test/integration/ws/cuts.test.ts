import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isObject } from '../../../src/base/json.ts';
import { tempFolder } from '../../support/agent-core/agent-core.ts';
import { randomFrom } from '../../support/random.ts';
import { CursorClient } from '../../support/ws/cursor-client.ts';
import { type CuttingProxy, startCuttingProxy } from '../../support/ws/cutting-proxy.ts';
import { connectSocket } from '../../support/ws/socket-client.ts';
import { startDoorHere } from '../../support/ws/start-door.ts';

const CUTS = 30;
const SCRIPT = [
  'write a.txt: one',
  'count slowly from 1 to 30',
  'write b.txt: two',
  'count slowly from 31 to 60',
  'write c.txt: three',
  'finish with all of it is there',
].join('\n');

/** What only who watches is told: a client has its own prompt, and the commands since it made the session. */
const WATCHER_ONLY = ['user_message_chunk', 'available_commands_update'];

/** What an update tells and of which event, without what depends on how it came. */
function told(message: Readonly<Record<string, unknown>>): string | null {
  const params = isObject(message['params']) ? message['params'] : {};
  const update = isObject(params['update']) ? params['update'] : {};
  if (message['method'] !== 'session/update') return null;
  if (WATCHER_ONLY.includes(String(update['sessionUpdate']))) return null;
  const meta = isObject(params['_meta']) ? params['_meta']['harn'] : {};
  const { eventId, offset } = isObject(meta) ? meta : {};
  return JSON.stringify([eventId, offset, update]);
}

/** Cuts each connection somewhere in its next few thousand bytes; every third one is left half open. */
function cutOften(proxy: CuttingProxy, seed: number): void {
  const random = randomFrom(seed);
  proxy.plan(() => {
    if (proxy.cuts >= CUTS) return null;
    return {
      bytes: 200 + Math.floor(random() * 9_000),
      cut: random() < 0.3 ? 'half_open' : 'drop',
    };
  });
}

describe('a connection that is cut', () => {
  it(`loses nothing and tells nothing twice, ${CUTS} times`, { timeout: 120_000 }, async () => {
    const home = tempFolder('ws');
    const cwd = tempFolder('ws-cwd');
    const door = await startDoorHere(home, { beat: { pingMs: 100, pongMs: 300 } });
    const proxy = await startCuttingProxy(door.port);
    const { token } = door;
    const url = `ws://127.0.0.1:${proxy.port}/acp`;
    const client = new CursorClient({ url, token, cwd, silenceMs: 500 });
    onTestFinished(() => client.close());
    const sessionId = await client.start();
    const whole = await connectSocket(door.url, token);
    await whole.acp.initialize();
    const actor = { _meta: { harn: { actor: { role: 'observer' } } } };
    await whole.acp.call('session/load', { sessionId, cwd, mcpServers: [], ...actor });

    cutOften(proxy, 20_261);
    proxy.cutAll('drop');
    const prompt = [{ type: 'text', text: SCRIPT }];
    await waitUntil(() => client.returns > 0 || client.lost > 0);
    const { stopReason } = await client.call('session/prompt', { sessionId, prompt });
    expect(stopReason).toBe('end_turn');
    await whole.acp.waitFor(({ text }) => text.includes('is there'));

    expect(proxy.cuts).toBeGreaterThanOrEqual(CUTS);
    expect(client.lost).toBe(0);
    expect(client.twice).toEqual([]);
    const got = [...client.frames].sort(([a], [b]) => a - b);
    const tellings = got.map(([, message]) => told(message)).filter((each) => each !== null);
    expect(new Set(tellings).size).toBe(tellings.length);
    const seen = whole.acp.frames.map(({ message }) => told(message ?? {}));
    const expected = seen.filter((each) => each !== null);
    expect(tellings).toEqual(expected);
    expect(expected.length).toBeGreaterThan(60);
    for (const [file, text] of [
      ['a.txt', 'one'],
      ['b.txt', 'two'],
      ['c.txt', 'three'],
    ] as const)
      expect(readFileSync(join(cwd, file), 'utf8')).toContain(text);
  });
});

async function waitUntil(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 10));
}
