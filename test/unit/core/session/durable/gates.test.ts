import { describe, expect, it } from 'vitest';
import { Deferred } from '../../../../../src/base/deferred.ts';
import type { JsonObject } from '../../../../../src/base/json.ts';
import type { GateRequest } from '../../../../../src/core/session/gate-words.ts';
import { MOST_OPEN_GATES } from '../../../../../src/core/session/state/gates.ts';
import type { RememberOption } from '../../../../../src/core/session/tool.ts';
import type { GateId } from '../../../../../src/core/session/words.ts';
import {
  aSession,
  aTool,
  ok,
  type SessionOptions,
  type TestSession,
  textOf,
} from '../../../../support/engine/a-session.ts';
import { calls, ScriptedModel, says } from '../../../../support/engine/scripted-model.ts';

const YES = { kind: 'selected', optionId: 'allow_once' } as const;
const NO = { kind: 'selected', optionId: 'reject_once' } as const;
const ALWAYS: RememberOption = {
  scope: 'session',
  label: 'always',
  rules: [{ effect: 'allow', tool: '*', kind: 'write', pattern: '/w/**' }],
};

/** What happened, in order: answers that were stored, and calls that ran. */
type Log = string[];

/** A session whose model asks for these calls; each needs a permission. */
async function asking(
  log: Log,
  list: readonly [string, JsonObject][],
  options: Partial<SessionOptions> = {},
): Promise<TestSession> {
  const run = aTool('w', (_context, input) => {
    log.push(`ran ${textOf(input)}`);
    return ok('x');
  });
  return await aSession({
    model: new ScriptedModel(calls(...list), says('done'), says('more')),
    tools: [run],
    decide: () => ({ decision: 'ask', reason: 'test', details: [], remember: [ALWAYS] }),
    remember: async () => {
      log.push('stored');
    },
    ...options,
  });
}

/** A tool that asks its question and says what it was answered. */
const askTool = aTool(
  'ask',
  async ({ ask }, input) => {
    const answer = await ask({ message: textOf(input), schema: { type: 'object' } });
    return ok(
      answer.kind === 'answered'
        ? `${textOf(input)}: ${JSON.stringify(answer.content['answer'])}`
        : `declined: ${answer.reason}`,
    );
  },
  { readOnly: true },
);

function results(t: TestSession): string[] {
  return t
    .history()
    .flatMap((event) =>
      event.type === 'tool_ended'
        ? [
            `${event.result.status}: ${event.result.parts.map((part) => (part.type === 'text' ? part.text : '')).join('')}`,
          ]
        : [],
    );
}

/** The open gates by what they ask. */
function gateOf(t: TestSession, is: (request: GateRequest) => boolean): GateId {
  const found = t.session.openGates.find(({ request }) => is(request));
  if (found === undefined) throw new Error('No such gate is open');
  return found.gateId;
}

describe('an answer to a permission', () => {
  it('that allows it once runs the call once and stores nothing', async () => {
    const log: Log = [];
    const t = await asking(log, [['w', { text: 'a' }]]);
    const outcome = t.prompt('go');
    await t.answer((await t.next('gate_opened')).gateId, YES);
    await outcome;
    expect(log).toEqual(['ran a']);
    expect(t.remembered).toEqual([]);
  });

  it('that allows it always is stored before the call runs', async () => {
    const log: Log = [];
    const t = await asking(log, [['w', { text: 'a' }]]);
    const outcome = t.prompt('go');
    await t.answer((await t.next('gate_opened')).gateId, {
      kind: 'selected',
      optionId: 'allow_always:0',
    });
    await outcome;
    expect(log).toEqual(['stored', 'ran a']);
    expect(t.remembered).toEqual([ALWAYS]);
  });

  it('that allows it always and can not be stored runs nothing, and the session goes on', async () => {
    const log: Log = [];
    const remember = () => Promise.reject(new Error('no room for rules'));
    const t = await asking(log, [['w', { text: 'a' }]], { remember });
    const outcome = t.prompt('go');
    await t.answer((await t.next('gate_opened')).gateId, {
      kind: 'selected',
      optionId: 'allow_always:0',
    });
    expect((await outcome).terminal.kind).toBe('runtime_error');
    expect(log).toEqual([]);
    expect(t.session.openGates).toEqual([]);
    expect((await t.prompt('more')).terminal.kind).toBe('natural');
  });

  it('that allows it always keeps no Stop waiting while it is being stored', async () => {
    const log: Log = [];
    const storing = new Deferred<void>();
    const remember = async () => {
      storing.resolve();
      await new Promise<void>(() => undefined);
    };
    const t = await asking(log, [['w', { text: 'a' }]], { remember });
    const outcome = t.prompt('go');
    void t.answer((await t.next('gate_opened')).gateId, {
      kind: 'selected',
      optionId: 'allow_always:0',
    });
    await storing.promise;
    t.session.cancelBefore(2, { kind: 'cancelled', by: 'test' });
    expect((await outcome).terminal.kind).toBe('user_cancelled');
    expect(log).toEqual([]);
    expect(results(t)).toEqual([expect.stringMatching(/^cancelled: /)]);
  });

  it('that refuses it runs nothing, and the model reads whose word that was', async () => {
    const log: Log = [];
    const t = await asking(log, [['w', { text: 'a' }]]);
    const outcome = t.prompt('go');
    await t.answer((await t.next('gate_opened')).gateId, NO);
    await outcome;
    const late = await asking(log, [['w', { text: 'a' }]], { config: { gateSeconds: 60 } });
    const other = late.prompt('go');
    await late.clock.whenSleeping();
    late.clock.advance(60_000);
    await other;
    expect(log).toEqual([]);
    expect(results(t)).toEqual(['denied: The user rejected this call; it did not run.']);
    expect(results(late)).toEqual([
      'denied: This call was declined and did not run: Nobody answered within 60 seconds',
    ]);
  });
});

describe('a question', () => {
  it('is listed only once it is on disk, where a crash finds it again', async () => {
    const t = await asking([], [['w', { text: 'a' }]]);
    const disk = new Deferred<void>();
    const reached = new Deferred<void>();
    const append = t.journal.append.bind(t.journal);
    t.journal.append = async (sessionId, records) => {
      if (records.some(({ event }) => event.type === 'gate_opened')) {
        reached.resolve();
        await disk.promise;
      }
      return await append(sessionId, records);
    };
    const outcome = t.prompt('go');
    await reached.promise;
    expect(t.session.openGates).toEqual([]);
    disk.resolve();
    const { gateId } = await t.next('gate_opened');
    expect(t.session.openGates.map((gate) => gate.gateId)).toEqual([gateId]);
    await t.answer(gateId, YES);
    await outcome;
    expect(t.session.openGates).toEqual([]);
  });

  it('that could not be kept is none: nobody sees it, nothing runs, and the turn ends with the fault', async () => {
    const log: Log = [];
    const t = await asking(log, [['w', { text: 'a' }]]);
    const append = t.journal.append.bind(t.journal);
    t.journal.append = async (sessionId, records) => {
      if (records.some(({ event }) => event.type === 'gate_prepared')) throw new Error('disk');
      return append(sessionId, records);
    };
    await expect(t.prompt('go')).rejects.toThrow('disk');
    expect(t.session.openGates).toEqual([]);
    const kept = (t.journal.records.get(t.session.sessionId) ?? []).map(
      ({ record }) => record.event.type,
    );
    expect(kept.filter((type) => type.startsWith('gate_'))).toEqual([]);
    expect(t.types()).not.toContain('gate_opened');
    t.journal.append = append;
    const again = await t.restart();
    expect(again.session.openGates).toEqual([]);
    expect(again.session.isParked).toBe(false);
    expect(log).toEqual([]);
  });

  it('is answered by its own id only: others are nobody’s, and the right one works behind them', async () => {
    const log: Log = [];
    const t = await asking(log, [['w', { text: 'a' }]]);
    const outcome = t.prompt('go');
    const { gateId } = await t.next('gate_opened');
    const before = t.journal.records.get(t.session.sessionId)?.length;
    expect(await t.answer('another' as GateId, YES)).toBe(false);
    expect(await t.answer('' as GateId, NO, 'n')).toBe(false);
    expect(t.journal.records.get(t.session.sessionId)).toHaveLength(before ?? -1);
    expect(await t.answer(gateId, YES)).toBe(true);
    expect(await t.answer(gateId, YES)).toBe(false);
    await outcome;
    expect(log).toEqual(['ran a']);
  });

  it('beside another one gets its own answer, in whatever order they are given', async () => {
    const t = await aSession({
      model: new ScriptedModel(
        calls(['ask', { text: 'one' }], ['ask', { text: 'two' }]),
        says('done'),
      ),
      tools: [askTool],
    });
    const outcome = t.prompt('go');
    await t.next('gate_opened', 2);
    const named = (message: string): GateId =>
      gateOf(t, (request) => request.kind === 'ask' && request.message === message);
    const [one, two] = [named('one'), named('two')];
    await t.answer(two, { kind: 'accepted', content: { answer: 'second' } });
    expect(t.session.openGates.map(({ gateId }) => gateId)).toEqual([one]);
    await t.answer(one, { kind: 'accepted', content: { answer: 'first' } });
    await outcome;
    expect(results(t).sort()).toEqual(['completed: one: "first"', 'completed: two: "second"']);
  });

  it.each(['permissions', 'asks'] as const)(
    'too many is declined without being asked, and the model is told: %s',
    async (kind) => {
      const tool = kind === 'asks' ? 'ask' : 'w';
      const many = Array.from({ length: MOST_OPEN_GATES + 2 }, (_, at): [string, JsonObject] => [
        tool,
        { text: `${at}` },
      ]);
      const log: Log = [];
      const asks: Partial<SessionOptions> = {
        tools: [askTool],
        decide: () => ({ decision: 'allow', reason: '' }),
      };
      const t = await asking(log, many, kind === 'asks' ? asks : {});
      const outcome = t.prompt('go');
      await t.next('gate_opened', MOST_OPEN_GATES);
      const open = t.session.openGates;
      expect(open).toHaveLength(MOST_OPEN_GATES);
      const answer =
        kind === 'asks' ? ({ kind: 'accepted', content: { answer: 'a' } } as const) : YES;
      for (const { gateId } of open) await t.answer(gateId, answer);
      await outcome;
      const count = (type: string): number => t.types().filter((one) => one === type).length;
      expect(count('gate_opened')).toBe(MOST_OPEN_GATES);
      expect(count('gate_resolved')).toBe(MOST_OPEN_GATES);
      const told = results(t).filter((result) => /64 questions are open already/.test(result));
      expect(told).toHaveLength(2);
      expect(log).toHaveLength(kind === 'asks' ? 0 : MOST_OPEN_GATES);
    },
  );
});

describe('a question that is answered elsewhere', () => {
  type Arrival = {
    readonly arrived: Deferred<boolean>;
    readonly t: TestSession;
    readonly outcome: Promise<unknown>;
  };

  /** A tool asks for a sign-in; its answer comes to the host. */
  async function signingIn(isThere?: boolean): Promise<Arrival> {
    const arrived = new Deferred<boolean>();
    if (isThere !== undefined) arrived.resolve(isThere);
    const tool = aTool('login', async ({ signIn }) => {
      const request = { target: 'mail', message: 'Sign in', url: 'https://x.example/' };
      const isDone = await signIn({ ...request, arrived: arrived.promise });
      return ok(isDone ? 'signed in' : 'not signed in');
    });
    const t = await aSession({
      model: new ScriptedModel(calls(['login', {}]), says('done')),
      tools: [tool],
    });
    return { arrived, t, outcome: t.prompt('go') };
  }

  function resolved(t: TestSession): string[] {
    return t
      .history()
      .flatMap((event) =>
        event.type === 'gate_resolved' ? [`${event.answer.kind} by ${event.actor.source}`] : [],
      );
  }

  it('takes an answer that was there before it was asked, once', async () => {
    const { t, outcome } = await signingIn(true);
    await outcome;
    expect(results(t)).toEqual(['completed: signed in']);
    expect(t.types().filter((type) => type === 'gate_opened')).toHaveLength(1);
    expect(resolved(t)).toEqual(['accepted by host']);
  });

  it('is over with the first answer, a person’s or the one from elsewhere; the other changes nothing', async () => {
    const person = await signingIn();
    const { gateId } = await person.t.next('gate_opened');
    expect(await person.t.answer(gateId, { kind: 'declined' })).toBe(true);
    person.arrived.resolve(true);
    await person.outcome;
    expect(results(person.t)).toEqual(['completed: not signed in']);
    expect(resolved(person.t)).toEqual(['declined by acp']);
    const elsewhere = await signingIn();
    const gate = await elsewhere.t.next('gate_opened');
    elsewhere.arrived.resolve(true);
    await elsewhere.t.next('gate_resolved');
    expect(await elsewhere.t.answer(gate.gateId, { kind: 'declined' })).toBe(false);
    await elsewhere.outcome;
    expect(resolved(elsewhere.t)).toEqual(['accepted by host']);
  });

  it('is withdrawn by Stop, whoever would have answered it, and leaves its place free', async () => {
    const { t, outcome, arrived } = await signingIn();
    await t.next('gate_opened');
    t.session.cancelBefore(2, { kind: 'cancelled', by: 'test' });
    arrived.resolve(true);
    await outcome;
    expect(t.session.openGates).toEqual([]);
    expect(resolved(t)).toEqual(['cancelled by host']);
  });
});
