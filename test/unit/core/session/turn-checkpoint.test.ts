import { describe, expect, it } from 'vitest';
import { Deferred } from '../../../../src/base/deferred.ts';
import type { Effect, EndedTurn } from '../../../../src/core/session/checkpoints.ts';
import type { TurnId } from '../../../../src/core/session/words.ts';
import { aSession, aTool, OWNER, ok } from '../../../support/engine/a-session.ts';
import { MemoryCheckpoints } from '../../../support/engine/memory-checkpoints.ts';
import {
  calls,
  ScriptedModel,
  says,
  streamsForever,
} from '../../../support/engine/scripted-model.ts';

const STOP = { kind: 'cancelled', by: 'test' } as const;

/** Checkpoints that note what they are asked, and whose files can be made to take their time. */
class WatchedCheckpoints extends MemoryCheckpoints {
  readonly asked: string[] = [];
  effects: Effect[] = [];
  readonly ending = new Deferred<void>();
  slow: Promise<void> = Promise.resolve();
  slowBefore: Promise<void> = Promise.resolve();

  override async beforeEffect(effect: Effect): Promise<string | null> {
    this.asked.push(`before ${effect.paths.join()}`);
    this.effects.push(effect);
    const lacks = await super.beforeEffect(effect);
    await this.slowBefore;
    return lacks;
  }

  override async endTurn(turnId: TurnId): Promise<EndedTurn | null> {
    this.asked.push('end');
    this.ending.resolve();
    await this.slow;
    return super.endTurn(turnId);
  }
}

function aWriter(room: WatchedCheckpoints) {
  return aTool('write', () => {
    room.asked.push('run');
    room.files.set('/w/write', 'new');
    return ok('');
  });
}

describe('the checkpoint of a turn', () => {
  it('keeps files before an effect, and is sealed together with the turn', async () => {
    const room = new WatchedCheckpoints();
    const t = await aSession({
      model: new ScriptedModel(calls(['write', {}]), says('done')),
      tools: [aWriter(room)],
      checkpoints: room,
    });
    await t.prompt('go');
    expect(room.asked).toEqual(['before /w/write', 'run', 'end']);
    expect(t.types().slice(-2)).toEqual(['turn_checkpoint', 'turn_ended']);
    expect(await t.next('turn_checkpoint')).toMatchObject({
      turnId: (await t.next('turn_started')).turnId,
      onStack: true,
      beforeEventId: 1,
      beforeMessageCount: 0,
      afterMessageCount: 4,
      files: { coverage: 'full', changed: [{ path: '/w/write', change: 'added' }] },
    });
  });

  it('asks for nothing before calls that only read or stay within the session', async () => {
    const room = new WatchedCheckpoints();
    const asks = aTool('plan', () => ok(''));
    const plan = {
      ...asks,
      prepare: async () => ({
        accesses: [{ kind: 'session' as const }],
        preview: { title: 'plan', kind: 'other' as const, locations: [], content: [] },
        run: async () => ok(''),
      }),
    };
    const t = await aSession({
      model: new ScriptedModel(calls(['read', {}], ['plan', {}]), says('done')),
      tools: [aTool('read', () => ok(''), { readOnly: true }), plan],
      checkpoints: room,
    });
    await t.prompt('go');
    expect(room.asked).toEqual(['end']);
    expect(await t.next('turn_checkpoint')).toMatchObject({ files: null });
  });

  it('comes behind the end of a turn that was stopped, off the stack, and before the next turn', async () => {
    const room = new WatchedCheckpoints();
    const slow = new Deferred<void>();
    room.slow = slow.promise;
    const started = new Deferred<void>();
    const model = new ScriptedModel(
      calls(['write', {}]),
      streamsForever('half', () => started.resolve()),
      says('second'),
    );
    const t = await aSession({ model, tools: [aWriter(room)], checkpoints: room });
    const outcome = t.prompt('go');
    await started.promise;
    t.session.cancelBefore(2, STOP);
    // Stop is answered although the files are still being read.
    expect((await outcome).stopReason).toBe('cancelled');
    expect(t.types().at(-1)).toBe('turn_ended');
    const next = t.prompt('again', 3);
    const moved = t.session.exclusively(async () => t.types().at(-1));
    slow.resolve();
    expect(await moved).toBe('turn_checkpoint');
    await next;
    const types = t.types();
    expect(types.lastIndexOf('turn_started')).toBeGreaterThan(types.indexOf('turn_checkpoint'));
    expect(await t.next('turn_checkpoint')).toMatchObject({
      onStack: false,
      beforeEventId: 1,
      files: { changed: [{ path: '/w/write', change: 'added' }] },
    });
    expect(await t.next('turn_checkpoint', 2)).toMatchObject({ onStack: true });
  });

  it('lets a Stop that comes while files are read seal the turn at once', async () => {
    const room = new WatchedCheckpoints();
    const slow = new Deferred<void>();
    room.slow = slow.promise;
    const t = await aSession({ model: new ScriptedModel(says('done')), checkpoints: room });
    const outcome = t.prompt('go');
    await room.ending.promise;
    expect(t.session.cancelBefore(2, STOP)).toBe(true);
    expect(await outcome).toMatchObject({ terminal: { kind: 'user_cancelled' } });
    slow.resolve();
    expect(await t.next('turn_checkpoint')).toMatchObject({ onStack: false });
    expect(t.types().slice(-2)).toEqual(['turn_ended', 'turn_checkpoint']);
  });

  it('lets a Stop that comes while files are kept end the call before it ran', async () => {
    const room = new WatchedCheckpoints();
    room.slowBefore = new Promise(() => undefined);
    const t = await aSession({
      model: new ScriptedModel(calls(['write', {}])),
      tools: [aWriter(room)],
      checkpoints: room,
    });
    const outcome = t.prompt('go');
    await t.next('tool_proposed');
    while (room.effects.length === 0) await Promise.resolve();
    t.session.cancelBefore(2, STOP);
    expect((await outcome).stopReason).toBe('cancelled');
    expect(room.asked).not.toContain('run');
    expect(t.types()).not.toContain('tool_started');
    expect(await t.next('tool_ended')).toMatchObject({ result: { status: 'cancelled' } });
  });

  it('ends the turn also where its files could not be kept', async () => {
    const room = new WatchedCheckpoints();
    room.slow = Promise.reject(new Error('disk full'));
    room.slow.catch(() => undefined);
    const t = await aSession({
      model: new ScriptedModel(calls(['write', {}]), says('done')),
      tools: [aWriter(room)],
      checkpoints: room,
    });
    expect((await t.prompt('go')).stopReason).toBe('end_turn');
    expect(await t.next('turn_checkpoint')).toMatchObject({ files: null, onStack: true });
  });

  it('does not keep a session open for long that is being closed', async () => {
    const room = new WatchedCheckpoints();
    room.slow = new Promise(() => undefined);
    const started = new Deferred<void>();
    const t = await aSession({
      model: new ScriptedModel(streamsForever('half', () => started.resolve())),
      checkpoints: room,
    });
    const outcome = t.prompt('go');
    await started.promise;
    const closing = t.session.close({ kind: 'closed', why: 'session_closed' }, OWNER);
    await outcome;
    await t.clock.whenSleeping();
    t.clock.advance(2_000);
    await closing;
    expect(t.types()).not.toContain('turn_checkpoint');
  });
});
