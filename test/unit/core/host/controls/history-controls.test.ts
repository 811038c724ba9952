import { describe, expect, test } from 'vitest';
import { CodedError } from '../../../../../src/base/errors.ts';
import type { SessionId } from '../../../../../src/core/session/words.ts';
import { OWNER } from '../../../../support/engine/a-session.ts';
import {
  aRig,
  expectSameAfterRestart,
  ID,
  type Rig,
  target,
} from '../../../../support/engine/history-rig.ts';
import { calls, says } from '../../../../support/engine/scripted-model.ts';

const refused = (refusal: string) => expect.objectContaining({ refusal });
const overwrite: readonly string[] = [];

describe('rollback and redo', () => {
  test('take the newest turn and its files back and forth, each with one receipt', async () => {
    const rig = await aRig();
    await rig.writes('one');
    await rig.writes('two');
    const twoTurns = rig.texts();
    const before = rig.t.session.tip;

    const back = await rig.desk.rollback(target, { overwrite });
    expect(back).toMatchObject({
      status: 'rolled_back',
      beforeMessageCount: 4,
      afterMessageCount: 8,
      files: { restored: ['a'], skipped: [] },
      lastEventId: before.lastEventId + 1,
    });
    expect(back.prefixHash).not.toBe(before.prefixHash);
    expect(rig.room.files.get('a')).toBe('one');
    expect(rig.texts()).toEqual(['write one', 'wrote one']);
    await expectSameAfterRestart(rig);

    const again = await rig.desk.redo(target, { overwrite });
    expect(again).toMatchObject({
      status: 'redone',
      checkpointId: back.checkpointId,
      beforeMessageCount: 4,
      afterMessageCount: 8,
    });
    expect(rig.room.files.get('a')).toBe('two');
    expect(rig.texts()).toEqual(twoTurns);
    await expectSameAfterRestart(rig);

    const receipts = await rig.receipts();
    expect(receipts.map(({ method, outcome, status }) => [method, outcome, status])).toEqual([
      ['session/rollback', 'rolled_back', 'accepted'],
      ['session/redo', 'redone', 'accepted'],
    ]);
    expect(receipts[0]).toMatchObject({
      target: { sessionId: ID, checkpointId: back.checkpointId },
      metadata: {
        beforeMessageCount: 4,
        afterMessageCount: 8,
        lastEventId: back.lastEventId,
        prefixHash: back.prefixHash,
        restoredFiles: 1,
        skippedFiles: 0,
      },
    });
    expect(await rig.t.journal.hashAt(ID as SessionId, back.lastEventId)).toBe(back.prefixHash);
  });

  test('the next request of the model begins with the branch, not with what was rolled back', async () => {
    const rig = await aRig();
    await rig.writes('one');
    await rig.writes('two');
    await rig.desk.rollback(target, { overwrite });
    rig.model.add(says('three'));
    await rig.t.prompt('go on');
    const sent = JSON.stringify(rig.model.requests.at(-1)?.messages);
    expect(sent).toContain('wrote one');
    expect(sent).toContain('go on');
    expect(sent).not.toContain('two');
    await expectSameAfterRestart(rig);
  });

  test('go several turns back one by one, and forth again, also across a restart', async () => {
    let rig = await aRig();
    for (const text of ['one', 'two', 'three']) await rig.writes(text);
    const whole = rig.texts();
    await rig.desk.rollback(target, { overwrite });
    await rig.desk.rollback(target, { overwrite });
    expect(rig.room.files.get('a')).toBe('one');
    rig = await rig.restart();
    expect(rig.texts()).toEqual(['write one', 'wrote one']);
    expect((await rig.desk.checkpoints(ID)).map(({ state, prompt }) => [state, prompt])).toEqual([
      ['stack', 'write one'],
      ['redo', 'write two'],
      ['redo', 'write three'],
    ]);
    await rig.desk.redo(target, { overwrite });
    expect(rig.room.files.get('a')).toBe('two');
    await rig.desk.redo(target, { overwrite });
    expect(rig.room.files.get('a')).toBe('three');
    expect(rig.texts()).toEqual(whole);
    await expect(rig.desk.redo(target, { overwrite })).rejects.toEqual(refused('no_redo'));
    await expectSameAfterRestart(rig);
  });

  test('a created file is gone after the rollback of its turn, and back after the redo', async () => {
    const rig = await aRig();
    await rig.writes('new');
    await rig.desk.rollback(target, { overwrite });
    expect(rig.room.files.has('a')).toBe(false);
    expect(rig.texts()).toEqual([]);
    await rig.desk.redo(target, { overwrite });
    expect(rig.room.files.get('a')).toBe('new');
    await rig.desk.rollback(target, { overwrite });
    expect(rig.room.files.has('a')).toBe(false);
  });

  test('by the id of an older turn, all later ones go with it and one redo brings them back', async () => {
    const rig = await aRig();
    for (const text of ['one', 'two', 'three']) await rig.writes(text);
    const [, second, third] = await rig.desk.checkpoints(ID);
    const back = await rig.desk.rollback(target, {
      checkpointId: second?.checkpointId ?? '',
      overwrite,
    });
    expect(back).toMatchObject({
      checkpointId: second?.checkpointId,
      beforeMessageCount: 4,
      afterMessageCount: 12,
    });
    expect(rig.room.files.get('a')).toBe('one');
    await expect(
      rig.desk.rollback(target, { checkpointId: third?.checkpointId ?? '', overwrite }),
    ).rejects.toEqual(refused('unknown_checkpoint'));
    expect(await rig.desk.redo(target, { overwrite })).toMatchObject({
      checkpointId: third?.checkpointId,
    });
    expect(rig.room.files.get('a')).toBe('three');
    await expectSameAfterRestart(rig);
  });

  test('a file that somebody changed since is left alone unless it is named', async () => {
    const rig = await aRig();
    await rig.writes('one');
    rig.room.files.set('a', 'mine');
    expect(await rig.desk.planRestore(ID, { kind: 'rollback' })).toMatchObject({
      files: [{ path: 'a', changedSince: true }],
    });
    expect((await rig.desk.rollback(target, { overwrite })).files).toMatchObject({
      restored: [],
      skipped: [{ path: 'a' }],
    });
    expect(rig.room.files.get('a')).toBe('mine');
    await rig.desk.redo(target, { overwrite });
    await rig.desk.rollback(target, { overwrite: ['a'] });
    expect(rig.room.files.has('a')).toBe(false);
  });

  test('if the files can not be put back nothing moves', async () => {
    const rig = await aRig();
    await rig.writes('one');
    const { tip } = rig.t.session;
    rig.room.failure = new CodedError('checkpoint.restore_failed', 'The disk is full.');
    await expect(rig.desk.rollback(target, { overwrite })).rejects.toEqual(
      refused('fs_restore_error'),
    );
    expect(rig.t.session.tip).toEqual(tip);
    expect(rig.texts()).toEqual(['write one', 'wrote one']);
    expect(await rig.receipts()).toMatchObject([
      { status: 'rejected', outcome: 'fs_restore_error', reason: 'fs_restore_error' },
    ]);
  });

  test('are refused while a turn runs, without a trace but the receipt', async () => {
    const rig = await aRig();
    await rig.writes('one');
    const running = await rig.streams();
    for (const control of [
      () => rig.desk.rollback(target, { overwrite }),
      () => rig.desk.redo(target, { overwrite }),
      () => rig.desk.restoreToolCall(target, { toolCallId: '1.0', overwrite }),
    ])
      await expect(control()).rejects.toEqual(refused('prompt_active'));
    expect(rig.room.restores).toBe(0);
    await running.stop();
    expect((await rig.receipts()).map(({ outcome, status }) => [outcome, status])).toEqual([
      ['prompt_active', 'rejected'],
      ['prompt_active', 'rejected'],
      ['prompt_active', 'rejected'],
    ]);
    expect(await rig.desk.rollback(target, { overwrite })).toMatchObject({ status: 'rolled_back' });
    expect(rig.texts()).toEqual([]);
  });

  test('with nothing on the stack say so, also for a checkpoint that nobody knows', async () => {
    const rig = await aRig();
    await expect(rig.desk.rollback(target, { overwrite })).rejects.toEqual(
      refused('no_checkpoint'),
    );
    await expect(rig.desk.redo(target, { overwrite })).rejects.toEqual(refused('no_redo'));
    await expect(rig.desk.rollback(target, { checkpointId: 'turn_x', overwrite })).rejects.toEqual(
      refused('unknown_checkpoint'),
    );
    await expect(
      rig.desk.rollback({ ...target, sessionId: 'nobody' }, { overwrite }),
    ).rejects.toEqual(refused('unknown_session'));
    expect((await rig.receipts()).map(({ outcome }) => outcome)).toEqual([
      'no_checkpoint',
      'no_redo',
      'unknown_checkpoint',
    ]);
    expect(await rig.receipts('host')).toMatchObject([
      { session_id: 'nobody', outcome: 'unknown_session', status: 'rejected' },
    ]);
  });

  test('a stopped turn has no place on the stack, but its id works', async () => {
    const rig = await aRig();
    await rig.writes('one');
    const running = await rig.streams(calls(['write', { path: 'a', text: 'half' }]));
    await running.stop();
    await rig.t.session.exclusively(async () => undefined);
    const [first, stopped] = await rig.desk.checkpoints(ID);
    expect([first?.state, stopped?.state]).toEqual(['stack', 'off']);
    const back = await rig.desk.rollback(target, {
      checkpointId: stopped?.checkpointId ?? '',
      overwrite,
    });
    expect(back.checkpointId).toBe(stopped?.checkpointId);
    expect(rig.room.files.get('a')).toBe('one');
    expect(rig.texts()).toEqual(['write one', 'wrote one']);
    await rig.desk.redo(target, { overwrite });
    expect(rig.room.files.get('a')).toBe('half');
    // Without an id the newest that is on the stack goes, and the stopped one with it.
    expect((await rig.desk.rollback(target, { overwrite })).checkpointId).toBe(first?.checkpointId);
    expect(rig.texts()).toEqual([]);
    expect(rig.room.files.has('a')).toBe(false);
  });

  test.each<[string, (rig: Rig) => Promise<unknown>]>([
    ['a new turn', (rig) => rig.writes('other')],
    ['a truncation', (rig) => rig.desk.truncate(target, { at: { keepFirst: 1 } })],
    ['files put back', (rig) => rig.desk.restoreToolCall(target, { toolCallId: '1.0', overwrite })],
    [
      'staged files committed',
      (rig) =>
        rig.t.session.recordControl({
          type: 'staged_settled',
          how: 'committed',
          paths: ['a'],
          actor: OWNER,
        }),
    ],
  ])('after %s there is nothing to redo', async (_what, change) => {
    const rig = await aRig();
    await rig.writes('one');
    await rig.writes('two');
    await rig.desk.rollback(target, { overwrite });
    await change(rig);
    await expect(rig.desk.redo(target, { overwrite })).rejects.toEqual(refused('no_redo'));
    await expectSameAfterRestart(rig);
  });

  test('two at once come one after the other, and a prompt between waits for both', async () => {
    const rig = await aRig();
    for (const text of ['one', 'two', 'three']) await rig.writes(text);
    let open = (): void => undefined;
    rig.room.gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    rig.model.add(says('four'));
    const first = rig.desk.rollback(target, { overwrite });
    const prompt = rig.t.prompt('next');
    const second = rig.desk.rollback(target, { overwrite });
    expect(rig.t.session.isActive).toBe(true);
    open();
    const results = await Promise.all([first, second]);
    expect(results.map(({ afterMessageCount }) => afterMessageCount)).toEqual([12, 8]);
    expect((await prompt).terminal.kind).toBe('natural');
    const sent = JSON.stringify(rig.model.requests.at(-1)?.messages);
    expect(sent).toContain('wrote one');
    expect(sent).not.toContain('two');
    expect(rig.texts()).toEqual(['write one', 'wrote one', 'next', 'four']);
    await expectSameAfterRestart(rig);
  });

  test('what can not be journaled puts the files back where they were', async () => {
    const rig = await aRig();
    await rig.writes('one');
    rig.t.journal.failure = new CodedError('journal.fault', 'The disk is gone.');
    await expect(rig.desk.rollback(target, { overwrite })).rejects.toMatchObject({
      code: 'journal.fault',
    });
    expect(rig.room.files.get('a')).toBe('one');
    expect(rig.texts()).toEqual(['write one', 'wrote one']);
  });
});

describe('truncate', () => {
  test('keeps what it is told, leaves files alone and says what is left', async () => {
    const rig = await aRig();
    await rig.writes('one');
    await rig.writes('two');
    const cut = await rig.desk.truncate(target, { at: { keepFirst: 4 }, reason: 'too much' });
    expect(cut).toMatchObject({ keptTurnCount: 1, removedTurnCount: 1, ...rig.t.session.tip });
    expect(rig.texts()).toEqual(['write one', 'wrote one']);
    expect(rig.room.files.get('a')).toBe('two');
    expect(await rig.receipts()).toMatchObject([
      {
        method: 'session/truncate',
        outcome: 'truncated',
        metadata: { keptTurnCount: 1, removedTurnCount: 1, why: 'too much' },
      },
    ]);
    expect((await rig.desk.checkpoints(ID)).map(({ prompt }) => prompt)).toEqual(['write one']);
    await expectSameAfterRestart(rig);
    expect(await rig.desk.truncate(target, { at: { keepFirst: 0 } })).toMatchObject({
      keptTurnCount: 0,
      newTipTurnId: null,
    });
    expect(rig.texts()).toEqual([]);
    await expectSameAfterRestart(rig);
  });

  test('through a turn seals it, and a restart finds nothing open', async () => {
    let rig = await aRig();
    await rig.writes('one');
    await rig.desk.truncate(target, { at: { keepFirst: 1 } });
    expect(rig.texts()).toEqual(['write one']);
    const { lastEventId } = rig.t.session.tip;
    await expectSameAfterRestart(rig);
    rig = await rig.restart();
    expect(rig.t.session.tip.lastEventId).toBe(lastEventId);
    rig.model.add(says('fine'));
    expect((await rig.t.prompt('and now')).terminal.kind).toBe('natural');
    expect(rig.texts()).toEqual(['write one', 'and now', 'fine']);
  });

  test('stops a running turn first, unless the cut is refused', async () => {
    const rig = await aRig();
    await rig.writes('one');
    const running = await rig.streams();
    await expect(rig.desk.truncate(target, { at: { keepFirst: 2 } })).rejects.toEqual(
      refused('splits_tool_batch'),
    );
    await expect(rig.desk.truncate(target, { at: { keepFirst: 99 } })).rejects.toEqual(
      refused('out_of_range'),
    );
    expect(rig.t.session.isActive).toBe(true);
    await rig.desk.truncate(target, { at: { keepFirst: 4 } });
    expect((await running.stop()).terminal.kind).toBe('user_cancelled');
    expect(rig.texts()).toEqual(['write one', 'wrote one']);
    expect((await rig.receipts()).map(({ outcome }) => outcome)).toEqual([
      'splits_tool_batch',
      'out_of_range',
      'truncated',
    ]);
  });
});

describe('restoring files alone', () => {
  test('to a checkpoint or before a call leaves the transcript and makes one event', async () => {
    const rig = await aRig();
    await rig.writes('one');
    await rig.writes('two');
    const [, second] = await rig.desk.checkpoints(ID);
    const texts = rig.texts();
    const files = await rig.desk.restoreFiles(target, {
      checkpointId: second?.checkpointId ?? '',
      overwrite,
    });
    expect(files.restored).toEqual(['a']);
    expect(rig.room.files.get('a')).toBe('one');
    await rig.desk.restoreToolCall(target, { toolCallId: '1.0', overwrite });
    expect(rig.room.files.has('a')).toBe(false);
    expect(rig.texts()).toEqual(texts);
    expect(rig.t.types().filter((type) => type === 'files_restored')).toHaveLength(2);
    await expect(
      rig.desk.restoreToolCall(target, { toolCallId: 'nothing', overwrite }),
    ).rejects.toEqual(refused('unknown_tool_call'));
    expect((await rig.receipts()).map(({ method, outcome }) => [method, outcome])).toEqual([
      ['_pilothouse/checkpoints/restore', 'restored'],
      ['session/restore_tool_call', 'restored'],
      ['session/restore_tool_call', 'unknown_tool_call'],
    ]);
  });

  test('can be looked at before', async () => {
    const rig = await aRig();
    await rig.writes('one');
    await rig.writes('two');
    const what = { kind: 'call', toolCallId: '1.0' } as const;
    expect((await rig.desk.planRestore(ID, what)).files).toMatchObject([
      { path: 'a', change: 'deleted' },
    ]);
    expect(await rig.desk.readRestore(ID, what, 'a', 'then')).toBeNull();
    const now = await rig.desk.readRestore(ID, what, 'a', 'now');
    expect(new TextDecoder().decode(now ?? undefined)).toBe('two');
    expect(await rig.receipts()).toEqual([]);
    expect(rig.room.files.get('a')).toBe('two');
  });
});
