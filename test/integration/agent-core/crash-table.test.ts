import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { eventually, isAlive, pidFrom } from '../../support/agent-core/agent-core.ts';
import { crash, SLOW } from '../../support/soak/rig/crash.ts';
import type { CrashRig } from '../../support/soak/rig/crash-rig.ts';

/** The crash table: what a restart makes of each thing that was in flight when the process was killed. */

function idOf(rig: CrashRig, index: number): string {
  return rig.sent[index]?.commandId ?? '';
}

/** A turn that runs until somebody makes the file `go`. */
async function slowTurn(rig: CrashRig, sessionId: string, ...rest: string[]): Promise<void> {
  void rig.prompt(sessionId, SLOW, ...rest);
  await rig.fileSays('begun');
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
    expect(one.rig.marks).toEqual([]);
    one.rig.permission = 'allow_once';
    await one.ask('_pilothouse/queue/resume');
    await one.rig.settle();
    expect(one.rig.marks).toHaveLength(1);
    const again = await one.rig.call('session/prompt', {
      sessionId: one.sessionId,
      prompt: items[0]?.content,
      _meta: { pilothouse: { commandId: waited } },
    });
    expect(again).toMatchObject({ result: { stopReason: 'end_turn' } });
    await one.isWhole();
    expect(one.rig.marks).toHaveLength(1);
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
    expect(one.rig.marks).toEqual([]);
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
    expect(one.rig.marks).toHaveLength(1);
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
    expect(one.rig.marks).toEqual([]);
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
    expect(one.rig.marks).toEqual(['m92', 'm91']);
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
    expect(one.rig.marks).toHaveLength(1);
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
    expect(one.rig.marks).toEqual(['m1']);
    expect(one.history('tool_ended').map(({ result }) => result.status)).toEqual([
      'outcome_unknown',
    ]);
    await one.isWhole();
    expect(one.rig.marks).toEqual(['m1']);
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
    expect(one.rig.marks).toEqual([]);
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
    expect(one.rig.marks).toEqual(['m1']);
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
