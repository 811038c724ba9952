import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { probeSandbox, type Sandbox } from '../../../src/core/tools/run/sandbox.ts';
import { ToolBench, textOf } from '../../support/tools/tool-bench.ts';

/** Not in the folder for temporary files, which commands may write. */
const outside = await realpath(await mkdtemp(path.join(homedir(), '.sandbox-test-')));
const masked = path.join(outside, 'data');
const probe = (environment: NodeJS.ProcessEnv, enabled = true): Promise<Sandbox> =>
  probeSandbox({ enabled, environment, home: outside, masked: [masked] });
const sandbox = await probe(process.env);

describe('the look for a sandbox', () => {
  it('says why there is none', async () => {
    expect(await probe(process.env, false)).toMatchObject({
      available: false,
      reason: expect.stringMatching(/turned off/),
    });
    expect(await probe({ PATH: '/nowhere' })).toMatchObject({ available: false });
  });

  it('notices one that does not work', async () => {
    const fake = path.join(outside, 'bin');
    await mkdir(fake, { recursive: true });
    await writeFile(path.join(fake, 'bwrap'), '#!/bin/sh\necho no permission >&2\nexit 1\n', {
      mode: 0o755,
    });
    const found = await probe({ PATH: fake });
    expect(found.available ? '' : found.reason).toMatch(
      process.platform === 'linux' ? /no permission/ : /Linux/,
    );
  });
});

describe.skipIf(!sandbox.available)('a command in the sandbox', () => {
  let bench: ToolBench;
  beforeEach(async () => {
    bench = await ToolBench.create({}, sandbox);
    await mkdir(masked, { recursive: true });
    await writeFile(path.join(masked, 'key'), 'secret');
  });
  afterEach(() => bench.dispose());

  it('can write the workspace, and says that it is in one', async () => {
    const outcome = await bench.call('run', { command: 'echo x > file && cat file; exit 3' });
    expect(outcome.rawOutput).toMatchObject({ sandboxed: true, exitCode: 3 });
    expect(textOf(outcome)).toBe('x\n[Exit code 3.]');
    expect(await readFile(bench.path('file'), 'utf8')).toBe('x\n');
  });

  it('can read but not write the rest, and finds the data folder empty', async () => {
    const target = path.join(outside, 'planted');
    const outcome = await bench.call('run', {
      command: `echo x > '${target}'; ls /etc/passwd; ls -A '${masked}'`,
    });
    expect(textOf(outcome)).toMatch(/Read-only file system/);
    expect(textOf(outcome)).toMatch(/\/etc\/passwd$/);
    expect(existsSync(target)).toBe(false);
  });

  it('outside one could do both: the twin that shows the difference', async () => {
    const twin = await ToolBench.create();
    const target = path.join(outside, 'planted');
    try {
      const outcome = await twin.call('run', {
        command: `echo x > '${target}'; ls -A '${masked}'`,
      });
      expect(textOf(outcome)).toBe('key');
      expect(existsSync(target)).toBe(true);
    } finally {
      await rm(target, { force: true });
      await twin.dispose();
    }
  });

  it('takes everything it started with it, whatever that did to get away', async () => {
    const command = `setsid sh -c 'while :; do date +%s%N > beat; sleep 0.02; done' & sleep 0.3; echo done`;
    expect(await bench.text('run', { command })).toBe('done');
    const last = await readFile(bench.path('beat'), 'utf8');
    await bench.text('run', { command: 'sleep 0.3' });
    expect(await readFile(bench.path('beat'), 'utf8')).toBe(last);
  });

  it('can use git, but change neither its configuration nor its hooks, also of nested repositories', async () => {
    const git = promisify(execFile);
    for (const name of ['.', 'a', 'a/b/c'])
      await git('git', ['init', '-q', bench.path(name)], { env: process.env });
    await rm(bench.path('a/.git/hooks'), { recursive: true });
    await git('git', ['init', '-q', bench.path('linked')], { env: process.env });
    await rm(bench.path('linked/.git/hooks'), { recursive: true });
    await symlink('nowhere', bench.path('linked/.git/hooks'));
    const config = await readFile(bench.path('.git/config'), 'utf8');
    const tries = ['.', 'a', 'a/b/c'].flatMap((name) => [
      `git -C ${name} config core.pager evil`,
      `echo evil >> ${name}/.git/config`,
      `cp /bin/true ${name}/.git/config`,
      `rm ${name}/.git/config`,
      `echo evil > ${name}/.git/hooks/pre-commit`,
      `mkdir -p ${name}/.git/hooks/x`,
      `mv ${name}/.git ${name}/moved`,
      `mv ${name}/.git/hooks ${name}/.git/other`,
    ]);
    const command = tries.map((each) => `if { ${each}; } 2>/dev/null; then echo '${each}'; fi`);
    expect(await bench.text('run', { command: [...command, 'echo end'].join('\n') })).toBe('end');
    expect(await readFile(bench.path('.git/config'), 'utf8')).toBe(config);
    const daily =
      'echo x > f && git add f && git -c user.name=a -c user.email=a@b.test commit -qm x && git checkout -qb other && git log --format=%s';
    expect(await bench.text('run', { command: daily })).toBe('x');
  });

  it('is ended by Stop', async () => {
    const stop = new AbortController();
    const call = bench.call('run', { command: 'echo up > up; sleep 99' }, stop.signal);
    while (!existsSync(bench.path('up'))) await new Promise((resolve) => setTimeout(resolve, 10));
    stop.abort();
    expect((await call).rawOutput).toMatchObject({ stopped: true });
  });
});

afterAll(() => rm(outside, { recursive: true }));
