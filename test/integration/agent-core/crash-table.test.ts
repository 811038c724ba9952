import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { eventually, isAlive, pidFrom } from '../../support/agent-core/agent-core.ts';
import { ModelServer } from '../../support/model-server/model-server.ts';
import { crash } from '../../support/soak/rig/crash.ts';
import type { CrashRig } from '../../support/soak/rig/crash-rig.ts';

/** The crash table: what a restart makes of each thing that was in flight when the process was killed. */

const SLOW = 'run touch begun; while [ ! -e go ]; do sleep 0.01; done';

function marks(rig: CrashRig): string[] {
  const file = join(rig.folder, 'marks');
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
}

function idOf(rig: CrashRig, index: number): string {
  return rig.sent[index]?.commandId ?? '';
}

/** A turn that runs until somebody makes the file `go`. */
async function slowTurn(rig: CrashRig, sessionId: string, ...rest: string[]): Promise<void> {
  void rig.prompt(sessionId, SLOW, ...rest);
  await rig.fileSays('begun');
}

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

describe('after a kill, inputs', () => {
  it('that were accepted and waited are held, shown, and sent once a person says so', async () => {
    const one = await crash(
      async (rig, sessionId) => {
        await slowTurn(rig, sessionId);
        void rig.prompt(sessionId, `run ${rig.mark()}`, 'finish with waited');
        await rig.gone();
      },
      { at: 'after:append/command/user_input#2' },
    );
    const waited = idOf(one.rig, 1);
    const { paused, items } = await one.queue();
    expect([paused, items.map(({ itemId }) => itemId)]).toEqual(['restart', [waited]]);
    expect(one.resolutions(waited)).toEqual(['held restart']);
    expect(marks(one.rig)).toEqual([]);
    one.rig.permission = 'allow_once';
    await one.ask('_pilothouse/queue/resume');
    await one.rig.settle();
    expect(marks(one.rig)).toHaveLength(1);
    const again = await one.rig.call('session/prompt', {
      sessionId: one.sessionId,
      prompt: items[0]?.content,
      _meta: { pilothouse: { commandId: waited } },
    });
    expect(again).toMatchObject({ result: { stopReason: 'end_turn' } });
    await one.isWhole();
    expect(marks(one.rig)).toHaveLength(1);
  });

  it('that were not on disk yet are not there, and were not accepted', async () => {
    const one = await crash(
      async (rig, sessionId) => {
        void rig.prompt(sessionId, `run ${rig.mark()}`);
        await rig.gone();
      },
      { at: 'before:append/command/user_input' },
    );
    expect(one.rig.sent[0]?.answer).toBe('none');
    expect(one.history('turn_started')).toEqual([]);
    expect((await one.queue()).items).toEqual([]);
    await one.isWhole();
    expect(marks(one.rig)).toEqual([]);
  });

  it('that were to steer the turn are held; a note without its turn is given back', async () => {
    const one = await crash(async (rig, sessionId) => {
      await slowTurn(rig, sessionId);
      await rig.inject(sessionId, 'steer', `run ${rig.mark()}`);
      await rig.inject(sessionId, 'queue', 'a note');
    });
    const { paused, items } = await one.queue();
    expect(paused).toBe('restart');
    expect(items.map(({ content }) => content)).toEqual([
      [{ type: 'text', text: expect.stringContaining('marks') }],
    ]);
    expect(one.control('inject_revoked').map(({ why }) => why)).toEqual(['held', 'given_back']);
    await one.isWhole();
    expect(marks(one.rig)).toHaveLength(1);
  });

  it('that were delivered into the turn stay in the transcript, and are not delivered again', async () => {
    const one = await crash(
      async (rig, sessionId) => {
        await slowTurn(rig, sessionId, 'wait 30');
        await rig.inject(sessionId, 'steer', `run ${rig.mark()}`);
        writeFileSync(join(rig.folder, 'go'), '');
        await rig.gone();
      },
      { at: 'after:append/inject_delivered' },
    );
    expect(one.history('inject_delivered')).toHaveLength(1);
    expect((await one.queue()).items).toEqual([]);
    await one.isWhole();
    expect(marks(one.rig)).toEqual([]);
  });

  it('that were held for later are still there, in their order, paused, and sent once', async () => {
    const one = await crash(async (rig, sessionId) => {
      await slowTurn(rig, sessionId);
      for (const itemId of ['q1', 'q2'])
        await rig.call('_pilothouse/queue/add', {
          sessionId,
          itemId,
          content: `run ${rig.mark(itemId.replace('q', 'm9'))}`,
        });
      await rig.call('_pilothouse/queue/move', { sessionId, itemId: 'q2', before: 'q1' });
    });
    const { paused, items } = await one.queue();
    expect([paused, items.map(({ itemId }) => itemId)]).toEqual(['restart', ['q2', 'q1']]);
    await one.isWhole();
    expect(marks(one.rig)).toEqual(['m92', 'm91']);
  });

  it('a cancel that was journaled is not carried out later', async () => {
    const one = await crash(
      async (rig, sessionId) => {
        await slowTurn(rig, sessionId);
        void rig.call('session/cancel', { sessionId });
        await rig.gone();
      },
      { at: 'after:append/command/cancel' },
    );
    expect(one.history('turn_ended')).toHaveLength(1);
    await one.isWhole();
  });
});

describe('after a kill, a turn', () => {
  it('keeps its prompt and what it had done; its end says that it was interrupted', async () => {
    const one = await crash(async (rig, sessionId) => {
      void rig.prompt(sessionId, `run ${rig.mark()}`, 'say one', SLOW);
      await rig.fileSays('begun');
    });
    expect(one.history('turn_started')).toHaveLength(1);
    expect(one.history('tool_ended').map(({ result }) => result.status)).toEqual([
      'completed',
      'outcome_unknown',
    ]);
    expect(one.history('turn_ended').map(({ terminal }) => terminal)).toEqual([
      expect.objectContaining({
        kind: 'runtime_error',
        reason: expect.stringMatching(/Interrupted/),
      }),
    ]);
    expect(await one.listed()).toMatchObject({ activePrompt: false });
    await one.isWhole();
    expect(marks(one.rig)).toHaveLength(1);
  });

  it('keeps the text that was streamed but for the last quarter of a second', async () => {
    const shown: { at: number; text: string }[] = [];
    const one = await crash(
      async (rig, sessionId) => {
        void rig.prompt(sessionId, 'count slowly from 100 to 200');
        await rig.until(() => {
          const text = rig.client.textOf(sessionId);
          if (text !== shown.at(-1)?.text) shown.push({ at: performance.now(), text });
          return text.includes('115');
        }, 'some numbers');
      },
      { env: { PILOTHOUSE_MODEL: 'rehearsal/script' } },
    );
    const kept = one
      .history('message_delta')
      .map(({ text }) => text)
      .join('');
    const last = shown.at(-1);
    if (last === undefined) throw new Error('Nothing was shown');
    expect(last.text.startsWith(kept)).toBe(true);
    // What is missing was shown within the last 250 ms and the time of one commit; a number comes every 150 ms.
    const lost = last.text.slice(kept.length).trim().split('\n');
    expect(lost.length).toBeLessThanOrEqual(3);
    expect(one.history('model_replied').at(-1)?.finish).toBe('aborted');
    await one.isWhole();
  });

  it('whose tool ran and has no result does not run it again: its outcome is unknown, and the model is told', async () => {
    const one = await crash(
      async (rig, sessionId) => {
        void rig.prompt(sessionId, `run ${rig.mark()}`, `run ${rig.mark()}`);
        await rig.gone();
      },
      { at: 'after:effect/run' },
    );
    expect(marks(one.rig)).toEqual(['m1']);
    expect(one.history('tool_ended').map(({ result }) => result.status)).toEqual([
      'outcome_unknown',
    ]);
    await one.isWhole();
    expect(marks(one.rig)).toEqual(['m1']);
  });

  it('whose tool was about to run has no effect, and says that the outcome is unknown', async () => {
    const one = await crash(
      async (rig, sessionId) => {
        void rig.prompt(sessionId, `run ${rig.mark()}`);
        await rig.gone();
      },
      { at: 'before:effect/run' },
    );
    expect(one.history('tool_ended').map(({ result }) => result.status)).toEqual([
      'outcome_unknown',
    ]);
    await one.isWhole();
    expect(marks(one.rig)).toEqual([]);
  });

  it('whose end was on disk is over, and the same prompt sent again gets that end', async () => {
    const one = await crash(
      async (rig, sessionId) => {
        void rig.prompt(sessionId, `run ${rig.mark()}`, 'finish with told');
        await rig.gone();
      },
      { at: 'after:append/turn_ended' },
    );
    const [turn] = one.history('turn_started');
    const again = await one.rig.call('session/prompt', {
      sessionId: one.sessionId,
      prompt: turn?.content,
      _meta: { pilothouse: { commandId: idOf(one.rig, 0) } },
    });
    expect(again).toMatchObject({ result: { stopReason: 'end_turn' } });
    expect(one.history('turn_started')).toHaveLength(1);
    await one.isWhole();
    expect(marks(one.rig)).toEqual(['m1']);
  });

  it('whose files were kept but not named leaves nothing that points nowhere', async () => {
    const one = await crash(
      async (rig, sessionId) => {
        void rig.prompt(sessionId, 'write a.txt: x', 'finish with kept');
        await rig.gone();
      },
      { at: 'before:append/turn_checkpoint' },
    );
    expect(readFileSync(join(one.rig.folder, 'a.txt'), 'utf8')).toBe('x');
    await one.isWhole();
  });
});

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
    expect(marks(one.rig)).toEqual([]);
    await one.respond(String(opened?.gateId), { optionId: 'allow_once' });
    await one.rig.settle();
    expect(marks(one.rig)).toEqual(['m1']);
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
    await eventually(() => marks(one.rig).length === 1, 'the effect');
    await one.isWhole();
    expect(marks(one.rig)).toEqual(['m1']);
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
    expect(marks(one.rig)).toEqual([]);
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
    expect(marks(one.rig)).toEqual(['m1']);
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
    expect(marks(one.rig)).toEqual([]);
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

describe('after a kill, what the session keeps', () => {
  it('a background process is lost, and its whole group is gone', async () => {
    const one = await crash(async (rig, sessionId) => {
      await rig.prompt(
        sessionId,
        'start echo $$ > bg.pid; sh -c "echo \\$\\$ > deep.pid; exec sleep 300"; true',
        'finish with started',
      );
      await rig.fileSays('deep.pid');
    });
    const pids = [
      await pidFrom(join(one.rig.folder, 'bg.pid')),
      await pidFrom(join(one.rig.folder, 'deep.pid')),
    ];
    expect(one.history('process_ended').map(({ state }) => state)).toEqual(['lost']);
    await eventually(() => !pids.some(isAlive), 'the end of the group');
    await one.rig.close();
    await one.rig.start();
    await one.rig.loadAll();
    expect(one.history('process_ended')).toHaveLength(1);
    await one.isWhole();
  });

  it('the end of a process that nobody was told of is read by the next turn, once', async () => {
    const one = await crash(
      async (rig, sessionId) => {
        void rig.prompt(sessionId, 'start true', SLOW);
        await rig.gone();
      },
      { at: 'after:append/command/process_notification' },
    );
    await one.isWhole();
    expect(one.history('machine_message')).toHaveLength(1);
  });

  it('a compaction that had begun is refused with the restart, and the conversation is as it was', async () => {
    const one = await crash(
      async (rig, sessionId) => {
        for (const word of ['one', 'two', 'three'])
          await rig.prompt(sessionId, `say ${word.repeat(100)}`, 'finish with it');
        void rig.call('_pilothouse/compact', { sessionId });
        await rig.gone();
      },
      { at: 'after:append/command/compact' },
    );
    expect(one.history('compaction_rejected').map(({ reason }) => reason)).toEqual(['restart']);
    expect(one.history('compacted')).toEqual([]);
    await one.isWhole();
  });

  it('the last change of mode and options wins', async () => {
    const one = await crash(async (rig, sessionId) => {
      await slowTurn(rig, sessionId);
      await rig.call('session/set_mode', { sessionId, modeId: 'ask' });
      await rig.call('session/set_mode', { sessionId, modeId: 'architect' });
      const configId = 'thought_level';
      await rig.call('session/set_config_option', { sessionId, configId, value: 'high' });
    });
    expect(await one.listed()).toMatchObject({ currentModeId: 'architect' });
    await one.isWhole();
    expect(one.history('turn_started').at(-1)?.config).toMatchObject({
      mode: 'architect',
      thoughtLevel: 'high',
    });
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
    expect(marks(one.rig)).toEqual([]);
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
    expect(new Set(marks(one.rig)).size).toBe(marks(one.rig).length);
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
    expect(new Set(marks(one.rig)).size).toBe(marks(one.rig).length);
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
      expect(marks(one.rig)).toEqual([]);
    },
  );
});
