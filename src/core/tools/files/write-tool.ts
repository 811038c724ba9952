import { access } from 'node:fs/promises';
import { z } from 'zod';
import type { PreparedCall, Tool, ToolContext, ToolOutcome } from '../../session/tool.ts';
import { TOOL_NAMES } from '../../session/tool-names.ts';
import { defineTool, ToolError } from '../define-tool.ts';
import type { ProtectedPaths } from '../protected-paths.ts';
import { resolveInWorkspace, shownPath } from './disk.ts';
import { lineEndsOf, withLineEnds } from './line-ends.ts';
import { changed } from './staged-notes.ts';
import { NEW_FILE } from './text-encoding.ts';
import { diffContent, readTextFile, type TextFile, writeTextFile } from './text-file.ts';

const input = z.object({
  path: z.string().describe('The file; folders that do not exist yet are made.'),
  text: z.string().describe('The whole new text of the file.'),
});
type Input = z.infer<typeof input>;

/** Writes a whole text file, keeping an existing file's encoding, byte order mark, line ends and mode bits. */
export function writeTool(home: string, protectedPaths: ProtectedPaths): Tool {
  return defineTool<Input>({
    name: TOOL_NAMES.write,
    description:
      'Writes a text file of the workspace, whole: makes it or replaces all its text. To change a part of a file use edit.',
    kind: 'edit',
    readOnly: false,
    input,
    async prepare(args, context): Promise<PreparedCall> {
      const { path } = await resolveInWorkspace(args.path, context.workspace, home);
      const shown = shownPath(path, context.workspace);
      // A protected file is not looked at before policy has allowed it.
      const visible = protectedPaths.guard(path, 'read') === null;
      const before = visible ? await readTextFile(path, context.files, context.signal) : null;
      return {
        accesses: [{ kind: 'write', path }],
        preview: {
          title: before === null ? `Write ${shown}` : `Replace ${shown}`,
          kind: 'edit',
          locations: [{ path }],
          content: [diffContent(path, before?.text ?? null, newText(args.text, before))],
        },
        run: (running) => write(args, { path, known: visible ? { before } : null }, running, home),
      };
    },
  });
}

/** Missing parents are made, but a working folder that somebody removed is not made again behind their back. */
async function requireFolder(cwd: string): Promise<void> {
  try {
    await access(cwd);
  } catch (cause) {
    throw new ToolError(`The working folder ${cwd} is gone; nothing was written.`, { cause });
  }
}

/** A call as it was prepared; `known` is what the file held then, where it was looked at. */
type Prepared = {
  readonly path: string;
  readonly known: { readonly before: TextFile | null } | null;
};

async function write(
  args: Input,
  prepared: Prepared,
  context: ToolContext,
  home: string,
): Promise<ToolOutcome> {
  const { path } = await resolveInWorkspace(prepared.path, context.workspace, home);
  await requireFolder(context.workspace.cwd);
  const before = await readTextFile(path, context.files, context.signal);
  const after = newText(args.text, before);
  // Who said yes to it was shown another file: what somebody wrote since is not overwritten.
  if (prepared.known !== null && isOther(prepared.known.before, before) && before?.text !== after)
    throw new ToolError(
      `${shownPath(path, context.workspace)} was changed while this call waited; nothing was written. Read it again, then decide anew.`,
    );
  const how = await writeTextFile(path, after, before?.format ?? NEW_FILE, context);
  const shown = shownPath(path, context.workspace);
  const lines = after === '' ? 0 : after.replace(/\n$/, '').split('\n').length;
  return changed(how, `${before === null ? 'Created' : 'Replaced'} ${shown} (${lines} lines)`, {
    content: [diffContent(path, before?.text ?? null, after)],
    locations: [{ path }],
  });
}

function isOther(known: TextFile | null, now: TextFile | null): boolean {
  return (known?.text ?? null) !== (now?.text ?? null);
}

function newText(text: string, before: TextFile | null): string {
  const plain = text.replace(/^\uFEFF/, '');
  if (before === null) return plain;
  const ends = lineEndsOf(before.text);
  return ends === '\n' || ends === '\r\n' ? withLineEnds(plain, ends) : plain;
}
