import path from 'node:path';
import picomatch from 'picomatch';
import { z } from 'zod';
import type { PreparedCall, Tool, ToolContext, ToolOutcome } from '../../../session/tool.ts';
import { TOOL_NAMES } from '../../../session/tool-names.ts';
import { defineTool } from '../../define-tool.ts';
import { completed } from '../../outcome.ts';
import type { ProtectedPaths } from '../../protected-paths.ts';
import { headOf } from '../../text-limit.ts';
import { resolveInWorkspace, shownPath } from '../disk.ts';
import { notOnDisk } from '../staged-notes.ts';
import type { SearchEngine, SearchHit } from './search-types.ts';

const MAX_HITS = 200;
const MAX_LINE_BYTES = 400;
const MAX_SECONDS = 30;

const input = z.object({
  pattern: z.string().min(1).describe('A regular expression, unless literal is set.'),
  path: z.string().optional().describe('Where to search; the working folder unless given.'),
  glob: z
    .string()
    .optional()
    .describe('Only files that match, for example *.ts or src/**/*.md, relative to the path.'),
  literal: z.boolean().optional().describe('Look for the pattern as it stands.'),
});
type Input = z.infer<typeof input>;

/** Searches text files by line, leaving out what ignore files name, binary files and files that may hold secrets. */
export function searchTool(
  home: string,
  protectedPaths: ProtectedPaths,
  engine: () => Promise<SearchEngine>,
): Tool {
  return defineTool<Input>({
    name: TOOL_NAMES.search,
    description:
      'Finds lines in the text files of the workspace, as path:line:text. Files named in .gitignore are left out.',
    kind: 'search',
    readOnly: true,
    input,
    async prepare(args, context): Promise<PreparedCall> {
      const resolved = await resolveInWorkspace(args.path ?? '.', context.workspace, home);
      const where = shownPath(resolved.path, context.workspace);
      return {
        accesses: [{ kind: 'read', path: resolved.path }],
        preview: {
          title: `Search ${where === '.' ? 'the workspace' : where} for ${headOf(args.pattern, 80)}`,
          kind: 'search',
          locations: [{ path: resolved.path }],
          content: [],
        },
        run: async (running) =>
          await search(args, resolved.path, running, {
            home,
            protectedPaths,
            engine: await engine(),
          }),
      };
    },
  });
}

async function search(
  args: Input,
  prepared: string,
  context: ToolContext,
  deps: { home: string; protectedPaths: ProtectedPaths; engine: SearchEngine },
): Promise<ToolOutcome> {
  const { path: start } = await resolveInWorkspace(prepared, context.workspace, deps.home);
  const matches = globMatcher(args.glob);
  const accepts = (file: string): boolean =>
    matches(path.relative(start, file) || path.basename(file)) &&
    (file === start || deps.protectedPaths.guard(file, 'read') === null);
  const limit = AbortSignal.timeout(MAX_SECONDS * 1000);
  const signal = AbortSignal.any([context.signal, limit]);
  const hits: SearchHit[] = [];
  let note = '';
  try {
    const query = { pattern: args.pattern, literal: args.literal ?? false, path: start, accepts };
    for await (const hit of deps.engine(query, signal)) {
      if (hits.length === MAX_HITS) {
        note = `[Only the first ${MAX_HITS} matches. Use a narrower pattern, path or glob to see others.]`;
        break;
      }
      hits.push(hit);
    }
  } catch (error) {
    context.signal.throwIfAborted();
    if (!limit.aborted) throw error;
    note = `[Stopped after ${MAX_SECONDS} seconds; not everything was searched. Use a narrower path.]`;
  }
  return hitsOutcome(hits, note, context);
}

function globMatcher(glob: string | undefined): (relative: string) => boolean {
  if (glob === undefined) return () => true;
  const normal = glob.replace(/^\.?\//, '');
  return picomatch(normal, { dot: true, basename: !normal.includes('/') });
}

function hitsOutcome(hits: readonly SearchHit[], note: string, context: ToolContext): ToolOutcome {
  const lines = hits.map(
    ({ path: file, line, text }) =>
      `${shownPath(file, context.workspace)}:${line}:${shorten(text)}`,
  );
  const staged = notOnDisk(context.files, 'the search was without them');
  if (lines.length === 0 && note === '') return completed(`No matches.${staged}`);
  return completed([...lines, ...(note === '' ? [] : [note])].join('\n') + staged, {
    locations: hits.slice(0, 20).map(({ path: file, line }) => ({ path: file, line })),
  });
}

function shorten(text: string): string {
  const head = headOf(text, MAX_LINE_BYTES);
  return head.length === text.length ? text : `${head}…`;
}
