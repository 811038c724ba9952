import { afterEach, describe, expect, it } from 'vitest';
import type { LiveSession } from '../../../src/extension/sessions/live-session.ts';
import type { ChatItem } from '../../../src/protocol/chat.ts';
import { FakeSetup, untilTrue } from '../../support/fake-agent/client.ts';

let setup: FakeSetup;

afterEach(async () => setup.dispose());

function texts(session: LiveSession): string[] {
  return session.conversation
    .items()
    .flatMap((item: ChatItem) =>
      item.kind === 'user' || item.kind === 'assistant'
        ? [item.text]
        : item.kind === 'turn_end'
          ? [`<${item.terminal}>`]
          : [],
    );
}

describe('a connection to an agent', () => {
  it('starts on demand, once for many callers', async () => {
    setup = new FakeSetup();
    expect(setup.agent.state.kind).toBe('stopped');
    const [a, b] = await Promise.all([setup.agent.ensure(), setup.agent.ensure()]);
    expect(a).toBe(b);
  });

  it('survives a log line and a JSON log object with the id of a request (A17, A18)', async () => {
    setup = new FakeSetup(['[agent] starting', '{"id":0,"level":"info"}', '42', '"hello"']);
    const session = await setup.hub.create('/w');
    const ended = setup.nextEnd(session);
    await setup.send(session, 'raw {"id":4,"level":"info"}', 'say a\u2028b');
    expect(await ended).toBe('end_turn');
    const junk = [
      '[agent] starting',
      '{"id":0,"level":"info"}',
      '42',
      '"hello"',
      '{"id":4,"level":"info"}',
    ];
    const logged = setup.problems.filter((problem) =>
      problem.startsWith('Received a line that is no message'),
    );
    expect(
      logged.map((problem) => junk.find((line) => problem.includes(JSON.stringify(line)))),
    ).toEqual(junk);
    expect(texts(session).at(-2)).toBe('a\u2028b');
  });

  it('sends a prompt only when what was chosen before it is in force', async () => {
    setup = new FakeSetup();
    const session = await setup.hub.create('/w');
    const ended = setup.nextEnd(session);
    const chosen = session.setOption('mode', 'code');
    await setup.send(session, 'option mode');
    await Promise.all([chosen, ended]);
    expect(texts(session)).toContain('code');
  });

  it('rejects what waits when the process dies, and starts it again on demand (A23)', async () => {
    setup = new FakeSetup();
    const session = await setup.hub.create('/w');
    const first = setup.agent.connection?.pid;
    const ended = setup.nextEnd(session);
    await setup.send(session, 'say before', 'die');
    await ended;
    // How it ended is for the session to say that comes back, not for the client that lost it.
    expect(session.isRunning).toBe(false);
    expect(session.ending).toBeNull();
    expect(texts(session).at(-1)).toBe('before');
    const other = await setup.hub.create('/w2');
    expect(setup.agent.connection?.pid).not.toBe(first);
    const again = setup.nextEnd(other);
    await setup.send(other, 'say works');
    expect(await again).toBe('end_turn');
  });

  it('gives up a request at its deadline and says what to do', async () => {
    setup = new FakeSetup();
    const connection = await setup.agent.ensure();
    const never = '_pilothouse/never' as '_pilothouse/models/list';
    await expect(connection.request(never, {}, { timeoutMs: 20 })).rejects.toMatchObject({
      code: 'agent.timeout',
    });
  });

  it('answers unknown methods with -32601', async () => {
    setup = new FakeSetup();
    const connection = await setup.agent.ensure();
    const unknown = '_pilothouse/unknown' as '_pilothouse/models/list';
    await expect(connection.request(unknown, {})).rejects.toMatchObject({
      code: 'agent.refused',
      rpcCode: -32601,
    });
  });

  it('leaves no process behind (A21)', async () => {
    setup = new FakeSetup();
    const { pid } = await setup.agent.ensure();
    await setup.agent.close(2_000);
    expect(() => process.kill(pid, 0)).toThrow(/ESRCH/);
    await expect(setup.agent.ensure()).rejects.toMatchObject({ code: 'agent.closed' });
  });
});

describe('a session', () => {
  it('stops at once: a cancel sent right after the prompt ends it cancelled (A02, A03)', async () => {
    setup = new FakeSetup();
    const session = await setup.hub.create('/w');
    const ended = setup.nextEnd(session);
    await setup.send(session, 'hang', 'say never');
    await session.stop();
    expect(session.stopState.kind).toBe('stopping');
    expect(await ended).toBe('cancelled');
    expect(session.stopState.kind).toBe('none');
    expect(texts(session)).toEqual(['hang\nsay never', '<user_cancelled>']);
  });

  it('is unaffected by a stop that is not pressed: the twin of the one above', async () => {
    setup = new FakeSetup();
    const session = await setup.hub.create('/w');
    const ended = setup.nextEnd(session);
    await setup.send(session, 'say one', 'say two');
    expect(await ended).toBe('end_turn');
    expect(texts(session)).toEqual(['say one\nsay two', 'one', 'two', '<natural>']);
  });

  it('keeps what is sent during a stop and sends it after the turn has ended (A07)', async () => {
    setup = new FakeSetup();
    const session = await setup.hub.create('/w');
    const first = setup.nextEnd(session);
    await setup.send(session, 'say t1', 'late of t1', 'hang');
    await untilTrue(session.onDidChange, () => texts(session).includes('t1'));
    await session.stop();
    const sent = setup.send(session, 'say t2');
    expect(session.queued.map((entry) => entry.text)).toEqual(['say t2']);
    await sent;
    expect(await first).toBe('cancelled');
    expect(await setup.nextEnd(session)).toBe('end_turn');
    const shown = texts(session);
    expect(shown.slice(0, 2)).toEqual(['say t1\nlate of t1\nhang', 't1']);
    expect(shown.filter((text) => text === 't2')).toHaveLength(1);
  });

  it('shows a prompt sent while a turn runs as queued, then begins it (A09)', async () => {
    setup = new FakeSetup();
    const session = await setup.hub.create('/w');
    await setup.send(session, 'ask first');
    await setup.send(session, 'say second');
    expect(session.queued.map((entry) => entry.text)).toEqual(['say second']);
    await untilTrue(setup.gates.onDidChange, () => setup.gates.all().length === 1);
    const [gate] = setup.gates.all();
    setup.gates.answer(gate?.gateId ?? '', { kind: 'selected', optionId: 'allow_once' });
    await setup.nextEnd(session);
    expect(session.queued).toEqual([]);
    await setup.nextEnd(session);
    expect(texts(session).slice(-3)).toEqual(['say second', 'second', '<natural>']);
  });

  it('answers every open question cancelled when it is stopped (A05)', async () => {
    setup = new FakeSetup();
    const session = await setup.hub.create('/w');
    const ended = setup.nextEnd(session);
    await setup.send(session, 'ask run it');
    await untilTrue(setup.gates.onDidChange, () => setup.gates.all().length === 1);
    const gateId = setup.gates.all()[0]?.gateId ?? '';
    await session.stop();
    expect(setup.gates.all()).toEqual([]);
    expect(setup.gates.answer(gateId, { kind: 'selected', optionId: 'allow_once' })).toBe(false);
    expect(await ended).toBe('cancelled');
    expect(texts(session)).toContain('{"outcome":"cancelled"}');
  });

  it('keeps a prompt when a deaf agent has to be started again (A06)', async () => {
    setup = new FakeSetup();
    const session = await setup.hub.create('/w');
    await setup.send(session, 'deaf');
    await session.stop();
    await setup.send(session, 'say hi');
    expect(session.queued.map((entry) => entry.text)).toEqual(['say hi']);
    await setup.agent.restart(50);
    await untilTrue(session.onDidChange, () => texts(session).includes('hi'));
    expect(session.queued).toEqual([]);
  });

  it('binds each prompt to its own session however often the view switches (A30)', async () => {
    setup = new FakeSetup();
    const a = await setup.hub.create('/a');
    const b = await setup.hub.create('/b');
    for (let turn = 0; turn < 4; turn += 1) await setup.hub.open(turn % 2 ? 's1' : 's2');
    const ended = setup.nextEnd(b);
    await setup.send(b, 'say in b');
    await ended;
    expect(texts(b)).toContain('in b');
    expect(texts(a)).toEqual([]);
  });

  it('answers a form with what was entered, and a declined one with decline', async () => {
    setup = new FakeSetup();
    const session = await setup.hub.create('/w');
    const ended = setup.nextEnd(session);
    const open = () => setup.gates.all().length === 1;
    await setup.send(session, 'form one', 'form two');
    await untilTrue(setup.gates.onDidChange, open);
    const first = setup.gates.all()[0]?.gateId ?? '';
    setup.gates.answer(first, { kind: 'accepted', content: { answer: 'yes' } });
    await untilTrue(setup.gates.onDidChange, open);
    setup.gates.answer(setup.gates.all()[0]?.gateId ?? '', { kind: 'declined' });
    await ended;
    expect(texts(session)).toContain('{"action":"accept","content":{"answer":"yes"}}');
    expect(texts(session)).toContain('{"action":"decline"}');
  });
});
