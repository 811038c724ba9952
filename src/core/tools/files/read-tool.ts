import { z } from 'zod';
import type { PreparedCall, Tool, ToolContext, ToolOutcome } from '../../session/tool.ts';
import { TOOL_NAMES } from '../../session/tool-names.ts';
import { defineTool } from '../define-tool.ts';
import { completed, failed } from '../outcome.ts';
import { openResolved, resolveInWorkspace, shownPath } from './disk.ts';
import { imageTypeOf } from './file-type.ts';
import { type LineRange, linesFromFile, linesOf } from './read-lines.ts';
import { STAGED_TEXT } from './staged-notes.ts';

const DEFAULT_LINES = 2000;
const MAX_BYTES = 128 * 1024;
const MAX_IMAGE_BYTES = 5 * 1024 * 1024;

const input = z.object({
  path: z.string().describe('The file: relative to the working folder, absolute, or a file: URI.'),
  line: z.number().int().min(1).optional().describe('The first line to read, counted from 1.'),
  limit: z
    .number()
    .int()
    .min(1)
    .optional()
    .describe(`How many lines to read at most; ${DEFAULT_LINES} unless given.`),
});
type Input = z.infer<typeof input>;

/** Reads text by lines and images whole. The text of a document that is open in the editor comes from there. */
export function readTool(home: string): Tool {
  return defineTool<Input>({
    name: TOOL_NAMES.read,
    description:
      'Reads a text file, or an image, of the workspace. Long files are cut; the result then says how to read on.',
    kind: 'read',
    readOnly: true,
    input,
    async prepare(args, context): Promise<PreparedCall> {
      const { path } = await resolveInWorkspace(args.path, context.workspace, home);
      const shown = shownPath(path, context.workspace);
      const line = args.line ?? 1;
      const lines =
        args.limit === undefined ? `from line ${line}` : `lines ${line}–${line + args.limit - 1}`;
      return {
        accesses: [{ kind: 'read', path }],
        preview: {
          title:
            line === 1 && args.limit === undefined ? `Read ${shown}` : `Read ${shown}, ${lines}`,
          kind: 'read',
          locations: [{ path, line }],
          content: [],
        },
        run: (running) => read(args, path, running, home),
      };
    },
  });
}

async function read(
  args: Input,
  prepared: string,
  context: ToolContext,
  home: string,
): Promise<ToolOutcome> {
  const { path } = await resolveInWorkspace(prepared, context.workspace, home);
  const shown = shownPath(path, context.workspace);
  const first = args.line ?? 1;
  const limit = args.limit ?? DEFAULT_LINES;
  const staged = context.files.staging?.staged(path);
  if (staged?.text === null)
    return failed(`There is no file ${shown}: its deletion is staged, not on disk yet.`);
  const open = staged?.text ?? (await context.files.readText(path, context.signal));
  if (open !== null)
    return textOutcome(
      linesOf(open, first, limit, MAX_BYTES),
      path,
      shown,
      staged === undefined ? '' : STAGED_TEXT,
    );
  const handle = await openResolved(path);
  try {
    const { size } = await handle.stat();
    const head = new Uint8Array(16);
    await handle.read(head, 0, head.length, 0);
    const image = imageTypeOf(head);
    if (image !== null) {
      if (size > MAX_IMAGE_BYTES)
        return failed(
          `${shown} is an image of ${size} bytes; at most ${MAX_IMAGE_BYTES} can be shown.`,
        );
      return imageOutcome(await wholeFile(handle, size), image, path, shown);
    }
    const range = { first, limit, maxBytes: MAX_BYTES };
    const lines = await linesFromFile(handle, size, range, context.signal);
    if (lines === null)
      return failed(
        `${shown} is a binary file of ${size} bytes and can't be read as text. Use the run tool with a program for its format, for example file, xxd or strings.`,
      );
    return textOutcome(lines, path, shown);
  } finally {
    await handle.close();
  }
}

async function wholeFile(
  handle: Awaited<ReturnType<typeof openResolved>>,
  size: number,
): Promise<Buffer> {
  const bytes = Buffer.alloc(size);
  const { bytesRead } = await handle.read(bytes, 0, size, 0);
  return bytes.subarray(0, bytesRead);
}

function imageOutcome(bytes: Buffer, mimeType: string, path: string, shown: string): ToolOutcome {
  const data = bytes.toString('base64');
  return {
    status: 'completed',
    parts: [
      { type: 'text', text: `${shown} (${mimeType}, ${bytes.length} bytes):` },
      { type: 'image', mimeType, data },
    ],
    content: [{ type: 'content', content: { type: 'image', mimeType, data } }],
    locations: [{ path }],
  };
}

function textOutcome(range: LineRange, path: string, shown: string, note = ''): ToolOutcome {
  const locations = [{ path, line: range.first }];
  if (range.total === 0) return completed(`[${shown} is empty.]${note}`, { locations });
  if (range.last < range.first)
    return failed(`${shown} has ${range.total ?? 'fewer'} lines; there is no line ${range.first}.`);
  return completed(range.text + rangeNote(range) + note, { locations });
}

function rangeNote(range: LineRange): string {
  if (range.cutLine)
    return `\n\n[Line ${range.first} is too long and was cut. Use the run tool, for example cut or jq, to see the rest of it.]`;
  const more = range.total === null || range.last < range.total;
  if (!more) return '';
  const of = range.total === null ? '' : ` of ${range.total}`;
  return `\n\n[Lines ${range.first}–${range.last}${of}. Read on with line=${range.last + 1}.]`;
}
