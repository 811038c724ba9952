import { z } from 'zod';
import type {
  DocumentFiles,
  PreparedCall,
  Tool,
  ToolContext,
  ToolOutcome,
  Workspace,
} from '../../session/tool.ts';
import { TOOL_NAMES } from '../../session/tool-names.ts';
import { defineTool, ToolError } from '../define-tool.ts';
import type { ProtectedPaths } from '../protected-paths.ts';
import { resolveInWorkspace, shownPath } from './disk.ts';
import { nearestLines } from './nearest-lines.ts';
import { replaceText } from './replace-text.ts';
import { changed } from './staged-notes.ts';
import { diffContent, readTextFile, type TextFile, writeTextFile } from './text-file.ts';

const input = z.object({
  path: z.string().describe('The file to change.'),
  old_text: z
    .string()
    .describe(
      'The text to replace, exactly as it stands in the file, with enough of it to be unique.',
    ),
  new_text: z.string().describe('What to put in its place.'),
  replace_all: z.boolean().optional().describe('Replace every occurrence, not a unique one.'),
});
type Input = z.infer<typeof input>;

type Edited = {
  readonly before: TextFile;
  readonly after: string;
  readonly lines: readonly number[];
};

/** Replaces an exact piece of a text file; every other byte of the file stays as it was. */
export function editTool(home: string, protectedPaths: ProtectedPaths): Tool {
  return defineTool<Input>({
    name: TOOL_NAMES.edit,
    description:
      'Replaces a piece of a text file of the workspace. old_text must occur exactly once unless replace_all is set. Line ends and encoding are kept.',
    kind: 'edit',
    readOnly: false,
    input,
    async prepare(args, context): Promise<PreparedCall> {
      const { path } = await resolveInWorkspace(args.path, context.workspace, home);
      const shown = shownPath(path, context.workspace);
      // A protected file is not looked at before policy has allowed it: an error would quote from it.
      const visible = protectedPaths.guard(path, 'read') === null;
      const edited = visible ? await applyEdit(args, path, shown, context) : null;
      return {
        accesses: [{ kind: 'write', path }],
        preview: {
          title: `Edit ${shown}`,
          kind: 'edit',
          locations: [{ path, ...(edited ? { line: edited.lines[0] ?? 1 } : {}) }],
          content: edited ? [diffContent(path, edited.before.text, edited.after)] : [],
        },
        run: (running) => edit(args, path, running, home),
      };
    },
  });
}

async function edit(
  args: Input,
  prepared: string,
  context: ToolContext,
  home: string,
): Promise<ToolOutcome> {
  const { path } = await resolveInWorkspace(prepared, context.workspace, home);
  const shown = shownPath(path, context.workspace);
  const { before, after, lines } = await applyEdit(args, path, shown, context);
  const how = await writeTextFile(path, after, before.format, context);
  const where = lines.length === 1 ? `at line ${lines[0]}` : `in ${lines.length} places`;
  return changed(how, `Edited ${shown} ${where}`, {
    content: [diffContent(path, before.text, after)],
    locations: [{ path, line: lines[0] ?? 1 }],
  });
}

async function applyEdit(
  args: Input,
  path: string,
  shown: string,
  context: { workspace: Workspace; files: DocumentFiles; signal: AbortSignal },
): Promise<Edited> {
  const before = await readTextFile(path, context.files, context.signal);
  if (before === null) throw new ToolError(`There is no file ${shown}. Use write to make it.`);
  const all = args.replace_all ?? false;
  const result = replaceText(before.text, args.old_text, args.new_text, all);
  if (result.ok) return { before, after: result.text, lines: result.lines };
  switch (result.why) {
    case 'same':
      throw new ToolError('old_text and new_text are the same, so nothing would change.');
    case 'empty':
      throw new ToolError(
        'old_text is empty. Give the text to replace, or use write for the whole file.',
      );
    case 'ambiguous':
      throw new ToolError(
        `old_text occurs ${result.lines.length} times in ${shown}, at ${lineList(result.lines)}. Add more of the surrounding lines to make it unique, or set replace_all.`,
      );
    case 'missing':
      throw new ToolError(missingText(shown, before.text, args.old_text));
  }
}

function lineList(lines: readonly number[]): string {
  const shown = lines.slice(0, 10).join(', ');
  return `lines ${shown}${lines.length > 10 ? ', …' : ''}`;
}

function missingText(shown: string, text: string, wanted: string): string {
  const nearest = nearestLines(text, wanted);
  if (nearest === null)
    return `old_text does not occur in ${shown}, and nothing in it resembles it. Read the file again.`;
  const hint = nearest.whitespaceOnly ? ' Only white space differs.' : '';
  const quoted = nearest.lines.map((line, i) => `${nearest.line + i}: ${line.slice(0, 300)}`);
  return `old_text does not occur in ${shown}. The nearest lines are:${hint}\n${quoted.join('\n')}\nCopy the text exactly as it stands in the file.`;
}
