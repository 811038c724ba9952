import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { AcpTestClient } from '../../support/acp-client/client.ts';
import {
  answering,
  eventually,
  startAgentCore,
  tempFolder,
} from '../../support/agent-core/agent-core.ts';
import {
  type ControlClient,
  controlClient,
  KNOWS_CONTROL,
} from '../../support/agent-core/control-client.ts';
import {
  callsTools,
  directivesOf,
  lastAnswer,
  messagesOf,
  obeyed,
  type ProviderClient,
  prefixFault,
  providerClient,
  says,
  textOfMessage,
  useProvider,
  wholeText,
} from '../../support/agent-core/provider-client.ts';
import type { RecordedRequest } from '../../support/model-server/model-server.ts';
import type { Scenario } from '../../support/model-server/scenario.ts';

const NAMES = ['one.txt', 'two.txt', 'three.txt'] as const;

function present({ folder }: ControlClient): boolean[] {
  return NAMES.map((name) => existsSync(join(folder, name)));
}

function lines(file: string): string[] {
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
}

/** A session whose model asks for a batch of three, then says that it is done. */
async function withBatch(): Promise<ProviderClient> {
  const one = await providerClient();
  one.server.script(
    callsTools(
      'b',
      ['run', { command: 'echo first > one.txt && sleep 0.5' }],
      ['write', { path: 'two.txt', text: 'second' }],
      ['run', { command: 'echo third > three.txt' }],
    ),
    says('all three done'),
  );
  return one;
}

/** A session whose model never stops by itself: each reply is one more tick. */
async function ticking(): Promise<ProviderClient & { readonly ticks: () => number }> {
  const one = await providerClient();
  let tick = 0;
  one.server.answer = () => {
    tick += 1;
    return tick > 60
      ? says('ticked out')
      : callsTools(`t${tick}-`, ['run', { command: `echo ${tick} >> ticks.txt; sleep 0.05` }]);
  };
  return { ...one, ticks: () => lines(join(one.folder, 'ticks.txt')).length };
}

describe('a stop stopped something', () => {
  it('mid batch: the later tools leave no trace and the model is not asked again; the untouched twin does it all', async () => {
    const twin = await withBatch();
    expect((await twin.client.prompt(twin.sessionId, 'go'))['stopReason']).toBe('end_turn');
    expect(present(twin)).toEqual([true, true, true]);
    expect(twin.server.requests).toHaveLength(2);

    const one = await withBatch();
    const turn = one.client.prompt(one.sessionId, 'go');
    await eventually(() => existsSync(join(one.folder, 'one.txt')), "the first tool's marker");
    one.client.notify('session/cancel', { sessionId: one.sessionId });
    expect(await turn).toMatchObject({
      stopReason: 'cancelled',
      _meta: { harn: { terminal: { kind: 'user_cancelled', owner: 'user' } } },
    });
    // A later turn shows that nothing of the batch comes behind it.
    one.server.answer = () => says('later');
    await one.client.prompt(one.sessionId, 'and now?');
    expect(present(one)).toEqual([true, false, false]);
    expect(one.server.requests).toHaveLength(2);
    expect(wholeText(one.server.requests[1])).not.toContain('all three done');
  });

  it('in a loop that would go on: at most one more tick; a stop that names nobody stops nothing', async () => {
    const one = await ticking();
    const turn = one.client.prompt(one.sessionId, 'tick');
    await eventually(() => one.ticks() >= 2, 'two ticks');
    one.client.notify('session/cancel', { sessionId: 'nobody' });
    await expect(one.client.call('session/cancel', { sessionId: 'nobody' })).rejects.toMatchObject({
      code: -32004,
    });
    const then = one.ticks();
    await eventually(() => one.ticks() >= then + 2, 'two more ticks');
    const atStop = one.ticks();
    const asked = one.server.requests.length;
    one.client.notify('session/cancel', { sessionId: one.sessionId });
    expect((await turn)['stopReason']).toBe('cancelled');
    const after = one.ticks();
    expect(after - atStop).toBeLessThanOrEqual(1);
    expect(one.server.requests.length - asked).toBeLessThanOrEqual(1);
    expect(one.outcomes().filter((line) => line.startsWith('session/cancel'))).toEqual([
      'session/cancel unknown_session rejected',
      'session/cancel unknown_session rejected',
      'session/cancel cancelled accepted',
    ]);
    one.server.answer = () => says('later');
    await one.client.prompt(one.sessionId, 'and now?');
    expect(one.ticks()).toBe(after);
  });
});

const RESTATED = '{"verdict":"continue","reason":"no","correction":"finish with ORIGINAL"}';
const SLOW = { command: 'touch begun.txt; while [ ! -e go.txt ]; do sleep 0.02; done' };

/**
 * The agent works once and then says what the highest authority asks for. The judge wants ORIGINAL, unless it reads
 * that a person changed course and the answer follows that.
 */
function underJudge(stubborn: boolean): (request: RecordedRequest) => Scenario {
  return (request) => {
    const messages = messagesOf(request);
    if (textOfMessage(messages[0] ?? { role: '' }).startsWith('You verify')) {
      const look = textOfMessage(messages[1] ?? { role: '' });
      const answer = /<final-answer>\s*(\w*)/.exec(look)?.[1] ?? '';
      const steer = /<steer>\s*finish with (\w+)/.exec(look)?.[1];
      const isFine = answer === (steer ?? 'ORIGINAL');
      return says(isFine && !stubborn ? '{"verdict":"done","reason":"yes"}' : RESTATED);
    }
    if (!messages.some(({ role }) => role === 'tool')) return callsTools('w', ['run', SLOW]);
    return says(/finish with (\w+)/.exec(obeyed(request))?.[1] ?? 'NOTHING');
  };
}

/** One turn under a judge; `during` happens while its only tool runs. */
async function judged(
  during: (one: ProviderClient) => Promise<unknown>,
  stubborn = false,
): Promise<{ one: ProviderClient; result: Record<string, unknown> }> {
  const one = await providerClient();
  one.server.answer = underJudge(stubborn);
  await one.setOption('judge', 'same');
  const turn = one.client.prompt(one.sessionId, 'work, then finish with ORIGINAL');
  await eventually(() => existsSync(join(one.folder, 'begun.txt')), 'the tool');
  await during(one);
  writeFileSync(join(one.folder, 'go.txt'), '');
  return { one, result: await turn };
}

function verdicts({ client }: ControlClient): unknown[] {
  return client
    .calls('_harn/agentEvent')
    .map((message) => message['params'] as Record<string, unknown>)
    .filter(({ kind }) => kind === 'judge_decision')
    .map(({ verdict }) => verdict);
}

function lookText(request: RecordedRequest | undefined): string {
  return request === undefined ? '' : textOfMessage(messagesOf(request)[1] ?? { role: '' });
}

describe('a steer survived', () => {
  it('a judge that wants the original: the final answer is the steer, and the judge is told of it apart', async () => {
    const { one, result } = await judged((session) =>
      session.inject('steer', 'finish with STEERED'),
    );
    expect(result).toMatchObject({ stopReason: 'end_turn' });
    expect(lastAnswer(one)).toBe('STEERED');
    expect(verdicts(one)).toEqual(['done']);
    const [look] = one.looks();
    expect(lookText(look)).toContain('<objective>\nwork, then finish with ORIGINAL');
    expect(lookText(look).match(/<steer>/g)).toHaveLength(1);
    expect(lookText(look)).toMatch(/supersede/);
    expect(directivesOf(one.agentRequests()[1])).toMatchObject([
      { authority: 'contract', source: 'steer', text: 'finish with STEERED' },
    ]);
  });

  it('the untouched twin says the original; its judge reads no steering, behind a prefix that is the same to the byte', async () => {
    const { one: steered } = await judged((session) =>
      session.inject('steer', 'finish with STEERED'),
    );
    const { one: twin } = await judged(async () => undefined);
    expect(lastAnswer(twin)).toBe('ORIGINAL');
    expect(verdicts(twin)).toEqual(['done']);
    expect(directivesOf(twin.agentRequests()[1])).toEqual([]);
    const [plain, told] = [lookText(twin.looks()[0]), lookText(steered.looks()[0])];
    expect(plain).not.toMatch(/steer/);
    const prefix = plain.slice(0, plain.indexOf('<final-answer>'));
    expect(prefix).toContain('finish with ORIGINAL');
    expect(told.startsWith(prefix)).toBe(true);
    expect(told.slice(prefix.length)).toMatch(/^<steering>/);
  });

  it('a judge that never agrees does not undo it: the turn ends unverified, with the steer as its answer', async () => {
    const { one, result } = await judged(
      (session) => session.inject('steer', 'finish with STEERED'),
      true,
    );
    expect(result).toMatchObject({
      _meta: { harn: { terminal: { kind: 'completion_unverified', owner: 'policy' } } },
    });
    expect(verdicts(one)).toEqual(['vetoed', 'vetoed', 'vetoed']);
    expect(lastAnswer(one)).toBe('STEERED');
    const read = directivesOf(one.agentRequests().at(-1));
    expect(read.map(({ authority }) => authority)).toEqual([
      'contract',
      'corrective',
      'corrective',
    ]);
  });

  it('the same words without authority do lose to that judge (control)', async () => {
    const { one } = await judged(
      ({ client, sessionId }) =>
        client.call('session/remind', {
          sessionId,
          body: 'finish with STEERED',
          mode: 'finish_step',
          authority: 'advisory',
        }),
      true,
    );
    expect(lastAnswer(one)).toBe('ORIGINAL');
    expect(verdicts(one)).toEqual(['vetoed', 'vetoed', 'vetoed']);
    const [before, after] = one.agentRequests().slice(1);
    expect(obeyed(before as RecordedRequest)).toBe('finish with STEERED');
    expect(obeyed(after as RecordedRequest)).toContain('finish with ORIGINAL');
  });

  it('with the rehearsal model and its judge too, while the untouched twin keeps its own answer', async () => {
    const script = 'run touch begun.txt; sleep 0.4\nfinish with ORIGINAL';
    const play = async (steer: boolean): Promise<ControlClient> => {
      const one = await controlClient();
      const { client, sessionId, folder } = one;
      await client.call('session/set_config_option', {
        sessionId,
        configId: 'judge',
        value: 'same',
      });
      const turn = client.prompt(sessionId, script);
      await eventually(() => existsSync(join(folder, 'begun.txt')), 'the tool');
      if (steer) await one.inject('steer', 'finish with STEERED');
      expect((await turn)['stopReason']).toBe('end_turn');
      return one;
    };
    const [steered, twin] = [await play(true), await play(false)];
    expect([steered, twin].map(lastAnswer)).toEqual(['STEERED', 'ORIGINAL']);
    expect([steered, twin].map(verdicts)).toEqual([['done'], ['done']]);
  });

  it('every request begins with the one before, byte for byte: across steers, reminders, vetoes, tools, turns and a restart', async () => {
    const { one } = await judged(async (session) => {
      await session.inject('steer', 'finish with STEERED');
      await session.inject('queue', 'a note for the record');
      await session.client.call('session/remind', {
        sessionId: session.sessionId,
        body: 'mind the tests',
        mode: 'finish_step',
      });
    }, true);
    one.server.answer = (request) =>
      messagesOf(request).at(-1)?.role === 'tool'
        ? says('second done')
        : callsTools('z', ['read', { path: 'begun.txt' }]);
    await one.client.prompt(one.sessionId, 'a second turn');
    await one.client.close();
    const later = answering(startAgentCore(one.home), 'allow_once');
    await later.initialize(KNOWS_CONTROL);
    await useProvider(later, one.server);
    const { sessionId, folder } = one;
    await later.call('session/load', { sessionId, cwd: folder, mcpServers: [] });
    one.server.answer = () => says('third done');
    await later.prompt(sessionId, 'a third turn');
    const requests = one.agentRequests();
    expect(requests.length).toBeGreaterThanOrEqual(6);
    for (const [index, later] of requests.slice(1).entries())
      expect(prefixFault(requests[index] as RecordedRequest, later), `${index + 1}`).toBeNull();
    for (const request of one.server.requests)
      expect(wholeText(request)).not.toContain('a note for the record');
    // The comparison itself notices a change.
    expect(prefixFault(requests[1] as RecordedRequest, requests[0] as RecordedRequest)).not.toBe(
      null,
    );
  });
});

type Item = { sessionId: string; activePrompt: boolean; liveState: string };

async function items(client: AcpTestClient, filter: object = {}): Promise<readonly Item[]> {
  return (await client.call('session/list', filter))['sessions'] as Item[];
}

describe('a resume resumed', () => {
  it('by an unchanged prefix hash and as many replayed events as there are; an empty log and an unknown id are told apart', async () => {
    const home = tempFolder('home');
    const one = await controlClient({ home });
    const { client, sessionId, folder } = one;
    const empty = await client.newSession(folder);
    await client.prompt(sessionId, 'say something\nwrite a.txt: x\nfinish with done');
    const hashOf = async (from: AcpTestClient, id = sessionId): Promise<unknown> =>
      ((await from.call('harn.session_view.query', { sessionId: id })) as ViewHash).projection
        .prefix_hash;
    const before = await hashOf(client);
    expect(before).toMatch(/[0-9a-f]{64}$/);
    expect(await hashOf(client, empty)).toBeNull();
    const live = await client.call('session/load', { sessionId, cwd: folder, mcpServers: [] });
    expect(live).toMatchObject({ prefix_hash: before });
    expect((await client.prompt(sessionId, 'finish with promptable'))['stopReason']).toBe(
      'end_turn',
    );
    const tip = await hashOf(client);
    expect(tip).not.toBe(before);
    await client.close();

    const later = startAgentCore(home);
    await later.initialize(KNOWS_CONTROL);
    const open = { cwd: folder, mcpServers: [] };
    const loaded = await later.call('session/load', { sessionId, ...open });
    const { entries } = (await later.call('_pilothouse/history/page', {
      sessionId,
      limit: 1_000,
    })) as { entries: { eventId: number; updates: object[] }[] };
    const replayed = loaded['replayed'] as { eventId: number; type: string }[];
    // The others are bookkeeping, which no client sees.
    const shown = entries.filter(({ updates }) => updates.length > 0);
    expect(replayed.map(({ eventId }) => eventId)).toEqual(shown.map(({ eventId }) => eventId));
    expect(replayed.length).toBeGreaterThan(10);
    expect(loaded).toMatchObject({ prefix_hash: tip, replayed_count: replayed.length });
    expect(await hashOf(later)).toBe(tip);
    const marked = new Set(
      later.updates.filter(({ mark }) => mark?.replayed).map(({ mark }) => mark?.eventId),
    );
    for (const eventId of marked)
      expect(
        replayed.some((event) => event.eventId === eventId),
        `event ${eventId}`,
      ).toBe(true);

    const nothing = await later.call('session/load', { sessionId: empty, ...open });
    expect(nothing).toMatchObject({ replayed: [], prefix_hash: null });
    expect(Object.keys(nothing['session'] as object)).not.toContain('lastEventId');
    for (const method of ['session/load', 'session/resume'])
      await expect(
        later.call(method, { sessionId: 'nobody', ...open }),
        method,
      ).rejects.toMatchObject({ code: -32602 });
    const count = later.updates.length;
    const resumed = await later.call('session/resume', { sessionId, ...open });
    expect(resumed).toMatchObject({ prefix_hash: tip });
    expect(resumed).not.toHaveProperty('replayed');
    // What can be typed is told behind the answer, nothing that happened.
    await later.call('session/list');
    expect(later.updates.slice(count).map(({ update }) => update.sessionUpdate)).toEqual([
      'available_commands_update',
    ]);
    for (const { sessionId: id } of await items(later))
      expect(await later.call('session/load', { sessionId: id, ...open })).toMatchObject({
        sessionId: id,
      });
  });
});

type ViewHash = { projection: { prefix_hash: string | null } };

describe('a status call measured something', () => {
  it('activePrompt of the named session is true while its prompt runs and at no other time', async () => {
    const home = tempFolder('home');
    const one = await controlClient({ home });
    const { client, sessionId, folder } = one;
    const other = await client.newSession(folder);
    const active = async (): Promise<unknown[]> => {
      const all = await items(client);
      return [sessionId, other].map(
        (id) => all.find((item) => item.sessionId === id)?.activePrompt,
      );
    };
    expect(await active()).toEqual([false, false]);
    const turn = client.prompt(sessionId, 'wait 30');
    expect(await active()).toEqual([true, false]);
    await client.call('session/cancel', { sessionId });
    await turn;
    expect(await active()).toEqual([false, false]);
    await client.prompt(other, 'finish with x');
    expect(await active()).toEqual([false, false]);
    const ids = async (from: AcpTestClient, liveState: string): Promise<string[]> =>
      (await items(from, { liveState })).map((item) => item.sessionId).sort();
    expect(await ids(client, 'live')).toEqual([sessionId, other].sort());
    expect(await ids(client, 'persisted')).toEqual([]);
    await client.close();

    const later = startAgentCore(home);
    await later.initialize(KNOWS_CONTROL);
    // An empty list of what is live says nothing about a session that is not lost.
    expect(await ids(later, 'live')).toEqual([]);
    expect(await ids(later, 'persisted')).toEqual([sessionId, other].sort());
    expect((await items(later)).map(({ activePrompt }) => activePrompt)).toEqual([false, false]);
    await later.call('session/resume', { sessionId, cwd: folder, mcpServers: [] });
    expect(await ids(later, 'live')).toEqual([sessionId]);
  });

  it('the view names the sign-in that a session waits for, and nothing once it is done', async () => {
    const one = await providerClient();
    const { client, sessionId } = one;
    await client.call('_pilothouse/secrets/set', { source: 'acme', key: null });
    one.server.script({ kind: 'error', status: 401 }, says('signed in'));
    const pending = async (): Promise<unknown> => {
      const view = await client.call('harn.session_view.query', { sessionId });
      return (view['pending'] as { auth: unknown[] }).auth;
    };
    let signedIn: ((answer: object) => void) | undefined;
    client.onRequest(
      '_pilothouse/auth',
      () =>
        new Promise((resolve) => {
          signedIn = resolve;
        }),
    );
    expect(await pending()).toEqual([]);
    const turn = client.prompt(sessionId, 'go');
    await eventually(() => signedIn !== undefined, 'the request for a sign-in');
    expect(await pending()).toMatchObject([{ provider: 'acme' }]);
    await client.call('_pilothouse/secrets/set', { source: 'acme', key: 'new-key' });
    signedIn?.({ outcome: 'done' });
    expect((await turn)['stopReason']).toBe('end_turn');
    expect(await pending()).toEqual([]);
    expect(lastAnswer(one)).toBe('signed in');
  });
});
