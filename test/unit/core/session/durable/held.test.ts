import { describe, expect, it } from 'vitest';
import { Deferred } from '../../../../../src/base/deferred.ts';
import type { CommandId, QueueItemId } from '../../../../../src/core/session/words.ts';
import { rootLoop } from '../../../../../src/core/session/words.ts';
import { aSession, OWNER, type TestSession } from '../../../../support/engine/a-session.ts';
import { ScriptedModel, says, streamsForever } from '../../../../support/engine/scripted-model.ts';

/** A session in whose turn the process ends; a prompt and a message of every mode wait. */
async function busy(): Promise<{ t: TestSession; model: ScriptedModel }> {
  const started = new Deferred<void>();
  const model = new ScriptedModel(
    streamsForever('half', () => started.resolve()),
    says('one'),
    says('two'),
    says('three'),
  );
  const t = await aSession({ model });
  t.prompt('first').catch(() => undefined);
  await started.promise;
  return { t, model };
}

const text = (value: string) => [{ type: 'text', text: value } as const];
const held = (t: TestSession) =>
  t.session.entries.nextTurns().items.map(({ itemId, content }) => [itemId, content[0]]);

function resolutions(t: TestSession, commandId: string): unknown[] {
  const stored = t.journal.records.get(t.session.sessionId) ?? [];
  return stored.flatMap(({ record: { event } }) =>
    event.type === 'command_resolved' && event.commandId === commandId
      ? [[event.resolution, event.reason ?? null]]
      : [],
  );
}

describe('a prompt that waited when the process ended', () => {
  it('is held under its own id in front of the queue, and sent when a person says so', async () => {
    const { t } = await busy();
    await t.session.entries.changeQueue(
      { kind: 'add', itemId: 'later' as QueueItemId, content: text('later'), before: null },
      OWNER,
    );
    t.prompt('second', 2, 'waits').catch(() => undefined);
    await t.session.record();
    const again = await t.restart();
    expect(held(again)).toEqual([
      ['waits', { type: 'text', text: 'second' }],
      ['later', { type: 'text', text: 'later' }],
    ]);
    expect(again.session.entries.nextTurns().paused).toBe('restart');
    expect(again.session.isActive).toBe(false);
    expect(resolutions(again, 'waits')).toEqual([['held', 'restart']]);
    await again.session.entries.changeQueue({ kind: 'resume' }, OWNER);
    const begun = await again.next('turn_started');
    expect(begun.commandId).toBe('waits');
    await again.next('turn_ended', 2);
    expect(resolutions(again, 'waits')).toEqual([
      ['held', 'restart'],
      ['started', null],
    ]);
    const issued = (again.journal.records.get(again.session.sessionId) ?? []).filter(
      ({ record: { event } }) =>
        event.type === 'command_issued' && event.command.command_id === 'waits',
    );
    expect(issued).toHaveLength(1);
  });

  it('is resolved as cancelled when it is taken out of the queue', async () => {
    const { t } = await busy();
    t.prompt('second', 2, 'waits').catch(() => undefined);
    await t.session.record();
    const again = await t.restart();
    await again.session.entries.changeQueue(
      { kind: 'remove', itemId: 'waits' as QueueItemId },
      OWNER,
    );
    expect(resolutions(again, 'waits')).toEqual([
      ['held', 'restart'],
      ['cancelled', 'removed'],
    ]);
  });

  it('is found as it was by a second restart', async () => {
    const { t } = await busy();
    t.prompt('second', 2, 'waits').catch(() => undefined);
    await t.session.record();
    const twice = await (await t.restart()).restart();
    expect(held(twice)).toEqual([['waits', { type: 'text', text: 'second' }]]);
    expect(resolutions(twice, 'waits')).toEqual([['held', 'restart']]);
  });

  it('does not begin again when its client sends it again', async () => {
    const { t } = await busy();
    t.prompt('second', 2, 'waits').catch(() => undefined);
    await t.session.record();
    const again = await t.restart();
    expect(await again.prompt('second', 3, 'waits')).toMatchObject({ turnId: null });
    expect(held(again)).toHaveLength(1);
    await expect(again.prompt('another', 4, 'waits')).rejects.toMatchObject({
      code: 'session.command_collision',
    });
  });
});

describe('messages that waited when the process ended', () => {
  it('are held if the agent was to read them, and else given back', async () => {
    const { t } = await busy();
    const send = (mode: 'steer' | 'interrupt_immediate' | 'queue', value: string) =>
      t.session.entries.inject({
        mode,
        content: text(value),
        actor: OWNER,
        commandId: value as CommandId,
      });
    await send('steer', 'steer');
    await send('queue', 'note');
    await t.session.entries.inject({
      mode: 'steer',
      content: text('reminder'),
      actor: OWNER,
      commandId: 'reminder' as CommandId,
      reminder: { dedupeKey: 'k', authority: 'advisory', tags: [] },
    });
    const again = await t.restart();
    expect(again.session.entries.pending()).toEqual([]);
    expect(held(again).map(([, content]) => content)).toEqual([{ type: 'text', text: 'steer' }]);
    expect(resolutions(again, 'steer')).toEqual([['cancelled', 'restart_held']]);
    expect(resolutions(again, 'note')).toEqual([['cancelled', 'given_back']]);
    expect(resolutions(again, 'reminder')).toEqual([['cancelled', 'given_back']]);
  });
});

describe('a command to end something whose process died before it said what came of it', () => {
  it('is cancelled with the restart, and is not carried out', async () => {
    const { t } = await busy();
    const command = {
      type: 'cancel',
      v: 1,
      command_id: 'stop' as CommandId,
      cause: null,
      agency: 'user',
      actor: OWNER,
      target: { session_id: t.session.sessionId, loop_id: rootLoop(t.session.sessionId) },
      created_at: 1,
    } as const;
    await t.session.recordControl({ type: 'command_issued', command, bodyHash: 'x' });
    const again = await t.restart();
    expect(resolutions(again, 'stop')).toEqual([['cancelled', 'restart']]);
    const third = await again.restart();
    expect(resolutions(third, 'stop')).toHaveLength(1);
  });
});
