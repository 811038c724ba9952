import { describe, expect, it, onTestFinished } from 'vitest';
import { eventually } from '../../support/agent-core/agent-core.ts';
import { ModelServer } from '../../support/model-server/model-server.ts';
import { crash, SLOW } from '../../support/soak/rig/crash.ts';
import type { CrashRig } from '../../support/soak/rig/crash-rig.ts';

/** The crash table, questions and delegates: what a restart makes of those that were open when the process was killed. */

async function asks(rig: CrashRig, sessionId: string, ...lines: string[]): Promise<void> {
  rig.permission = null;
  void rig.prompt(sessionId, ...lines);
  await rig.until(
    ({ message }) =>
      message?.['method'] === 'session/request_permission' ||
      message?.['method'] === 'elicitation/create',
    'the question',
  );
}

describe('after a kill, a question', () => {
  it('for permission is still there under its id; answered, the turn goes on, though nobody waits for the prompt', async () => {
    const one = await crash(
      (rig, sessionId) => asks(rig, sessionId, `run ${rig.mark()}`, 'finish with on'),
      {
        mode: 'ask',
      },
    );
    const [opened] = one.history('gate_opened');
    expect((await one.gates()).map(({ gateId }) => gateId)).toEqual([opened?.gateId]);
    expect(await one.listed()).toMatchObject({ activePrompt: true });
    expect(one.history('turn_ended')).toEqual([]);
    expect(one.rig.marks).toEqual([]);
    await one.respond(String(opened?.gateId), { optionId: 'allow_once' });
    await one.rig.settle();
    expect(one.rig.marks).toEqual(['m1']);
    expect(one.history('gate_opened')).toHaveLength(1);
    expect(one.history('turn_started')).toHaveLength(1);
    expect(one.history('turn_ended')[0]?.terminal.kind).toBe('natural');
    await one.isWhole();
  });

  it('is asked of the client that comes, and its answer counts', async () => {
    const one = await crash((rig, sessionId) => asks(rig, sessionId, `run ${rig.mark()}`), {
      mode: 'ask',
    });
    await one.rig.until(
      ({ message }) => message?.['method'] === 'session/request_permission',
      'the question',
    );
    // Who closes the session ends its turn; another kill does not.
    await one.rig.kill();
    one.rig.permission = 'allow_once';
    await one.rig.start();
    await one.rig.loadAll();
    await eventually(() => one.rig.marks.length === 1, 'the effect');
    await one.isWhole();
    expect(one.rig.marks).toEqual(['m1']);
  });

  it('goes with its turn on Stop', async () => {
    const one = await crash((rig, sessionId) => asks(rig, sessionId, `run ${rig.mark()}`), {
      mode: 'ask',
    });
    expect(await one.ask('session/cancel')).toMatchObject({ status: 'cancelled' });
    await one.rig.settle();
    expect(await one.gates()).toEqual([]);
    expect(one.history('turn_ended')[0]?.terminal.kind).toBe('user_cancelled');
    await one.isWhole();
    expect(one.rig.marks).toEqual([]);
  });

  it('with an answer on disk that was not acted on is not asked again, and acted on once', async () => {
    const one = await crash(
      async (rig, sessionId) => {
        void rig.prompt(sessionId, `run ${rig.mark()}`, 'finish with acted');
        await rig.gone();
      },
      { mode: 'ask', at: 'after:append/gate_resolved' },
    );
    expect(await one.gates()).toEqual([]);
    await one.rig.settle();
    expect(one.rig.marks).toEqual(['m1']);
    expect(one.history('gate_opened')).toHaveLength(1);
    expect(one.history('gate_resolved')).toHaveLength(1);
    await one.isWhole();
  });

  it('that was prepared and not asked yet is invisible, and nothing ran', async () => {
    const one = await crash(
      async (rig, sessionId) => {
        void rig.prompt(sessionId, `run ${rig.mark()}`);
        await rig.gone();
      },
      { mode: 'ask', at: 'before:append/gate_opened' },
    );
    expect(await one.gates()).toEqual([]);
    await one.isWhole();
    expect(one.rig.marks).toEqual([]);
  });

  it('of the agent itself is still there, and its answer is the result of the call', async () => {
    const one = await crash((rig, sessionId) =>
      asks(rig, sessionId, 'ask Is it so?', 'finish with on'),
    );
    const [opened] = one.history('gate_opened');
    expect((await one.gates()).map(({ gateId }) => gateId)).toEqual([opened?.gateId]);
    await one.respond(String(opened?.gateId), { content: { answer: 'so it is' } });
    await one.rig.settle();
    expect(one.history('tool_ended').map(({ result }) => [result.status, result.parts])).toEqual([
      ['completed', [{ type: 'text', text: 'so it is' }]],
    ]);
    expect(one.history('gate_opened')).toHaveLength(1);
    await one.isWhole();
  });

  it('for a sign-in is still there, and the turn goes on when the key is', async () => {
    const server = await ModelServer.start();
    onTestFinished(() => server.close());
    server.script({ kind: 'reply', steps: [{ type: 'text', text: 'signed in' }] });
    const baseUrl = server.baseUrl('openai');
    const models = [{ name: 'one', contextTokens: 100_000 }];
    const one = await crash(
      async (rig, sessionId) => {
        rig.permission = null;
        const model = { configId: 'model', value: 'acme/one' };
        await rig.call('session/set_config_option', { sessionId, ...model });
        void rig.prompt(sessionId, 'hello');
        await rig.until(
          ({ message }) => message?.['method'] === '_pilothouse/auth',
          'the question',
        );
      },
      {
        prepare: async (rig) => {
          await rig.call('_pilothouse/models/configure', {
            providers: [{ id: 'acme', kind: 'openai', baseUrl, models }],
            defaultModel: 'acme/one',
          });
        },
      },
    );
    const [opened] = one.history('gate_opened');
    expect((await one.gates()).map(({ gateId }) => gateId)).toEqual([opened?.gateId]);
    await one.rig.call('_pilothouse/secrets/set', { source: 'acme', key: 'test-key' });
    await one.respond(String(opened?.gateId), {});
    await one.rig.settle();
    expect(one.history('gate_opened')).toHaveLength(1);
    expect(one.history('turn_ended')[0]?.terminal.kind).toBe('natural');
  });
});

describe('after a kill, a delegate', () => {
  const inFront = async (rig: CrashRig, sessionId: string): Promise<void> => {
    void rig.prompt(
      sessionId,
      `delegate: run ${rig.mark()}`,
      `run ${rig.mark()}`,
      'finish with both',
    );
    await rig.gone();
  };
  const behind = async (rig: CrashRig, sessionId: string): Promise<void> => {
    void rig.prompt(sessionId, `delegate in background: run ${rig.mark()}`, SLOW, 'finish with on');
    await rig.gone();
  };

  it('that was asked for and not on disk never existed', async () => {
    const one = await crash(inFront, { at: 'before:append/delegate_started' });
    expect(one.history('delegate_started')).toEqual([]);
    await one.isWhole();
    expect(one.rig.marks).toEqual([]);
  });

  it.each([
    'after:append/delegate_started',
    'before:append/command/subagent_result',
    'after:append/command/subagent_result',
    'before:append/delegate_ended',
    'after:append/delegate_ended',
  ])('in front, killed %s, is handed back once and does nothing twice', async (at) => {
    const one = await crash(inFront, { at });
    await one.isWhole();
    expect(one.history('delegate_ended')).toHaveLength(1);
    expect(new Set(one.rig.marks).size).toBe(one.rig.marks.length);
  });

  it.each([
    'after:append/delegate_started',
    'before:append/command/subagent_result',
    'after:append/command/subagent_result',
    'before:append/delegate_ended',
    'after:append/delegate_ended',
  ])('behind, killed %s, is handed back once, and the result is read once', async (at) => {
    const one = await crash(behind, { at });
    await one.isWhole();
    expect(one.history('delegate_ended')).toHaveLength(1);
    const results = one
      .control('command_issued')
      .filter(({ command }) => command.type === 'subagent_result');
    expect(results).toHaveLength(1);
    expect(new Set(one.rig.marks).size).toBe(one.rig.marks.length);
  });

  it.each([
    ['in front', 'delegate'],
    ['behind', 'delegate in background'],
  ])(
    '%s at a question is interrupted and handed back as that; nothing ran, and nothing asks any more',
    async (_where, verb) => {
      const one = await crash(
        async (rig, sessionId) => {
          rig.permission = null;
          void rig.prompt(sessionId, `${verb}: run ${rig.mark()}`, 'finish with on');
          await rig.nextGate(sessionId);
        },
        { mode: 'ask' },
      );
      await one.isWhole();
      expect(one.history('delegate_ended').map(({ outcome }) => outcome)).toEqual(['interrupted']);
      expect(one.rig.marks).toEqual([]);
    },
  );
});
