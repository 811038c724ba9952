import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { StagedFileControls } from '../../../../../src/core/host/controls/file-controls.ts';
import { ReceiptWriter } from '../../../../../src/core/host/controls/receipts/receipted.ts';
import { StagedFiles } from '../../../../../src/core/host/staged/staged-files.ts';
import { StagedState } from '../../../../../src/core/session/control/staged.ts';
import type { SessionId, ToolCallId } from '../../../../../src/core/session/words.ts';
import type { ControlOutcome } from '../../../../../src/protocol/controls.ts';
import { OWNER } from '../../../../support/engine/a-session.ts';
import { MemoryJournal } from '../../../../support/engine/memory-journal.ts';
import { JournaledSession } from '../../../../support/tools/staging-session.ts';

const ID = 's1' as SessionId;
const target = { sessionId: ID, actor: OWNER };

let folder: string;
let receipts: ControlOutcome[];
let controls: StagedFileControls;
let staged: StagedFiles;
let call: ToolCallId;

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'pilothouse-staged-')));
  onTestFinished(() => rm(folder, { recursive: true }));
  const workspace = { cwd: folder, roots: [folder] };
  const documents = { readText: async () => null, writeText: async () => false };
  staged = new StagedFiles(new StagedState(), { workspace, documents });
  const session = new JournaledSession(ID, new MemoryJournal());
  staged.attach(session);
  call = await session.started('call');
  receipts = [];
  const keep = async (receipt: ControlOutcome): Promise<void> => {
    receipts.push(receipt);
  };
  const ids = { unique: () => randomUUID(), secret: () => randomUUID() };
  controls = new StagedFileControls({
    receipts: new ReceiptWriter({ keep }, ids),
    find: (sessionId) => (sessionId === ID ? staged : undefined),
  });
});

const stage = (name: string, text: string): Promise<void> =>
  staged.stage({ path: join(folder, name), text, toolCallId: call }, async () => null);

const said = (): unknown => {
  expect(receipts).toHaveLength(1);
  const [{ method, outcome, status, reason, metadata } = { metadata: {} }] = receipts;
  receipts.length = 0;
  return { method, outcome, status, reason, metadata };
};

describe('the controls of staged files', () => {
  it('switch the mode, say what stays staged, and leave one receipt each', async () => {
    expect(await controls.setFsMode(target, 'staged')).toEqual({
      previousMode: 'immediate',
      mode: 'staged',
      stagedFiles: 0,
    });
    expect(said()).toMatchObject({
      method: 'session/fs_mode',
      outcome: 'staged',
      status: 'accepted',
    });
    await stage('a', 'x');
    expect(await controls.setFsMode(target, 'immediate')).toMatchObject({ stagedFiles: 1 });
    expect(said()).toMatchObject({ outcome: 'immediate', metadata: { stagedFiles: 1 } });
    await controls.setFsMode(target, 'immediate');
    expect(said()).toMatchObject({ outcome: 'immediate', status: 'idempotent' });
  });

  it.each([undefined, 'Staged', 1, null])('refuse %s as a mode', async (mode) => {
    await expect(controls.setFsMode(target, mode)).rejects.toMatchObject({
      refusal: 'invalid_mode',
    });
    expect(said()).toMatchObject({ status: 'rejected', reason: 'invalid_mode' });
    expect(staged.mode).toBe('immediate');
  });

  it('commit some files, list what failed, and count both in the receipt', async () => {
    await stage('a', 'new a');
    await stage('b', 'new b');
    await writeFile(join(folder, 'b'), 'made meanwhile');
    expect(await controls.commitStaged(target, ['a', join(folder, 'b'), 'c'])).toEqual({
      committedPaths: [join(folder, 'a')],
      failedPathsWithReasons: [
        { path: join(folder, 'b'), reason: 'changed_since' },
        { path: join(folder, 'c'), reason: 'not_staged' },
      ],
    });
    expect(said()).toMatchObject({
      method: 'session/fs_commit_staged',
      outcome: 'partly_committed',
      status: 'accepted',
      metadata: { committed: 1, failed: 2 },
    });
    expect(await readFile(join(folder, 'a'), 'utf8')).toBe('new a');
    expect(await controls.staged(ID)).toMatchObject({
      files: [{ path: join(folder, 'b'), base: null, text: 'new b', changedSince: true }],
    });
  });

  it('discard and edit', async () => {
    await stage('a', 'one');
    await stage('b', 'two');
    await controls.editStaged(target, { path: 'a', disk: 'on', staged: 'one' });
    expect(said()).toMatchObject({
      method: '_pilothouse/staged/edit',
      outcome: 'edited',
      metadata: { written: true, stillStaged: true },
    });
    expect(await controls.discardStaged(target)).toEqual({
      discardedPaths: [join(folder, 'a'), join(folder, 'b')],
    });
    expect(said()).toMatchObject({ outcome: 'discarded', metadata: { discarded: 2 } });
    await expect(controls.discardStaged(target, ['a'])).rejects.toMatchObject({
      refusal: 'not_staged',
    });
    expect(said()).toMatchObject({ status: 'rejected', reason: 'not_staged' });
    expect(await readFile(join(folder, 'a'), 'utf8')).toBe('on');
  });

  it('of a session that is not here are refused with a receipt', async () => {
    const nowhere = { ...target, sessionId: 'nowhere' };
    await expect(controls.commitStaged(nowhere)).rejects.toMatchObject({
      refusal: 'unknown_session',
    });
    expect(said()).toMatchObject({ status: 'rejected', reason: 'unknown_session' });
    await expect(controls.staged('nowhere')).rejects.toMatchObject({
      code: 'host.unknown_session',
    });
    expect(receipts).toEqual([]);
  });

  it('act one after another, a commit never between a look and a write', async () => {
    await stage('a', 'one');
    const commit = controls.commitStaged(target);
    const again = stage('a', 'two');
    const discard = controls.discardStaged(target);
    await Promise.all([commit, again, discard]);
    expect(await readFile(join(folder, 'a'), 'utf8')).toBe('one');
    expect(staged.paths()).toEqual([]);
  });
});
