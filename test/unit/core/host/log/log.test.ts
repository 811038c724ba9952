import { spawnSync } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createLog, type FileLog, type LogOptions } from '../../../../../src/core/host/log/log.ts';

async function openLog(
  options: Partial<LogOptions> = {},
): Promise<{ log: FileLog; folder: string; file: string; said: string[] }> {
  const folder = await mkdtemp(join(tmpdir(), 'pilothouse-log-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'logs', 'core.log');
  const said: string[] = [];
  const stderr = { write: (text: string) => said.push(text) };
  const log = createLog({ file, level: 'debug', stderr, now: () => 0, ...options });
  onTestFinished(() => log.dispose());
  return { log, folder, file, said };
}

const linesOf = async (file: string): Promise<unknown[]> =>
  (await readFile(file, 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);

describe('log', () => {
  test('writes one JSON object a line, to the file and to stderr, and drops what is below the level', async () => {
    const { log, file, said } = await openLog({ level: 'info' });
    log.debug('not this');
    log.info('hello\nworld', { count: 1 });
    log.error('bad', { error: new RangeError('too far', { cause: 'why' }) });
    expect(await linesOf(file)).toEqual([
      { at: '1970-01-01T00:00:00.000Z', level: 'info', message: 'hello\nworld', count: 1 },
      expect.objectContaining({
        level: 'error',
        error: expect.objectContaining({ name: 'RangeError', message: 'too far', cause: 'why' }),
      }),
    ]);
    expect(said).toHaveLength(2);
    expect((await stat(file)).mode & 0o077).toBe(0);
  });

  test('replaces values of secret keys and texts that are secrets, and keeps counts', async () => {
    const { log, file } = await openLog();
    log.warn('request with Bearer abcdefghijklmnop', {
      headers: { Authorization: 'x', 'x-api-key': 'y', cookie: 'z', accept: 'text/html' },
      env: { OPENAI_API_KEY: 'k', HOME: '/home/a' },
      accessToken: 't',
      inputTokens: 5,
      token: null,
      url: 'https://me:hunter22@example.com/a',
      text: 'key sk-abcdefghijklmnopqrstuvwx end',
    });
    const text = await readFile(file, 'utf8');
    expect(JSON.parse(text)).toMatchObject({
      message: 'request with Bearer [redacted]',
      headers: {
        Authorization: '[redacted]',
        'x-api-key': '[redacted]',
        cookie: '[redacted]',
        accept: 'text/html',
      },
      env: { OPENAI_API_KEY: '[redacted]', HOME: '/home/a' },
      accessToken: '[redacted]',
      inputTokens: 5,
      token: null,
      url: 'https://me:[redacted]@example.com/a',
      text: 'key [redacted] end',
    });
  });

  test('rotates by size and keeps so many files', async () => {
    const { log, folder, file } = await openLog({ maxBytes: 300, maxFiles: 3 });
    for (let index = 0; index < 40; index += 1) log.warn(`line ${index}`);
    expect((await readdir(join(folder, 'logs'))).sort()).toEqual([
      'core.log',
      'core.log.1',
      'core.log.2',
    ]);
    const messages = [];
    for (const path of [`${file}.2`, `${file}.1`, file]) {
      expect((await stat(path)).size).toBeLessThanOrEqual(300);
      messages.push(...(await linesOf(path)).map((line) => (line as { message: string }).message));
    }
    const first = 40 - messages.length;
    expect(messages).toEqual(messages.map((_, index) => `line ${first + index}`));
    expect(messages.length).toBeGreaterThan(6);
  });

  test('never throws: circular, exotic and hostile values, a broken file, a broken stderr', async () => {
    const { log, folder, said } = await openLog();
    const circular: Record<string, unknown> = { big: 1n, at: new Date(Number.NaN), f: () => 1 };
    circular['self'] = circular;
    log.warn('circular', circular);
    log.warn('hostile', {
      get bad(): string {
        throw new Error('no');
      },
    });
    log.warn('binary', { bytes: new Uint8Array(5), map: new Map([['a', 1]]) });
    expect(said).toHaveLength(3);

    const blocked = join(folder, 'blocked');
    await writeFile(blocked, '');
    const lines: string[] = [];
    const other = createLog({
      file: join(blocked, 'x.log'),
      level: 'info',
      stderr: { write: (text: string) => lines.push(text) },
    });
    onTestFinished(() => other.dispose());
    other.error('one');
    other.error('two');
    expect(lines.map((line) => (JSON.parse(line) as { message: string }).message)).toEqual([
      'one',
      'Could not write the log file.',
      'two',
    ]);
    const mute = createLog({
      file: null,
      level: 'info',
      stderr: {
        write: () => {
          throw new Error('gone');
        },
      },
    });
    onTestFinished(() => mute.dispose());
    expect(() => mute.error('x')).not.toThrow();
  });

  test('forgets lines that hold a text, in every file', async () => {
    const { log, folder } = await openLog({ maxBytes: 200, maxFiles: 5 });
    for (let index = 0; index < 10; index += 1) log.warn(index % 2 ? 'session-a' : 'session-b');
    log.forget('session-a');
    const files = await readdir(join(folder, 'logs'));
    const texts = await Promise.all(files.map((f) => readFile(join(folder, 'logs', f), 'utf8')));
    expect(texts.join('')).not.toContain('session-a');
    expect(texts.join('').match(/session-b/g)?.length).toBe(5);
    log.warn('after');
    expect(await readFile(join(folder, 'logs', 'core.log'), 'utf8')).toContain('after');
  });

  test('what was held back is written when the process exits', async () => {
    const { folder } = await openLog();
    const file = join(folder, 'exit.log');
    const module = fileURLToPath(
      new URL('../../../../../src/core/host/log/log.ts', import.meta.url),
    );
    const script = `import { createLog } from ${JSON.stringify(module)};
      createLog({ file: process.argv[1], level: 'info' }).info('last words'); process.exit(0);`;
    const run = spawnSync(process.execPath, ['--input-type=module', '-e', script, file]);
    expect(run.status).toBe(0);
    expect(await linesOf(file)).toMatchObject([{ message: 'last words' }]);
  });
});
