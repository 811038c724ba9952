import { stat } from 'node:fs/promises';
import type { ToolCallContent } from '../../../protocol/acp.ts';
import type { DocumentFiles, ToolContext } from '../../session/tool.ts';
import { ToolError } from '../define-tool.ts';
import { textContent } from '../outcome.ts';
import { writeAtomically } from './atomic-write.ts';
import { openResolved } from './disk.ts';
import { decodeText, encodeText, NEW_FILE, type TextFormat } from './text-encoding.ts';

/** A text as it stands in the editor or on disk. */
export type TextFile = {
  readonly text: string;
  readonly format: TextFormat;
  /** True if the editor has it open, which then keeps its encoding itself. */
  readonly open: boolean;
};

/** Where a text went. */
export type Written = 'written' | 'staged';

const MAX_BYTES = 16 * 1024 * 1024;
/** A larger text is not shown as a diff. */
const MAX_DIFF = 1024 * 1024;

/** Reads the text of a canonical path: the staged one, else the editor's, else the disk's; null if there is none. */
export async function readTextFile(
  path: string,
  files: DocumentFiles,
  signal: AbortSignal,
): Promise<TextFile | null> {
  const staged = files.staging?.staged(path);
  if (staged === undefined) return await readWrittenFile(path, files, signal);
  // The format of a staged file is the disk's, and is kept when it is written.
  return staged.text === null ? null : { text: staged.text, format: NEW_FILE, open: true };
}

/** The same without what is staged: as the file stands outside the session. */
export async function readWrittenFile(
  path: string,
  files: Pick<DocumentFiles, 'readText'>,
  signal: AbortSignal,
): Promise<TextFile | null> {
  const inEditor = await files.readText(path, signal);
  if (inEditor !== null) return { text: inEditor, format: NEW_FILE, open: true };
  if (!(await exists(path))) return null;
  const handle = await openResolved(path);
  try {
    const { size } = await handle.stat();
    if (size > MAX_BYTES)
      throw new ToolError(
        `${path} has ${size} bytes; this tool changes files of up to ${MAX_BYTES}. Use the run tool, for example with sed.`,
      );
    const decoded = decodeText(await handle.readFile());
    if (decoded === null)
      throw new ToolError(
        `${path} is a binary file. Use the run tool with a program for its format.`,
      );
    return { ...decoded, open: false };
  } finally {
    await handle.close();
  }
}

/** Writes a text to a canonical path, or stages it where the session's file mode says so. */
export async function writeTextFile(
  path: string,
  text: string,
  format: TextFormat,
  { files, signal, toolCallId }: Pick<ToolContext, 'files' | 'signal' | 'toolCallId'>,
): Promise<Written> {
  const { staging } = files;
  if (staging?.stages(path) !== true) {
    await writeThrough(path, text, format, files, signal);
    return 'written';
  }
  // What can't be written later is refused now.
  const disk = await readWrittenFile(path, files, signal);
  encodeText(text, disk?.format ?? NEW_FILE);
  signal.throwIfAborted();
  await staging.stage(
    { path, text: text.toWellFormed(), toolCallId },
    async () => (await readWrittenFile(path, files, signal))?.text ?? null,
  );
  return 'staged';
}

/** Writes a text to a canonical path, through the editor if it has the file open. */
export async function writeThrough(
  path: string,
  text: string,
  format: TextFormat,
  files: Pick<DocumentFiles, 'writeText'>,
  signal: AbortSignal,
): Promise<void> {
  const bytes = encodeText(text, format);
  if (await files.writeText(path, text, signal)) return;
  signal.throwIfAborted();
  await writeAtomically(path, bytes);
}

/** A change as a person sees it. `before` is null for a new file. */
export function diffContent(path: string, before: string | null, after: string): ToolCallContent {
  if ((before?.length ?? 0) + after.length > MAX_DIFF)
    return textContent(`${path}: the text is too long to be shown as a diff.`);
  return { type: 'diff', path, oldText: before, newText: after };
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false;
    throw error;
  }
}
