import { describe, expect, it } from 'vitest';
import { Deferred } from '../../../../src/base/deferred.ts';
import type { CheckpointFiles } from '../../../../src/core/session/control-events.ts';
import type { CommandId, SessionConfig } from '../../../../src/core/session/words.ts';
import { aSession, aTool, OWNER, ok, type TestSession } from '../../../support/engine/a-session.ts';
import { MemoryCheckpoints } from '../../../support/engine/memory-checkpoints.ts';
import {
  calls,
  type Reply,
  ScriptedModel,
  says,
  streamsForever,
} from '../../../support/engine/scripted-model.ts';

const LACK = 'git was not found';
const ORIGIN = { actor: OWNER, agency: 'user' } as const;

/** A session with one tool that writes. */
async function aWorkspace(
  checkpoints: SessionConfig['checkpoints'],
  ...replies: readonly Reply[]
): Promise<{ t: TestSession; room: MemoryCheckpoints; ran: () => number; model: ScriptedModel }> {
  const room = new MemoryCheckpoints();
  const model = new ScriptedModel(...replies);
  let ran = 0;
  const write = aTool('write', () => {
    ran += 1;
    room.files.set('/w/a', `${ran}`);
    return ok('written');
  });
  const config = checkpoints === undefined ? {} : { checkpoints };
  const t = await aSession({ model, tools: [write], checkpoints: room, config });
  return { t, room, ran: () => ran, model };
}

describe('a session that requires checkpoints', () => {
  it('does not run a call whose before-state can not be kept, and ends the turn with an error', async () => {
    const { t, room, ran } = await aWorkspace('required', calls(['write', {}]), says('never'));
    room.lacks = LACK;
    const { terminal } = await t.prompt('go');
    expect(terminal).toMatchObject({
      kind: 'runtime_error',
      reason: expect.stringContaining(LACK),
    });
    expect(ran()).toBe(0);
    expect(t.types()).not.toContain('tool_started');
    expect(await t.next('tool_ended')).toMatchObject({ result: { status: 'failed' } });
    expect(await t.next('turn_checkpoint')).toMatchObject({ fault: LACK });
  });

  it('ends a turn with an error whose files can not be kept, and begins no other one', async () => {
    const { t, room, model } = await aWorkspace('required', calls(['write', {}]), says('done'));
    const failing = room.beforeEffect.bind(room);
    room.beforeEffect = async (effect) => {
      const lacks = await failing(effect);
      room.lacks = LACK;
      return lacks;
    };
    expect((await t.prompt('go')).terminal.kind).toBe('runtime_error');
    expect(t.session.workspaceFault).toBe(LACK);
    model.add(says('more'));
    await expect(t.prompt('again')).rejects.toMatchObject({
      code: 'session.workspace_fault',
      data: { fault: LACK },
    });
    expect(t.types().filter((type) => type === 'turn_started')).toHaveLength(1);
  });

  it('answers a repeat of a prompt from the record also while nothing may begin', async () => {
    const { t, room } = await aWorkspace('required', calls(['write', {}]));
    room.lacks = LACK;
    const first = await t.prompt('go', 1, 'same');
    expect((await t.prompt('go', 2, 'same')).turnId).toBe(first.turnId);
  });

  it('ends what waited behind such a turn without doing anything', async () => {
    const { t, room, ran, model } = await aWorkspace('required', calls(['write', {}]));
    room.lacks = LACK;
    const first = t.prompt('go');
    const second = t.prompt('wait');
    await first;
    const { terminal } = await second;
    expect(terminal).toMatchObject({ kind: 'runtime_error' });
    expect([ran(), model.requests.length]).toEqual([0, 1]);
  });

  it('goes on when a person has the files kept, also after a restart, and not before', async () => {
    const { t, room, model } = await aWorkspace('required', calls(['write', {}]));
    room.lacks = LACK;
    await t.prompt('go');
    const again = await t.restart();
    const refused = expect.objectContaining({ code: 'session.workspace_fault' });
    await expect(again.prompt('more')).rejects.toEqual(refused);
    await expect(again.session.checkpointWorkspace(ORIGIN)).rejects.toMatchObject({
      refusal: 'fs_snapshot_error',
    });
    await expect(again.prompt('more')).rejects.toEqual(refused);
    room.lacks = null;
    await again.session.checkpointWorkspace(ORIGIN);
    model.add(says('fine'));
    expect((await again.prompt('more')).terminal.kind).toBe('natural');
  });

  it('goes on when it requires them no more', async () => {
    const { t, room, model, ran } = await aWorkspace('required', calls(['write', {}]));
    room.lacks = LACK;
    await t.prompt('go');
    await t.session.entries.changeLoop({ checkpoints: 'best_effort' }, ORIGIN);
    model.add(calls(['write', {}]), says('fine'));
    expect((await t.prompt('more')).terminal.kind).toBe('natural');
    expect(ran()).toBe(1);
  });

  it('is not stopped by a Stop that came while the state was read', async () => {
    const { t, room } = await aWorkspace('required', calls(['write', {}]));
    const reading = new Deferred<void>();
    const slow = new Deferred<void>();
    room.beforeEffect = async () => {
      reading.resolve();
      await slow.promise;
      return null;
    };
    const stopped = t.prompt('go');
    await reading.promise;
    t.session.cancelBefore(9, { kind: 'cancelled', by: 'test' });
    expect((await stopped).stopReason).toBe('cancelled');
    slow.resolve();
    await t.session.exclusively(async () => undefined);
    expect(t.session.workspaceFault).toBe(null);
  });
});

describe('a session that does its best', () => {
  it('runs what it can not keep, and keeps none where they are off', async () => {
    const best = await aWorkspace(undefined, calls(['write', {}]), says('done'));
    best.room.lacks = LACK;
    expect((await best.t.prompt('go')).terminal.kind).toBe('natural');
    expect([best.ran(), best.t.session.workspaceFault]).toEqual([1, null]);
    expect(await best.t.next('turn_checkpoint')).not.toHaveProperty('fault');
    const off = await aWorkspace('off', calls(['write', {}]), says('done'));
    await off.t.prompt('go');
    // The transcript can still be rolled back.
    expect(await off.t.next('turn_checkpoint')).toMatchObject({ onStack: true, files: null });
  });
});

describe('files that a person has kept', () => {
  it('are on disk before the event that names them', async () => {
    const { t, room } = await aWorkspace(undefined);
    const written = new Deferred<void>();
    const keep = room.keep.bind(room);
    room.keep = async (): Promise<CheckpointFiles> => {
      const files = await keep();
      await written.promise;
      return files;
    };
    const keeping = t.session.checkpointWorkspace({ ...ORIGIN, commandId: 'mine' as never });
    const waiting = t.prompt('later').catch(() => undefined);
    await Promise.resolve();
    expect(t.types()).toEqual([]);
    written.resolve();
    const { checkpointId, files } = await keeping;
    expect(checkpointId).toMatch(/^kept_/u);
    await waiting;
    expect(t.types()[0]).toBe('workspace_checkpointed');
    const [record] = (await t.journal.readHistory(t.session.sessionId, { limit: 9 })).slice(1);
    expect(record).toMatchObject({
      event: { type: 'workspace_checkpointed', trigger: 'manual', files, actor: OWNER },
      cause: { command_ids: ['mine'] },
    });
  });

  it('are kept once for one command, however often it comes, also after a restart', async () => {
    const { t, room } = await aWorkspace(undefined, says('done'));
    let times = 0;
    const keep = room.keep.bind(room);
    room.keep = async () => {
      times += 1;
      return keep();
    };
    const mine = { ...ORIGIN, commandId: 'mine' as CommandId };
    // What failed may be tried again under its id.
    room.lacks = LACK;
    await expect(t.session.checkpointWorkspace(mine)).rejects.toMatchObject({
      refusal: 'fs_snapshot_error',
    });
    room.lacks = null;
    const [first, second] = await Promise.all([
      t.session.checkpointWorkspace(mine),
      t.session.checkpointWorkspace(mine),
    ]);
    expect([first.isRepeat, second.isRepeat]).toEqual([false, true]);
    expect(second).toEqual({ ...first, isRepeat: true });
    const other = await t.session.checkpointWorkspace({
      ...ORIGIN,
      commandId: 'other' as CommandId,
    });
    expect(other.checkpointId).not.toBe(first.checkpointId);
    expect((await t.session.checkpointWorkspace(ORIGIN)).isRepeat).toBe(false);
    expect(times).toBe(4);
    // The id of another command is not free.
    await t.prompt('go', 1, 'prompted');
    await expect(
      t.session.checkpointWorkspace({ ...ORIGIN, commandId: 'prompted' as CommandId }),
    ).rejects.toMatchObject({ code: 'session.command_collision' });
    const again = await t.restart();
    expect(await again.session.checkpointWorkspace(mine)).toEqual({ ...first, isRepeat: true });
  });

  it('leave no event where they can not be kept, and are refused while a turn runs', async () => {
    const started = new Deferred<void>();
    const { t, room } = await aWorkspace(
      undefined,
      streamsForever('x', () => started.resolve()),
    );
    room.lacks = LACK;
    await expect(t.session.checkpointWorkspace(ORIGIN)).rejects.toMatchObject({
      refusal: 'fs_snapshot_error',
      data: { code: 'checkpoint.unreadable' },
    });
    expect(t.types()).toEqual([]);
    const running = t.prompt('go');
    await started.promise;
    await expect(t.session.checkpointWorkspace(ORIGIN)).rejects.toMatchObject({
      refusal: 'prompt_active',
    });
    t.session.cancelBefore(9, { kind: 'cancelled', by: 'test' });
    await running;
    await t.session.close({ kind: 'closed', why: 'session_closed' }, OWNER);
    await expect(t.session.checkpointWorkspace(ORIGIN)).rejects.toMatchObject({
      refusal: 'session_closed',
    });
  });
});

describe('a turn that a crash broke off', () => {
  it('has a checkpoint when the session comes back, off the stack and with what it had done', async () => {
    const started = new Deferred<void>();
    const { t, room } = await aWorkspace(
      undefined,
      calls(['write', {}]),
      streamsForever('half', () => started.resolve()),
    );
    void t.prompt('go').catch(() => undefined);
    await started.promise;
    const again = await t.restart();
    const checkpoint = await again.next('turn_checkpoint');
    expect(checkpoint).toMatchObject({
      interrupted: true,
      onStack: false,
      beforeEventId: 1,
      beforeMessageCount: 0,
      files: { changed: [{ path: '/w/a', change: 'added' }] },
    });
    expect(checkpoint.afterMessageCount).toBe(again.session.conversation.messageCount);
    const types = again.types();
    expect(types.indexOf('turn_ended')).toBeLessThan(types.indexOf('turn_checkpoint'));
    expect(again.session.timeline.reachable()).toMatchObject([{ state: 'off' }]);
    expect(room.files.get('/w/a')).toBe('1');
    // Only once.
    const third = await again.restart();
    expect(third.types()).not.toContain('turn_checkpoint');
  });

  it('counts the result of a call that was cut as the message it becomes', async () => {
    const room = new MemoryCheckpoints();
    const running = new Deferred<void>();
    const write = aTool('write', async () => {
      room.files.set('/w/a', 'half');
      running.resolve();
      return new Promise<never>(() => undefined);
    });
    const t = await aSession({
      model: new ScriptedModel(calls(['write', {}])),
      tools: [write],
      checkpoints: room,
    });
    void t.prompt('go').catch(() => undefined);
    await running.promise;
    const again = await t.restart();
    const { afterMessageCount } = await again.next('turn_checkpoint');
    expect(afterMessageCount).toBe(again.session.conversation.messageCount);
    expect(await again.next('tool_ended')).toMatchObject({ result: { status: 'outcome_unknown' } });
  });

  it('has none where it had no effect', async () => {
    const started = new Deferred<void>();
    const { t } = await aWorkspace(
      undefined,
      streamsForever('half', () => started.resolve()),
    );
    void t.prompt('go').catch(() => undefined);
    await started.promise;
    expect((await t.restart()).types()).not.toContain('turn_checkpoint');
  });
});
