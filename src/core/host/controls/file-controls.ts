import path from 'node:path';
import { ControlRefused } from '../../session/control/refusal.ts';
import { FS_MODES, type FsMode } from '../../session/words.ts';
import { unknownSession } from '../errors.ts';
import type { StagedFiles } from '../staged/staged-files.ts';
import type { ControlTarget, FileControls, StagedFile } from './api.ts';
import type { ReceiptWriter } from './receipts/receipted.ts';

/** What the controls of staged files are made of. */
export type FileControlParts = {
  readonly receipts: ReceiptWriter;
  /** The staged files of a live session. */
  readonly find: (sessionId: string) => StagedFiles | undefined;
};

/** The controls of a session's file mode and its staged files, each with its receipt. */
export class StagedFileControls implements FileControls {
  readonly #parts: FileControlParts;

  constructor(parts: FileControlParts) {
    this.#parts = parts;
  }

  setFsMode: FileControls['setFsMode'] = (target, mode) =>
    this.#parts.receipts.run('session/fs_mode', target, async () => {
      const files = this.#files(target);
      const wanted = modeOf(mode);
      const previousMode = await files.setMode(wanted, target.actor);
      const stagedFiles = files.paths().length;
      const status = previousMode === wanted ? 'idempotent' : 'accepted';
      return {
        result: { previousMode, mode: wanted, stagedFiles },
        outcome: { outcome: wanted, status, metadata: { previousMode, stagedFiles } },
      };
    });

  commitStaged: FileControls['commitStaged'] = (target, paths) =>
    this.#parts.receipts.run('session/fs_commit_staged', target, async () => {
      const files = this.#files(target);
      const result = await files.commit(absolute(files, paths), target.actor);
      const committed = result.committedPaths.length;
      const failed = result.failedPathsWithReasons.length;
      const outcome = commitWord(committed, failed);
      return { result, outcome: { outcome, status: 'accepted', metadata: { committed, failed } } };
    });

  discardStaged: FileControls['discardStaged'] = (target, paths) =>
    this.#parts.receipts.run('session/fs_discard_staged', target, async () => {
      const files = this.#files(target);
      const discardedPaths = await files.discard(absolute(files, paths), target.actor);
      const metadata = { discarded: discardedPaths.length };
      return {
        result: { discardedPaths },
        outcome: { outcome: 'discarded', status: 'accepted', metadata },
      };
    });

  editStaged: FileControls['editStaged'] = (target, edit) =>
    this.#parts.receipts.run(
      '_pilothouse/staged/edit',
      target,
      async () => {
        const files = this.#files(target);
        const [file = edit.path] = absolute(files, [edit.path]) ?? [];
        await files.edit({ ...edit, path: file }, target.actor);
        const left = files.staged(file) !== undefined;
        return {
          result: undefined,
          outcome: {
            outcome: 'edited',
            status: 'accepted',
            metadata: { written: edit.disk !== undefined, stillStaged: left },
          },
        };
      },
      { path: edit.path },
    );

  async staged(
    sessionId: string,
  ): Promise<{ readonly mode: FsMode; readonly files: readonly StagedFile[] }> {
    const files = this.#parts.find(sessionId);
    if (files === undefined) throw unknownSession(sessionId);
    return { mode: files.mode, files: await files.list() };
  }

  #files({ sessionId }: ControlTarget): StagedFiles {
    const files = this.#parts.find(sessionId);
    if (files === undefined)
      throw new ControlRefused(
        'unknown_session',
        `There is no live session ${sessionId}. Load or resume it first.`,
        { sessionId },
      );
    return files;
  }
}

function modeOf(mode: unknown): FsMode {
  const found = FS_MODES.find((each) => each === mode);
  if (found === undefined)
    throw new ControlRefused(
      'invalid_mode',
      `${JSON.stringify(mode) ?? 'Nothing'} is not a file mode. Use one of: ${FS_MODES.join(', ')}.`,
    );
  return found;
}

/** Relative paths are meant from the working folder. */
function absolute(
  files: StagedFiles,
  paths: readonly string[] | undefined,
): readonly string[] | undefined {
  return paths && [...new Set(paths.map((each) => path.resolve(files.workspace.cwd, each)))];
}

function commitWord(committed: number, failed: number): string {
  if (failed === 0) return 'committed';
  return committed === 0 ? 'not_committed' : 'partly_committed';
}
