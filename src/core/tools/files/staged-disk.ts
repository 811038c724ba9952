import { access, unlink } from 'node:fs/promises';
import { CodedError } from '../../../base/errors.ts';
import type { DocumentFiles, Workspace } from '../../session/tool.ts';
import { resolveInWorkspace } from './disk.ts';
import { NEW_FILE } from './text-encoding.ts';
import { readWrittenFile, type TextFile, writeThrough } from './text-file.ts';

/** Where staged files go when they are committed. */
export type DiskPlace = {
  readonly workspace: Workspace;
  /** Open documents, without what is staged. */
  readonly documents: Pick<DocumentFiles, 'readText' | 'writeText'>;
};

/** What is to be put: `text` null removes the file. `base` is what the file must hold now, null for no file. */
export type DiskChange = {
  readonly path: string;
  readonly base: string | null;
  readonly text: string | null;
};

/** Null when it was done, else why nothing was; a word of the operating system (`EACCES`) where that refused. */
export type DiskRefusal = { readonly reason: string; readonly message: string } | null;

/** True if the file holds exactly this text, null for no file. */
export async function holds(
  path: string,
  text: string | null,
  place: DiskPlace,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    return ((await find(path, place, signal))?.text ?? null) === text;
  } catch (error) {
    // What is binary, too large, moved or not readable now is not what was read as text before.
    refusalOf(error);
    return false;
  }
}

/**
 * Puts a staged text where a write at once would have put it, with the file's own encoding and mode bits. Does nothing
 * if the file is not as it was; succeeds if it already is as it would become.
 */
export async function putStaged(
  { path, base, text }: DiskChange,
  place: DiskPlace,
  signal: AbortSignal,
): Promise<DiskRefusal> {
  try {
    const now = await find(path, place, signal);
    const held = now?.text ?? null;
    if (held === text) return null;
    if (held !== base)
      return {
        reason: 'changed_since',
        message: `${path} is not as it was when it was staged. Look at both, then discard the staged text or put the file back.`,
      };
    if (text === null) await unlink(path);
    else await writeThrough(path, text, now?.format ?? NEW_FILE, place.documents, signal);
    return null;
  } catch (error) {
    return refusalOf(error);
  }
}

async function find(path: string, place: DiskPlace, signal: AbortSignal): Promise<TextFile | null> {
  await access(place.workspace.cwd);
  // A staged path is absolute, so no home folder comes into it.
  const resolved = await resolveInWorkspace(path, place.workspace, place.workspace.cwd);
  if (resolved.path !== path) throw new MovedError(path);
  return await readWrittenFile(path, place.documents, signal);
}

/** The path leads to another file than when it was staged. */
class MovedError extends CodedError<'path.moved'> {
  constructor(path: string) {
    super('path.moved', `${path} leads to another file than when it was staged.`);
  }
}

function refusalOf(error: unknown): { reason: string; message: string } {
  if (error instanceof CodedError)
    return {
      reason: error.code === 'path.outside' ? 'outside_workspace' : 'changed_since',
      message: error.message,
    };
  if (error instanceof Error && 'code' in error && typeof error.code === 'string')
    return { reason: error.code, message: error.message };
  if (error instanceof Error && (error.name === 'AbortError' || error.name === 'TimeoutError'))
    return { reason: 'timeout', message: 'It took too long.' };
  throw error;
}
