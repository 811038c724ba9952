import { describe, expect, it } from 'vitest';
import { Deferred } from '../../../../../src/base/deferred.ts';
import type { Model, ModelCatalog } from '../../../../../src/core/session/model.ts';
import type { Tool } from '../../../../../src/core/session/tool.ts';
import {
  aSession,
  aTool,
  ok,
  type SessionOptions,
  type TestSession,
} from '../../../../support/engine/a-session.ts';
import {
  calls,
  type Reply,
  ScriptedModel,
  says,
} from '../../../../support/engine/scripted-model.ts';

/** Something that is begun and never comes back, whatever its signal says. */
class Wedge {
  readonly #begun = new Deferred<void>();
  isUsed = false;

  get begun(): Promise<void> {
    return this.#begun.promise;
  }

  /** Hangs the first time only. */
  async pass(): Promise<void> {
    if (this.isUsed) return;
    this.isUsed = true;
    this.#begun.resolve();
    await new Promise(() => undefined);
  }
}

/** Its first reply shows some text and then hangs. */
function wedgedReply(wedge: Wedge): Reply {
  return async function* () {
    yield { type: 'text', text: 'so far' };
    await wedge.pass();
  };
}

/** Finds its model only after the wedge. */
function wedgedCatalog(wedge: Wedge, model: ScriptedModel): ModelCatalog {
  return {
    list: () => model.list(),
    onDidChange: () => model.onDidChange(),
    resolve: async (): Promise<Model> => {
      await wedge.pass();
      return model;
    },
  };
}

function wedgedPreparation(wedge: Wedge): Tool {
  const tool = aTool('w', () => ok('x'));
  return {
    ...tool,
    prepare: async (...args) => {
      await wedge.pass();
      return tool.prepare(...args);
    },
  };
}

const done = (): ScriptedModel => new ScriptedModel(calls(['w', {}]), says('done'), says('more'));

const WEDGED: readonly [string, (wedge: Wedge) => SessionOptions][] = [
  [
    'a provider in its stream',
    (wedge) => ({ model: new ScriptedModel(wedgedReply(wedge), says('more')) }),
  ],
  [
    'a provider before its stream',
    (wedge) => ({ model: wedgedCatalog(wedge, new ScriptedModel(says('more'))) }),
  ],
  [
    'a tool',
    (wedge) => ({
      model: done(),
      tools: [
        aTool('w', async () => {
          await wedge.pass();
          return ok('x');
        }),
      ],
    }),
  ],
  ['the preparation of a call', (wedge) => ({ model: done(), tools: [wedgedPreparation(wedge)] })],
  [
    'the rules',
    (wedge) => ({
      model: done(),
      tools: [aTool('w', () => ok('x'))],
      decide: () => wedge.pass().then(() => ({ decision: 'allow', reason: '' })),
    }),
  ],
  ['the preparation of a turn', (wedge) => ({ model: done(), prepareTurn: () => wedge.pass() })],
];

describe('what comes back from nothing, not even from its signal', () => {
  it.each(WEDGED)(
    'keeps no Stop waiting and no next turn from running: %s',
    async (_name, make) => {
      const wedge = new Wedge();
      const t = await aSession(make(wedge));
      const outcome = t.prompt('go');
      await wedge.begun;
      t.session.cancelBefore(2, { kind: 'cancelled', by: 'test' });
      expect((await outcome).terminal.kind).toBe('user_cancelled');
      expectNothingOpen(t);
      expect((await t.prompt('more')).terminal.kind).toBe('natural');
    },
  );

  it.each(WEDGED)('keeps no session from being closed: %s', async (_name, make) => {
    const wedge = new Wedge();
    const t = await aSession(make(wedge));
    const outcome = t.prompt('go');
    await wedge.begun;
    await t.session.close(
      { kind: 'closed', why: 'session_closed' },
      { clientId: 'x', role: 'host_owner', source: 'host' },
    );
    expect((await outcome).terminal.kind).toBe('policy_stop');
    expectNothingOpen(t);
  });
});

/** Every call that was asked for has a result, and the turn has one end. */
function expectNothingOpen(t: TestSession): void {
  const count = (type: string): number => t.types().filter((one) => one === type).length;
  expect(count('tool_ended')).toBe(count('tool_proposed'));
  expect(count('turn_ended')).toBe(1);
}
