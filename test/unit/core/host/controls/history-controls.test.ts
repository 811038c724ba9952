import { describe, expect, test } from 'vitest';
import { CodedError } from '../../../../../src/base/errors.ts';
import type { Client } from '../../../../../src/core/host/api.ts';
import { SessionForks } from '../../../../../src/core/host/controls/fork.ts';
import { HistoryDesk } from '../../../../../src/core/host/controls/history-controls.ts';
import { JournaledReceipts } from '../../../../../src/core/host/controls/receipt-sink.ts';
import { ReceiptWriter } from '../../../../../src/core/host/controls/receipted.ts';
import { noSuchSession } from '../../../../../src/core/host/controls/sessions-at-hand.ts';
import { foldSession } from '../../../../../src/core/host/fold-session.ts';
import { branchOf } from '../../../../../src/core/session/history/branch.ts';
import type { SessionId } from '../../../../../src/core/session/words.ts';
import type { ControlOutcome } from '../../../../../src/protocol/controls.ts';
import {
  aSession,
  aTool,
  OWNER,
  ok,
  pathOf,
  type TestSession,
} from '../../../../support/engine/a-session.ts';
import { MemoryCheckpoints } from '../../../../support/engine/memory-checkpoints.ts';
import {
  calls,
  ScriptedModel,
  says,
  streamsForever,
} from '../../../../support/engine/scripted-model.ts';

const ID = 's1';
const target = { sessionId: ID, actor: OWNER };
const client = { actor: OWNER } as Client;
const all = { limit: 1_000_000 };

type Rig = {
  readonly t: TestSession;
  readonly desk: HistoryDesk;
  readonly model: ScriptedModel;
  readonly room: MemoryCheckpoints;
  /** The receipts so far, oldest first. */
  receipts(sessionId?: string): Promise<readonly ControlOutcome[]>;
  /** A turn that writes a file and says that it is done. */
  writes(text: string): Promise<void>;
  /** The whole texts that the model would read. */
  texts(): readonly string[];
  restart(): Promise<Rig>;
};

function rigAround(t: TestSession, model: ScriptedModel, room: MemoryCheckpoints): Rig {
  const { session, journal } = t;
  let ids = 0;
  const unique = (): string => {
    ids += 1;
    return `new${ids}`;
  };
  const live = (id: string) => (id === ID ? session : undefined);
  const writer = new ReceiptWriter(new JournaledReceipts(live, journal), {
    unique,
    secret: unique,
  });
  const desk = new HistoryDesk({
    sessions: {
      live,
      using: async (id, work) => {
        if (id !== ID) throw noSuchSession(id);
        return work(session);
      },
      nextOrder: () => 1_000,
    },
    receipts: writer,
    forks: new SessionForks({
      journal,
      newId: unique,
      now: () => 5,
      source: async (id) => {
        if (id !== ID) throw noSuchSession(id);
        const { timeline, tip, conversation, config } = session;
        const branch = branchOf(timeline.moves, tip.lastEventId);
        return { branch, marks: conversation.marks, config };
      },
      checkEnvironment: () => undefined,
      open: async (id) => {
        const row = await journal.session(id);
        return { sessionId: id, describe: () => row } as never;
      },
    }),
    timeline: async () => session.timeline,
  });
  return {
    t,
    desk,
    model,
    room,
    receipts: async (sessionId = ID) =>
      (await journal.readControl(sessionId as SessionId, all)).flatMap(({ event }) =>
        event.type === 'control_outcome' ? [event.receipt] : [],
      ),
    writes: async (text) => {
      model.add(calls(['write', { path: 'a', text }]), says(`wrote ${text}`));
      await t.prompt(`write ${text}`);
    },
    texts: () =>
      session.conversation.messages.flatMap((message) => {
        if (message.role === 'assistant') return message.text === '' ? [] : [message.text];
        if (message.role === 'tool') return [];
        return message.parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
      }),
    restart: async () => rigAround(await t.restart(), model, room),
  };
}

async function aRig(): Promise<Rig> {
  const model = new ScriptedModel();
  const room = new MemoryCheckpoints();
  const write = aTool('write', (_context, input) => {
    room.files.set(pathOf(input), String(input['text']));
    return ok('written');
  });
  return rigAround(await aSession({ model, tools: [write], checkpoints: room }), model, room);
}

/** The live session is what its journal says. */
async function expectSameAfterRestart(rig: Rig): Promise<void> {
  const { session, journal } = rig.t;
  const folded = await foldSession(journal, ID as SessionId);
  expect(folded.conversation.messages).toEqual(session.conversation.messages);
  expect(folded.conversation.messageCount).toBe(session.conversation.messageCount);
  expect(folded.conversation.marks.cut({ whole: true })).toEqual(
    session.conversation.marks.cut({ whole: true }),
  );
  expect(folded.state.timeline.branch).toEqual(session.timeline.branch);
  expect(folded.state.timeline.undone).toEqual(session.timeline.undone);
  expect(folded.state.timeline.reachable()).toEqual(session.timeline.reachable());
}

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
    let begun = (): void => undefined;
    const streaming = new Promise<void>((resolve) => {
      begun = resolve;
    });
    rig.model.add(streamsForever('x', () => begun()));
    const running = rig.t.prompt('run');
    await streaming;
    for (const control of [
      () => rig.desk.rollback(target, { overwrite }),
      () => rig.desk.redo(target, { overwrite }),
      () => rig.desk.restoreToolCall(target, { toolCallId: '1.0', overwrite }),
    ])
      await expect(control()).rejects.toEqual(refused('prompt_active'));
    expect(rig.room.restores).toBe(0);
    rig.t.session.cancelBefore(1_000, { kind: 'cancelled', by: 'test' });
    await running;
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
    let begun = (): void => undefined;
    const streaming = new Promise<void>((resolve) => {
      begun = resolve;
    });
    rig.model.add(
      calls(['write', { path: 'a', text: 'half' }]),
      streamsForever('x', () => begun()),
    );
    const running = rig.t.prompt('run');
    await streaming;
    rig.t.session.cancelBefore(1_000, { kind: 'cancelled', by: 'test' });
    await running;
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
    let begun = (): void => undefined;
    const streaming = new Promise<void>((resolve) => {
      begun = resolve;
    });
    rig.model.add(streamsForever('x', () => begun()));
    const running = rig.t.prompt('run');
    await streaming;
    await expect(rig.desk.truncate(target, { at: { keepFirst: 2 } })).rejects.toEqual(
      refused('splits_tool_batch'),
    );
    await expect(rig.desk.truncate(target, { at: { keepFirst: 99 } })).rejects.toEqual(
      refused('out_of_range'),
    );
    expect(rig.t.session.isActive).toBe(true);
    await rig.desk.truncate(target, { at: { keepFirst: 4 } });
    expect((await running).terminal.kind).toBe('user_cancelled');
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

describe('fork', () => {
  test('copies the current branch up to the cut into a session of its own', async () => {
    const rig = await aRig();
    await rig.writes('one');
    await rig.writes('gone');
    await rig.desk.rollback(target, { overwrite });
    await rig.writes('two');
    const { session, journal } = rig.t;
    const forked = await rig.desk.fork(target, { at: { whole: true }, branchName: 'b' }, client);
    expect(forked).toMatchObject({ parentId: ID, branchedAt: null, at: 5 });
    const child = forked.session.sessionId;
    const folded = await foldSession(journal, child);
    expect(folded.conversation.messages).toEqual(session.conversation.messages);
    expect(folded.state.timeline.moves).toEqual([]);
    expect(folded.state.timeline.reachable()).toEqual([]);
    const history = await journal.readHistory(child, all);
    expect(JSON.stringify(history)).not.toContain('gone');
    expect(history[0]?.event).toMatchObject({
      type: 'session_created',
      parent: { sessionId: ID, eventId: session.tip.lastEventId, branchName: 'b' },
    });
    expect((await rig.receipts()).at(-1)).toMatchObject({
      method: 'session/fork',
      outcome: 'forked',
      target: { childId: child },
      metadata: { branchedAt: null },
    });
    await rig.writes('parent');
    const later = await foldSession(journal, child);
    expect(later.conversation.messages).toEqual(folded.conversation.messages);
  });

  test('in the middle of a turn is sealed, and keeps the options of today', async () => {
    const rig = await aRig();
    await rig.writes('one');
    await rig.t.session.setConfig({ ...rig.t.session.config, mode: 'code' }, OWNER);
    const { session, branchedAt } = await rig.desk.fork(
      target,
      { at: { keepFirst: 3 }, id: 'child' },
      client,
    );
    expect([session.sessionId, branchedAt]).toEqual(['child', 3]);
    const { state, conversation } = await foldSession(rig.t.journal, 'child' as SessionId);
    expect(state.openTurn).toBeNull();
    expect(state.config.mode).toBe('code');
    expect(conversation.messageCount).toBe(3);
    expect(conversation.openCalls).toEqual([]);
    await expect(
      rig.desk.fork(target, { at: { whole: true }, id: 'child' }, client),
    ).rejects.toEqual(refused('session_exists'));
    await expect(
      rig.desk.fork(target, { at: { whole: true }, id: 'host' }, client),
    ).rejects.toEqual(refused('session_exists'));
    await expect(rig.desk.fork(target, { at: { keepFirst: 2 } }, client)).rejects.toEqual(
      refused('splits_tool_batch'),
    );
  });

  test('takes what is complete of a running turn, which goes on', async () => {
    const rig = await aRig();
    await rig.writes('one');
    let begun = (): void => undefined;
    const streaming = new Promise<void>((resolve) => {
      begun = resolve;
    });
    rig.model.add(streamsForever('unfinished', () => begun()));
    const running = rig.t.prompt('run');
    await streaming;
    const { session } = await rig.desk.fork(target, { at: { whole: true } }, client);
    const { conversation, state } = await foldSession(rig.t.journal, session.sessionId);
    expect(conversation.messageCount).toBe(5);
    expect(state.openTurn).toBeNull();
    expect(rig.t.session.isActive).toBe(true);
    rig.t.session.cancelBefore(1_000, { kind: 'cancelled', by: 'test' });
    await running;
  });

  test('may only narrow the environment', async () => {
    const rig = await aRig();
    const isolated = { kind: 'isolated' } as const;
    await rig.desk.fork(
      target,
      { at: { whole: true }, id: 'narrow', environmentPolicy: isolated },
      client,
    );
    const [first] = await rig.t.journal.readHistory('narrow' as SessionId, { limit: 1 });
    expect(first?.event).toMatchObject({ environmentPolicy: isolated });
  });
});
