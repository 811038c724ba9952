import type { Dirent } from 'node:fs';
import { readdir, readlink, realpath } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import type { PreparedCall, Tool, ToolContext, ToolOutcome } from '../../session/tool.ts';
import { TOOL_NAMES } from '../../session/tool-names.ts';
import { defineTool } from '../define-tool.ts';
import { completed } from '../outcome.ts';
import { moved, resolveInWorkspace, shownPath } from './disk.ts';
import { IgnoreFiles } from './search/ignore-files.ts';
import { notOnDisk } from './staged-notes.ts';

const MAX_ENTRIES = 1000;

const input = z.object({
  path: z.string().optional().describe('The folder; the working folder unless given.'),
});
type Input = z.infer<typeof input>;

/** Lists one folder: folders first, each with a slash, links with what they lead to, ignored ones marked. */
export function listTool(home: string): Tool {
  return defineTool<Input>({
    name: TOOL_NAMES.list,
    description:
      'Lists the files and folders in one folder of the workspace. Folders end with a slash; what .gitignore names is marked.',
    kind: 'read',
    readOnly: true,
    input,
    async prepare(args, context): Promise<PreparedCall> {
      const resolved = await resolveInWorkspace(args.path ?? '.', context.workspace, home);
      return {
        accesses: [{ kind: 'read', path: resolved.path }],
        preview: {
          title: `List ${shownPath(resolved.path, context.workspace)}`,
          kind: 'read',
          locations: [{ path: resolved.path }],
          content: [],
        },
        run: (running) => list(resolved.path, running, home),
      };
    },
  });
}

async function list(prepared: string, context: ToolContext, home: string): Promise<ToolOutcome> {
  const { path: folder } = await resolveInWorkspace(prepared, context.workspace, home);
  const entries = await readdir(folder, { withFileTypes: true });
  if ((await realpath(folder)) !== folder) throw moved(folder);
  const shown = shownPath(folder, context.workspace);
  const staged = notOnDisk(context.files, 'this list is without them');
  if (entries.length === 0) return completed(`[${shown} is empty.]${staged}`);
  const ignored = await IgnoreFiles.above(folder);
  const own = await ignored.within(folder);
  const sorted = entries.toSorted(
    (a, b) => Number(b.isDirectory()) - Number(a.isDirectory()) || compare(a.name, b.name),
  );
  const lines = await Promise.all(
    sorted.slice(0, MAX_ENTRIES).map((entry) => describeEntry(folder, entry, own)),
  );
  if (sorted.length > MAX_ENTRIES)
    lines.push(
      `[${MAX_ENTRIES} of ${sorted.length} entries. Use search or run to find the others.]`,
    );
  return completed(lines.join('\n') + staged, { locations: [{ path: folder }] });
}

async function describeEntry(folder: string, entry: Dirent, ignored: IgnoreFiles): Promise<string> {
  const full = path.join(folder, entry.name);
  const mark = ignored.ignores(full, entry.isDirectory()) ? '  (ignored)' : '';
  if (entry.isSymbolicLink()) return `${entry.name} -> ${await readlink(full)}${mark}`;
  return `${entry.name}${entry.isDirectory() ? '/' : ''}${mark}`;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
