import { describe, expect, it } from 'vitest';
import { Deferred } from '../../../../../src/base/deferred.ts';
import { SessionError } from '../../../../../src/core/session/commands/session-error.ts';
import type { ChangeCheck } from '../../../../../src/core/session/control/loop-change.ts';
import type { StoredRecord } from '../../../../../src/core/session/ports.ts';
import type { CommandId } from '../../../../../src/core/session/words.ts';
import { aSession, OWNER, type TestSession } from '../../../../support/engine/a-session.ts';
import { ScriptedModel, says } from '../../../../support/engine/scripted-model.ts';

const USER = { actor: OWNER, agency: 'user' } as const;

/** Refuses every model but this one. */
const onlyTwo: ChangeCheck = async ({ model }) => {
  if (model !== undefined && model !== 'scripted/two')
    throw new SessionError('session.bad_option', `There is no model "${model}".`);
};

/** Everything that was recorded behind what the session began with. */
function records(t: TestSession): readonly StoredRecord[] {
  return (t.journal.records.get(t.session.sessionId) ?? []).slice(1);
}

describe('a change of a loop', () => {
  it('is recorded with its command and acknowledged with what the next turn begins with', async () => {
    const t = await aSession({ model: new ScriptedModel() });
    const acknowledged = await t.session.entries.changeLoop(
      { mode: 'code' },
      { ...USER, commandId: 'm1' as CommandId },
    );
    const values = { mode: 'code', model: 'scripted/one', thoughtLevel: 'auto' };
    expect(acknowledged).toEqual({ kind: 'committed', values });
    expect(records(t)).toMatchObject([
      {
        stream: 'history',
        record: {
          event: { type: 'config_changed', config: values, actor: OWNER },
          cause: { command_ids: ['m1'] },
        },
      },
      {
        stream: 'control',
        record: {
          event: {
            type: 'loop_changed',
            command: { type: 'set_loop_mode', mode: 'code', command_id: 'm1', agency: 'user' },
            values,
          },
          cause: { command_ids: ['m1'] },
        },
      },
    ]);
  });

  it('of several values is one change, by a command for each lane word', async () => {
    const t = await aSession({ model: new ScriptedModel() });
    await t.session.entries.changeLoop(
      { mode: 'code', thoughtLevel: 'high', budget: { steps: 3 }, judge: 'same', gateSeconds: 9 },
      USER,
    );
    expect(t.session.config).toEqual({
      mode: 'code',
      model: 'scripted/one',
      thoughtLevel: 'high',
      budget: { steps: 3 },
      judge: 'same',
      gateSeconds: 9,
    });
    const commands = records(t).flatMap(({ record: { event } }) =>
      event.type === 'loop_changed' ? [event.command] : [],
    );
    expect(commands).toMatchObject([
      { type: 'set_loop_mode', mode: 'code' },
      {
        type: 'change_loop_inference',
        thought_level: 'high',
        budget: { steps: 3 },
        judge: 'same',
      },
    ]);
    expect(t.types().filter((type) => type === 'config_changed')).toHaveLength(1);
    await t.session.entries.changeLoop({ judge: null, gateSeconds: null }, USER);
    expect(t.session.config).not.toHaveProperty('judge');
    expect(t.session.config).not.toHaveProperty('gateSeconds');
  });

  it('that is refused changes nothing, all of it, and leaves a record that says why', async () => {
    const t = await aSession({ model: new ScriptedModel(), checkChange: onlyTwo });
    const before = t.session.config;
    expect(await t.session.entries.changeLoop({ mode: 'code', model: 'nobody' }, USER)).toEqual({
      kind: 'refused',
      reason: 'session.bad_option',
      message: 'There is no model "nobody".',
    });
    expect(t.session.config).toEqual(before);
    expect(records(t)).toMatchObject(
      ['set_loop_mode', 'change_loop_inference'].map((type) => ({
        stream: 'control',
        record: {
          event: {
            type: 'loop_change_refused',
            command: { type },
            reason: 'session.bad_option',
          },
        },
      })),
    );
    expect(await t.session.entries.changeLoop({ model: 'scripted/two' }, USER)).toMatchObject({
      kind: 'committed',
    });
  });

  it('to what is chosen already leaves no record', async () => {
    const t = await aSession({ model: new ScriptedModel() });
    expect(await t.session.entries.changeLoop({ mode: 'ask' }, USER)).toMatchObject({
      kind: 'committed',
    });
    expect(records(t)).toEqual([]);
  });

  it('is deferred to the next turn, and is there after a restart', async () => {
    const release = new Deferred<void>();
    const model = new ScriptedModel();
    const t = await aSession({ model });
    model.add(async function* (request, signal) {
      await release.promise;
      yield* says('one')(request, signal);
    }, says('two'));
    const turn = t.prompt('one');
    await t.next('turn_started');
    await t.session.entries.changeLoop({ thoughtLevel: 'high' }, USER);
    release.resolve();
    await turn;
    await t.prompt('two');
    expect(model.requests.map(({ thoughtLevel }) => thoughtLevel)).toEqual(['auto', 'high']);
    expect((await t.restart()).session.config).toEqual(t.session.config);
  });

  it('is not built on one that is being replaced: of two at once neither is lost', async () => {
    const t = await aSession({ model: new ScriptedModel() });
    await Promise.all([
      t.session.entries.changeLoop({ mode: 'code' }, USER),
      t.session.entries.changeLoop({ thoughtLevel: 'low' }, USER),
    ]);
    expect(t.session.config).toMatchObject({ mode: 'code', thoughtLevel: 'low' });
  });

  it('that can’t be recorded changes nothing', async () => {
    const t = await aSession({ model: new ScriptedModel() });
    t.journal.failure = new Error('disk');
    await expect(t.session.entries.changeLoop({ mode: 'code' }, USER)).rejects.toThrow('disk');
    expect(t.session.config.mode).toBe('ask');
  });

  it('of a closed session is refused', async () => {
    const t = await aSession({ model: new ScriptedModel() });
    await t.session.close({ kind: 'closed', why: 'session_closed' }, OWNER);
    expect(await t.session.entries.changeLoop({ mode: 'code' }, USER)).toMatchObject({
      kind: 'refused',
      reason: 'session.closed',
    });
  });
});
