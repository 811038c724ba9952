import { spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { ToolError } from '../../define-tool.ts';
import { headOf } from '../../text-limit.ts';
import { MAX_SEARCHED_BYTES, type SearchEngine, type SearchHit } from './search-types.ts';

/** ripgrep gives a text, or base64 where it is not UTF-8. Source: ripgrep's printer, JSON format. */
const arbitrary = z.union([
  z.object({ text: z.string() }).transform(({ text }) => text),
  z
    .object({ bytes: z.string() })
    .transform(({ bytes }) => Buffer.from(bytes, 'base64').toString('latin1')),
]);
const matchLine = z.object({
  type: z.literal('match'),
  data: z.object({ path: arbitrary, lines: arbitrary, line_number: z.number() }),
});

const ARGUMENTS = [
  '--json',
  '--no-config',
  '--hidden',
  '--no-require-git',
  '--no-ignore-global',
  '--no-ignore-exclude',
  '--no-follow',
  '--sort=path',
  '--glob=!.git',
  `--max-filesize=${MAX_SEARCHED_BYTES}`,
];

/** Searches with ripgrep. `environment` is what the child gets. */
export function ripgrepSearch(executable: string, environment: NodeJS.ProcessEnv): SearchEngine {
  return async function* search(query, signal): AsyncGenerator<SearchHit> {
    const folder = path.dirname(query.path);
    const kind = query.literal ? ['--fixed-strings'] : [];
    const child = spawn(
      executable,
      [...ARGUMENTS, ...kind, '--regexp', query.pattern, '--', query.path],
      {
        cwd: folder,
        env: environment,
        stdio: ['ignore', 'pipe', 'pipe'],
        windowsHide: true,
        signal,
      },
    );
    const ended = new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code) => resolve(code));
    });
    // Awaited below; without this a failure during the reading would count as unhandled.
    ended.catch(() => undefined);
    let complaint = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      complaint = headOf(complaint + text, 4000);
    });
    try {
      let silent = true;
      for await (const line of createInterface({ input: child.stdout })) {
        silent = false;
        const hit = hitOf(line);
        if (hit !== null && query.accepts(hit.path)) yield hit;
      }
      // Files that can't be read end with 2 as well, but after a summary; only a bad pattern prints nothing.
      if ((await ended) === 2 && silent)
        throw new ToolError(`The pattern is not valid:\n${complaint.trim()}`);
    } finally {
      child.kill('SIGKILL');
    }
  };
}

function hitOf(line: string): SearchHit | null {
  const parsed = matchLine.safeParse(JSON.parse(line));
  if (!parsed.success) return null;
  const { path: file, lines, line_number } = parsed.data.data;
  return { path: file, line: line_number, text: lines.replace(/\r?\n$/, '') };
}
