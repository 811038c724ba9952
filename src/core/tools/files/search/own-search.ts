import { lstat, readdir } from 'node:fs/promises';
import path from 'node:path';
import { Script } from 'node:vm';
import { ToolError } from '../../define-tool.ts';
import { openResolved } from '../disk.ts';
import { decodeText } from '../text-encoding.ts';
import { IgnoreFiles } from './ignore-files.ts';
import { MAX_SEARCHED_BYTES, type SearchHit, type SearchQuery } from './search-types.ts';

/** How long matching one file may take: a pattern can be made to take forever. */
const FILE_MS = 2000;

/** Finds matching lines without help of another program. Throws `ToolError` for a pattern that is no expression. */
export async function* ownSearch(
  query: SearchQuery,
  signal: AbortSignal,
): AsyncGenerator<SearchHit> {
  const expression = expressionOf(query);
  const start = await lstat(query.path);
  const ignored = await IgnoreFiles.above(query.path);
  const files = start.isDirectory() ? walk(query.path, ignored, signal) : [query.path];
  for await (const file of files) {
    signal.throwIfAborted();
    if (!query.accepts(file)) continue;
    const text = await readSearchable(file);
    if (text !== null) yield* hitsIn(file, text, expression);
  }
}

/** Every file that is not ignored, in the order of paths; links are not followed, `.git` is left out. */
async function* walk(
  folder: string,
  above: IgnoreFiles,
  signal: AbortSignal,
): AsyncGenerator<string> {
  signal.throwIfAborted();
  const ignored = await above.within(folder);
  const entries = await readdir(folder, { withFileTypes: true }).catch(unreadable);
  const sorted = (entries ?? []).toSorted((a, b) =>
    a.name < b.name ? -1 : Number(a.name > b.name),
  );
  for (const entry of sorted) {
    const full = path.join(folder, entry.name);
    if (entry.name === '.git' || ignored.ignores(full, entry.isDirectory())) continue;
    if (entry.isDirectory()) yield* walk(full, ignored, signal);
    else if (entry.isFile()) yield full;
  }
}

function expressionOf(query: SearchQuery): RegExp {
  if (query.literal) return new RegExp(escapeLiteral(query.pattern), 'u');
  const inline = /^\(\?([ims]+)\)/.exec(query.pattern);
  const source = inline === null ? query.pattern : query.pattern.slice(inline[0].length);
  const flags = inline?.[1] ?? '';
  try {
    return new RegExp(source, `u${flags}`);
  } catch {
    // Patterns that are too loose for the strict syntax, such as `\-`, are still good ones.
  }
  try {
    return new RegExp(source, flags);
  } catch (cause) {
    throw new ToolError(
      `${query.pattern} is not a regular expression. Escape its special characters, or set literal.`,
      { cause },
    );
  }
}

function escapeLiteral(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}

async function readSearchable(file: string): Promise<string | null> {
  const handle = await openResolved(file).catch(unreadable);
  if (handle === null) return null;
  try {
    if ((await handle.stat()).size > MAX_SEARCHED_BYTES) return null;
    return decodeText(await handle.readFile())?.text ?? null;
  } finally {
    await handle.close();
  }
}

/** What can't be read is skipped, as ripgrep does; so is what vanished meanwhile. */
function unreadable(error: unknown): null {
  if (error instanceof Error && 'code' in error) return null;
  throw error;
}

const matchLines = new Script('lines.flatMap((line, i) => (expression.test(line) ? [i] : []))');

function hitsIn(file: string, text: string, expression: RegExp): SearchHit[] {
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === '') lines.pop();
  return matching(lines, expression).map((index) => ({
    path: file,
    line: index + 1,
    text: lines[index] ?? '',
  }));
}

function matching(lines: readonly string[], expression: RegExp): readonly number[] {
  try {
    const found: unknown = matchLines.runInNewContext({ lines, expression }, { timeout: FILE_MS });
    return Array.isArray(found) ? found.filter((index) => typeof index === 'number') : [];
  } catch (cause) {
    throw new ToolError('The pattern took too long to match. Use a simpler one, or set literal.', {
      cause,
    });
  }
}
