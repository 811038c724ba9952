import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Deferred } from '../../../src/base/deferred.ts';
import { isObject } from '../../../src/base/json.ts';
import type { AcpTestClient } from '../../support/acp-client/client.ts';
import {
  answering,
  eventually,
  hostStatus,
  startDoor,
  stopHost,
  tempFolder,
} from '../../support/agent-core/agent-core.ts';
import { INSTANT, KNOWS_CONTROL } from '../../support/agent-core/control-client.ts';

type Place = { readonly home: string; readonly folder: string };

function aPlace(): Place {
  return { home: tempFolder('home'), folder: tempFolder('work') };
}

/** A door of its own process, as a window has one. */
async function aWindow({ home }: Place, name: string, capabilities: object = {}) {
  const client = startDoor(home, { env: INSTANT });
  const clientInfo = { name, title: name, version: '1' };
  await client.initialize({ ...KNOWS_CONTROL, ...capabilities }, { clientInfo });
  return client;
}

function load(client: AcpTestClient, sessionId: string, { folder }: Place): Promise<unknown> {
  return client.call('session/load', { sessionId, cwd: folder, mcpServers: [] });
}

function promptOf(text: string): object[] {
  return [{ type: 'text', text }];
}

/** Sends a prompt whose answer may never come. */
function send(client: AcpTestClient, sessionId: string, text: string): void {
  client.call('session/prompt', { sessionId, prompt: promptOf(text) }).catch(() => undefined);
}

async function asked(client: AcpTestClient, method = 'session/request_permission') {
  const { message } = await client.waitFor((frame) => frame.message?.['method'] === method, method);
  const params = message?.['params'];
  return isObject(params) ? params : {};
}

type Line = { eventId: number; at: string; updates: readonly Record<string, unknown>[] };

/** The history as it stands, with its proof. */
async function historyOf(client: AcpTestClient, sessionId: string) {
  const page = await client.call('_pilothouse/history/page', { sessionId, after: 0, limit: 1_000 });
  const entries = page['entries'] as readonly Line[];
  const verified = await client.call('_pilothouse/history/verify', { sessionId });
  const { prefixHash } = await client.call('_pilothouse/history/hash_at', {
    sessionId,
    eventId: page['lastEventId'],
  });
  return { ids: entries.map(({ eventId }) => eventId), entries, verified, prefixHash };
}

/** What was said in a session, by whom, each message once. */
function said(entries: readonly Line[]): readonly string[] {
  const messages = new Map<string, string>();
  for (const { sessionUpdate, messageId, content } of entries.flatMap(({ updates }) => updates)) {
    if (!String(sessionUpdate).endsWith('message_chunk') || !isObject(content)) continue;
    const key = `${String(sessionUpdate).split('_')[0]} ${String(messageId)}`;
    messages.set(key, `${messages.get(key) ?? ''}${String(content['text'])}`);
  }
  return [...messages].map(([key, text]) => `${key.split(' ')[0]}: ${text}`);
}

/** Live updates of a session as they came: what they are and where they belong. */
function marks(client: AcpTestClient, sessionId: string): readonly string[] {
  return client.updates
    .filter((entry) => entry.sessionId === sessionId && entry.mark?.replayed === false)
    .filter(({ update }) => /message_chunk|tool_call/.test(update.sessionUpdate))
    .map(({ update, mark }) => `${update.sessionUpdate} ${mark?.eventId}/${mark?.offset ?? ''}`);
}

describe('a session whose window is killed', () => {
  it('goes on with its turn and the prompts behind it; the next window finds it all, once', async () => {
    const place = aPlace();
    const first = await aWindow(place, 'first');
    const sessionId = await first.newSession(place.folder);
    await first.call('session/set_mode', { sessionId, modeId: 'code' });
    const go = join(place.folder, 'go');
    const hold = `run until [ -e '${go}' ]; do sleep 0.05; done`;
    send(first, sessionId, `say one\n${hold}\nwrite a.txt: written alone\nfinish with two`);
    send(first, sessionId, 'write b.txt: and this\nfinish with three');
    await first.waitForUpdate(({ update }) => update.sessionUpdate === 'tool_call');
    first.kill();
    await first.exited;
    await eventually(() => hostStatus(place.home).clients === 0, 'nobody there');
    expect(existsSync(join(place.folder, 'a.txt'))).toBe(false);

    writeFileSync(go, '');
    await eventually(() => existsSync(join(place.folder, 'b.txt')), 'the second turn');
    expect(readFileSync(join(place.folder, 'a.txt'), 'utf8')).toBe('written alone');
    const second = await aWindow(place, 'second');
    await load(second, sessionId, place);
    await eventually(() => second.textOf(sessionId).endsWith('three'), 'the end');
    const { ids, entries, verified } = await historyOf(second, sessionId);
    expect(ids).toEqual(ids.map((_, index) => index + 1));
    expect(verified).toMatchObject({ ok: true });
    expect(said(entries).filter((line) => line.startsWith('agent'))).toEqual([
      'agent: one',
      'agent: two',
      'agent: three',
    ]);
    expect(hostStatus(place.home)).toMatchObject({ sessions: 1, clients: 1 });
  });

  it('keeps its open approval for the next window: the same turn, asked again, answered once', async () => {
    const place = aPlace();
    const first = await aWindow(place, 'first');
    first.onRequest('session/request_permission', () => undefined);
    const sessionId = await first.newSession(place.folder);
    send(first, sessionId, 'write a.txt: allowed\nfinish with done');
    const question = await asked(first);
    const before = await historyOf(first, sessionId);
    first.kill();
    await first.exited;

    const second = answering(await aWindow(place, 'second'), 'allow_once');
    await load(second, sessionId, place);
    const again = await asked(second);
    expect(again).toEqual(question);
    await eventually(() => second.textOf(sessionId).includes('done'), 'the end');
    const after = await historyOf(second, sessionId);
    expect(after.entries.slice(0, before.ids.length)).toEqual(before.entries);
    expect(after.ids).toEqual(after.ids.map((_, index) => index + 1));
    expect(after.verified).toMatchObject({ ok: true });
    expect(second.calls('session/request_permission')).toHaveLength(1);
    expect(readFileSync(join(place.folder, 'a.txt'), 'utf8')).toBe('allowed');
  });

  it('stands at its question when the host is stopped, for the host that comes next', async () => {
    const place = aPlace();
    const first = await aWindow(place, 'first');
    first.onRequest('session/request_permission', () => undefined);
    const sessionId = await first.newSession(place.folder);
    send(first, sessionId, 'write a.txt: allowed\nfinish with done');
    const { toolCall } = await asked(first);
    const { pid } = hostStatus(place.home);
    stopHost(place.home);
    await first.exited;

    const second = answering(await aWindow(place, 'second'), 'allow_once');
    expect(hostStatus(place.home).pid).not.toBe(pid);
    await load(second, sessionId, place);
    expect((await asked(second))['toolCall']).toEqual(toolCall);
    await eventually(() => second.textOf(sessionId).includes('done'), 'the end');
    expect(readFileSync(join(place.folder, 'a.txt'), 'utf8')).toBe('allowed');
    const { entries, verified } = await historyOf(second, sessionId);
    expect(verified).toMatchObject({ ok: true });
    expect(said(entries).filter((line) => line.startsWith('user'))).toHaveLength(1);
  });

  it('stops where that window wanted it to', async () => {
    const place = aPlace();
    const wants = { _meta: { harn: {}, pilothouse: { version: 1, onDetach: 'stop' } } };
    const first = await aWindow(place, 'first', wants);
    const sessionId = await first.newSession(place.folder);
    await first.call('session/set_mode', { sessionId, modeId: 'code' });
    send(first, sessionId, 'say one\nrun sleep 60\nwrite a.txt: never\nfinish with two');
    await first.waitForUpdate(({ update }) => update.sessionUpdate === 'tool_call');
    first.kill();
    await first.exited;
    await eventually(() => hostStatus(place.home).sessions === 0, 'the end of the session');
    const second = await aWindow(place, 'second');
    await load(second, sessionId, place);
    const view = await second.call('harn.session_view.query', { sessionId });
    expect(view).toMatchObject({
      runs: [{ run: { status: 'stopped' } }],
      task: {
        state: 'cancelled',
        message: { parts: [{ text: expect.stringContaining('client') }] },
      },
    });
    expect(existsSync(join(place.folder, 'a.txt'))).toBe(false);
  });
});

describe('a session in two windows', () => {
  async function two(capabilities: object = {}) {
    const place = aPlace();
    const first = await aWindow(place, 'first', capabilities);
    const sessionId = await first.newSession(place.folder);
    const second = await aWindow(place, 'second', capabilities);
    await load(second, sessionId, place);
    return { place, first, second, sessionId };
  }

  it('tells both every event once and in the same order, whoever sent the prompt', async () => {
    const { first, second, sessionId } = await two({
      _meta: { harn: {}, pilothouse: { version: 1, echoPrompts: true } },
    });
    await first.call('session/set_mode', { sessionId, modeId: 'code' });
    await first.prompt(sessionId, 'say of the first\nwrite a.txt: x\nfinish with first done');
    await second.prompt(sessionId, 'say of the second\nread a.txt\nfinish with second done');
    await first.prompt(sessionId, 'finish with over');
    await eventually(() => second.textOf(sessionId).endsWith('over'), 'the end in the second');
    expect(marks(first, sessionId).length).toBeGreaterThan(10);
    expect(marks(second, sessionId)).toEqual(marks(first, sessionId));
    expect(new Set(marks(first, sessionId)).size).toBe(marks(first, sessionId).length);
    expect(second.textOf(sessionId, 'user_message_chunk')).toContain('of the first');
    expect(first.textOf(sessionId, 'user_message_chunk')).toContain('of the second');
  });

  it('never forks: prompts sent at once by both are turns one after another', async () => {
    const { first, second, sessionId, place } = await two();
    const outcomes = await Promise.all(
      [0, 1, 2, 3].flatMap((index) => [
        first.prompt(sessionId, `say first ${index}\nfinish with f${index}`),
        second.prompt(sessionId, `say second ${index}\nfinish with s${index}`),
      ]),
    );
    expect(outcomes.map(({ stopReason }) => stopReason)).toEqual(Array(8).fill('end_turn'));
    const [of, by] = [await historyOf(first, sessionId), await historyOf(second, sessionId)];
    expect(by).toEqual(of);
    expect(of.ids).toEqual(of.ids.map((_, index) => index + 1));
    expect(of.verified).toMatchObject({ ok: true });
    const lines = said(of.entries);
    const prompts = lines.filter((line) => line.startsWith('user'));
    expect(prompts).toHaveLength(8);
    // Each prompt is answered before the next one is there, and those of one window keep their order.
    for (const [index, line] of lines.entries()) {
      const mine = /say (first|second) (\d)/.exec(line);
      if (!line.startsWith('user') || mine === null) continue;
      const [, who = '', which = ''] = mine;
      expect(lines.slice(index + 1, index + 3)).toEqual([
        `agent: ${who} ${which}`,
        `agent: ${who[0] ?? ''}${which}`,
      ]);
    }
    for (const who of ['first', 'second'])
      expect(prompts.flatMap((line) => line.match(RegExp(`say ${who} (\\d)`))?.[1] ?? [])).toEqual([
        '0',
        '1',
        '2',
        '3',
      ]);
    const third = await aWindow(place, 'third');
    await load(third, sessionId, place);
    expect(await historyOf(third, sessionId)).toEqual(of);
  });

  it('is steered and stopped by either owner, and by no observer', async () => {
    const { first, second, sessionId } = await two();
    await first.call('session/set_mode', { sessionId, modeId: 'code' });
    const turn = first.prompt(sessionId, 'say one\nrun sleep 0.3\nsay two\nfinish with plain');
    await second.waitForUpdate(({ update }) => update.sessionUpdate === 'tool_call');
    const steer = { sessionId, mode: 'steer', content: 'finish with steered' };
    await second.call('session/inject', steer);
    await turn;
    expect(first.textOf(sessionId)).toContain('steered');
    expect(first.textOf(sessionId)).not.toContain('plain');

    await first.call('_pilothouse/claim', { sessionId, exclusive: true });
    const long = first.prompt(sessionId, 'run sleep 60');
    await second.waitForUpdate(
      ({ update, index }) =>
        update.sessionUpdate === 'tool_call' && index > 0 && update.title.includes('60'),
    );
    for (const [method, params] of [
      ['session/inject', steer],
      ['session/cancel', { sessionId }],
    ] as const)
      await expect(second.call(method, params), method).rejects.toMatchObject({
        data: { reason: 'observer_may_not_control' },
      });
    await first.call('_pilothouse/hand_over', { sessionId, to: await keyOf(second, sessionId) });
    await second.call('session/cancel', { sessionId });
    expect((await long)['stopReason']).toBe('cancelled');
  });

  it('is asked in both, and the answer of one takes the question from the other', async () => {
    const { first, second, sessionId, place } = await two();
    const never = new Deferred<object>();
    first.onRequest('session/request_permission', () => never.promise);
    second.onRequest('session/request_permission', async () => {
      await asked(first);
      return { outcome: { outcome: 'selected', optionId: 'allow_once' } };
    });
    await first.prompt(sessionId, 'write a.txt: x\nfinish with done');
    expect(first.calls('$/cancel_request')).toHaveLength(1);
    expect(second.calls('$/cancel_request')).toHaveLength(0);
    expect(existsSync(join(place.folder, 'a.txt'))).toBe(true);
  });

  it('reads the documents of the acting window, of the next when that vanishes under the question, then of the disk', async () => {
    const { first, second, sessionId, place } = await two({ fs: { readTextFile: true } });
    writeFileSync(join(place.folder, 'a.txt'), 'on disk');
    const reads = { first: 0, second: 0 };
    first.onRequest('fs/read_text_file', () => {
      reads.first += 1;
      first.kill();
      return undefined;
    });
    second.onRequest('fs/read_text_file', () => {
      reads.second += 1;
      return { content: 'of the second' };
    });
    send(first, sessionId, 'read a.txt\nfinish with read');
    await eventually(() => second.textOf(sessionId).includes('read'), 'the end of the turn');
    expect(reads).toEqual({ first: 1, second: 1 });
    const told = JSON.stringify(second.updates.map(({ update }) => update));
    expect([told.includes('of the second'), told.includes('on disk')]).toEqual([true, false]);

    await second.call('_pilothouse/attach', { sessionId, role: 'observer' });
    const third = await aWindow(place, 'third');
    await load(third, sessionId, place);
    await third.prompt(sessionId, 'read a.txt\nfinish with read');
    expect(reads).toEqual({ first: 1, second: 1 });
    expect(JSON.stringify(third.updates.map(({ update }) => update))).toContain('on disk');
  });
});

async function keyOf(client: AcpTestClient, sessionId: string): Promise<string> {
  const { clients } = await client.call('_pilothouse/clients/list', { sessionId });
  const own = (clients as readonly { key: string; you: boolean }[]).find(({ you }) => you);
  return own?.key ?? '';
}
