import { describe, expect, it } from 'vitest';
import { Deferred } from '../../../../../src/base/deferred.ts';
import { storedNextTurns } from '../../../../../src/core/host/fold-session.ts';
import { ModelError } from '../../../../../src/core/session/model.ts';
import type { CommandId, QueueItemId } from '../../../../../src/core/session/words.ts';
import { aSession, OWNER, type TestSession } from '../../../../support/engine/a-session.ts';
import {
  fails,
  ScriptedModel,
  says,
  streamsForever,
} from '../../../../support/engine/scripted-model.ts';

const STOP = { kind: 'cancelled', by: 'test' } as const;
const id = (name: string): QueueItemId => name as QueueItemId;
const text = (words: string) => [{ type: 'text', text: words } as const];

const add = (t: TestSession, name: string) =>
  t.session.entries.changeQueue(
    { kind: 'add', itemId: id(name), content: text(name), before: null },
    OWNER,
  );

/** The prompts of the turns that began, in order. */
const begun = (t: TestSession): string[] =>
  t.history().flatMap((event) => (event.type === 'turn_started' ? [String(event.commandId)] : []));

const held = (t: TestSession): string[] =>
  t.session.entries.nextTurns().items.map(({ itemId }) => String(itemId));

const control = (t: TestSession): string[] =>
  t.signals.flatMap((signal) => {
    if (signal.stream !== 'control') return [];
    const { event } = signal.record;
    return [event.type === 'queue_changed' ? `queue ${event.change.kind}` : event.type];
  });

const pendings = (t: TestSession) =>
  t.signals.flatMap((signal) =>
    signal.stream === 'ephemeral' && signal.event.type === 'pending_changed'
      ? [signal.event.nextTurns]
      : [],
  );

/** A session in the middle of its first turn. */
async function busy(...more: Parameters<ScriptedModel['add']>) {
  const started = new Deferred<void>();
  const finish = new Deferred<void>();
  const model = new ScriptedModel(
    async function* (_request, signal) {
      started.resolve();
      signal.addEventListener('abort', () => finish.resolve());
      await finish.promise;
      yield { type: 'text', text: 'first' };
      yield { type: 'finish', reason: 'stop', usage: { inputTokens: 0, outputTokens: 0 } };
    },
    ...more,
  );
  const t = await aSession({ model });
  const first = t.prompt('first');
  await started.promise;
  return { t, model, first, finish };
}

describe('messages held for the next turns', () => {
  it('are sent one after another, each as a prompt of its owner under its own id', async () => {
    const { t, first, finish } = await busy(says('1'), says('2'));
    await add(t, 'a');
    await add(t, 'b');
    expect(held(t)).toEqual(['a', 'b']);
    finish.resolve();
    await first;
    await t.next('turn_ended', 3);
    expect(begun(t)).toEqual(['c1', 'a', 'b']);
    expect(held(t)).toEqual([]);
    const accepted = t.signals.flatMap((signal) =>
      signal.stream === 'control' && signal.record.event.type === 'command_issued'
        ? [signal.record.event.command]
        : [],
    );
    expect(accepted.at(-1)).toMatchObject({ command_id: 'b', actor: OWNER });
  });

  it('are journaled as sent right before the admission of their prompt, in the same append', async () => {
    const { t, first, finish } = await busy(says('1'));
    await add(t, 'a');
    finish.resolve();
    await first;
    await t.next('turn_ended', 2);
    const stored = t.journal.records.get(t.session.sessionId) ?? [];
    const at = stored.findIndex(
      ({ record: { event } }) => event.type === 'queue_changed' && event.change.kind === 'sent',
    );
    expect(stored.slice(at, at + 4).map(({ record: { event } }) => event.type)).toEqual([
      'queue_changed',
      'command_issued',
      'command_resolved',
      'turn_started',
    ]);
  });

  it('begin at once where nothing runs', async () => {
    const t = await aSession({ model: new ScriptedModel(says('1')) });
    expect(await add(t, 'a')).toEqual({ itemId: 'a' });
    await t.next('turn_ended');
    expect(begun(t)).toEqual(['a']);
  });

  it('wait behind what a person sent as a prompt', async () => {
    const { t, first, finish } = await busy(says('1'), says('2'));
    await add(t, 'a');
    const direct = t.prompt('direct');
    finish.resolve();
    await first;
    await direct;
    await t.next('turn_ended', 3);
    expect(begun(t)).toEqual(['c1', 'c2', 'a']);
  });

  it('are kept and paused by Stop, and go on when resumed', async () => {
    const { t, first } = await busy(says('1'), says('2'));
    await add(t, 'a');
    await add(t, 'b');
    expect(t.session.cancelBefore(2, STOP)).toBe(true);
    expect(t.session.entries.nextTurns().paused).toBe('stopped');
    expect((await first).terminal.kind).toBe('user_cancelled');
    expect(t.session.isActive).toBe(false);
    expect(held(t)).toEqual(['a', 'b']);
    await t.session.entries.changeQueue({ kind: 'resume' }, OWNER);
    await t.next('turn_ended', 3);
    expect(begun(t)).toEqual(['c1', 'a', 'b']);
  });

  it('stop with the turn that one of them became', async () => {
    const started = new Deferred<void>();
    const t = await aSession({
      model: new ScriptedModel(streamsForever('x', () => started.resolve())),
    });
    await add(t, 'a');
    await add(t, 'b');
    await started.promise;
    expect(t.session.cancelBefore(1, STOP)).toBe(true);
    expect((await t.next('turn_ended')).terminal.kind).toBe('user_cancelled');
    expect(held(t)).toEqual(['b']);
  });

  it('are not paused by a Stop when none is held', async () => {
    const { t, first } = await busy(says('1'));
    t.session.cancelBefore(2, STOP);
    await first;
    expect(t.session.entries.nextTurns().paused).toBeNull();
    await add(t, 'a');
    await t.next('turn_ended', 2);
    expect(begun(t)).toEqual(['c1', 'a']);
  });

  it('are paused by a turn that failed', async () => {
    const refused = new ModelError('model.bad_request', 'no', { source: 'scripted' });
    const { t, first, finish } = await busy(fails(refused), says('2'));
    await add(t, 'a');
    await add(t, 'b');
    finish.resolve();
    await first;
    expect((await t.next('turn_ended', 2)).terminal.kind).toBe('provider_error');
    expect(t.session.entries.nextTurns().paused).toBe('turn_failed');
    expect(held(t)).toEqual(['b']);
  });

  it('stay paused behind a prompt that a person sends meanwhile', async () => {
    const { t, first } = await busy(says('1'));
    await add(t, 'a');
    t.session.cancelBefore(2, STOP);
    await first;
    await t.prompt('direct');
    expect(begun(t)).toEqual(['c1', 'c2']);
    expect(t.session.entries.nextTurns()).toMatchObject({ paused: 'stopped' });
    expect(held(t)).toEqual(['a']);
  });

  it('survive a restart, paused', async () => {
    const { t } = await busy();
    await add(t, 'a');
    await add(t, 'b');
    await t.session.entries.changeQueue({ kind: 'move', itemId: id('b'), before: id('a') }, OWNER);
    const model = new ScriptedModel(says('1'), says('2'));
    const again = await t.restart({ model });
    expect(again.session.entries.nextTurns().paused).toBe('restart');
    expect(held(again)).toEqual(['b', 'a']);
    expect(again.session.isActive).toBe(false);
    expect(await storedNextTurns(t.journal, t.session.sessionId)).toEqual(
      again.session.entries.nextTurns(),
    );
    const third = await again.restart();
    expect(control(third)).not.toContain('queue paused');
    await third.session.entries.changeQueue({ kind: 'resume' }, OWNER);
    await third.next('turn_ended', 2);
    expect(begun(third)).toEqual(['b', 'a']);
  });

  it('are neither lost nor sent twice when the process dies right after one began', async () => {
    const started = new Deferred<void>();
    const t = await aSession({
      model: new ScriptedModel(streamsForever('x', () => started.resolve())),
    });
    await add(t, 'a');
    await add(t, 'b');
    await started.promise;
    const model = new ScriptedModel(says('2'));
    const again = await t.restart({ model });
    expect(held(again)).toEqual(['b']);
    await again.session.entries.changeQueue({ kind: 'resume' }, OWNER);
    await again.next('turn_ended', 2);
    expect(begun(again)).toEqual(['b']);
    // The repeated addition is answered from the record.
    expect(await add(again, 'a')).toEqual({ itemId: 'a', isRepeat: true });
    expect(held(again)).toEqual([]);
  });

  it('stay when the session is closed in the middle of a turn', async () => {
    const { t, first } = await busy();
    await add(t, 'a');
    await t.session.close({ kind: 'closed', why: 'client_gone' }, OWNER);
    await first;
    expect(held(await t.restart())).toEqual(['a']);
    await expect(add(t, 'b')).rejects.toMatchObject({ code: 'control.session_closed' });
  });

  it('use an id once: a prompt or an item with it is refused', async () => {
    const { t } = await busy();
    await add(t, 'a');
    await expect(t.prompt('a', 5, 'a')).rejects.toMatchObject({
      code: 'session.command_collision',
    });
    await expect(add(t, 'c1')).rejects.toMatchObject({ code: 'control.command_collision' });
  });

  it('answer a prompt that repeats one of them from its record', async () => {
    const t = await aSession({ model: new ScriptedModel(says('1')) });
    await add(t, 'a');
    await t.next('turn_ended');
    const outcome = await t.session.prompt({
      order: 9,
      commandId: 'a' as CommandId,
      content: text('a'),
      actor: OWNER,
    });
    expect(outcome.terminal.kind).toBe('natural');
    expect(begun(t)).toEqual(['a']);
  });

  it('tell who watches about every change', async () => {
    const { t } = await busy();
    await add(t, 'a');
    await t.session.entries.changeQueue({ kind: 'pause' }, OWNER);
    await t.session.entries.changeQueue({ kind: 'remove', itemId: id('a') }, OWNER);
    await t.session.entries.changeQueue({ kind: 'resume' }, OWNER);
    expect(pendings(t).map(({ paused, items }) => [paused, items.length])).toEqual([
      [null, 1],
      ['asked', 1],
      ['asked', 0],
      [null, 0],
    ]);
  });

  it('are refused by the session whose journal failed', async () => {
    const { t, first } = await busy();
    t.journal.failure = new Error('disk full');
    await expect(add(t, 'a')).rejects.toThrow('disk full');
    await expect(first).rejects.toThrow('disk full');
    expect(begun(t)).toEqual(['c1']);
  });
});

describe('sending one of them now', () => {
  it('stops the running turn and sends that one next; the others keep their places', async () => {
    const { t, first } = await busy(says('1'), says('2'), says('3'));
    for (const name of ['a', 'b', 'c']) await add(t, name);
    const sent = t.session.entries.changeQueue({ kind: 'send_now', itemId: id('b') }, OWNER);
    expect((await first).terminal).toMatchObject({
      kind: 'user_cancelled',
      reason: 'Stopped by the user to send another message now',
    });
    expect(await sent).toEqual({ itemId: 'b' });
    await t.next('turn_ended', 4);
    expect(begun(t)).toEqual(['c1', 'b', 'a', 'c']);
    expect(t.session.entries.nextTurns().paused).toBeNull();
  });

  it('stops the prompts that wait as well', async () => {
    const { t } = await busy(says('1'));
    const waiting = t.prompt('waiting');
    await add(t, 'a');
    await t.session.entries.changeQueue({ kind: 'send_now', itemId: id('a') }, OWNER);
    expect(await waiting).toMatchObject({ turnId: null, stopReason: 'cancelled' });
  });

  it('works from a paused queue, which stays paused', async () => {
    const { t, first } = await busy(says('1'));
    await add(t, 'a');
    await add(t, 'b');
    t.session.cancelBefore(2, STOP);
    await first;
    await t.session.entries.changeQueue({ kind: 'send_now', itemId: id('b') }, OWNER);
    await t.next('turn_ended', 2);
    expect(begun(t)).toEqual(['c1', 'b']);
    expect(t.session.entries.nextTurns().paused).toBe('stopped');
    expect(held(t)).toEqual(['a']);
  });

  it('is undone by a Stop that comes before it was sent; nothing is lost', async () => {
    const { t, first } = await busy(says('1'));
    await add(t, 'a');
    const sent = t.session.entries.changeQueue({ kind: 'send_now', itemId: id('a') }, OWNER);
    t.session.cancelBefore(2, STOP);
    await expect(sent).rejects.toMatchObject({ code: 'control.failed' });
    await first;
    expect(held(t)).toEqual(['a']);
    expect(t.session.entries.nextTurns().paused).toBe('stopped');
    expect(begun(t)).toEqual(['c1']);
  });
});
