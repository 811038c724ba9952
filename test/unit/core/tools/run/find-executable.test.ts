import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { childEnvironment } from '../../../../../src/core/tools/run/child-environment.ts';
import {
  ExecutableNotFound,
  type ExecutableSearch,
  findExecutable,
  needsCommandInterpreter,
} from '../../../../../src/core/tools/run/find-executable.ts';

function posix(files: readonly string[], PATH?: string): ExecutableSearch {
  return {
    windows: false,
    cwd: '/work',
    environment: { PATH },
    flavour: path.posix,
    isExecutable: async (file) => files.includes(file),
  };
}

function windows(files: readonly string[], environment: Record<string, string>): ExecutableSearch {
  return {
    windows: true,
    cwd: 'C:\\work',
    environment,
    flavour: path.win32,
    isExecutable: async (file) => files.includes(file.toLowerCase()),
  };
}

describe('a command name', () => {
  it('is looked up on PATH in its order', async () => {
    const search = posix(['/b/npx', '/c/npx'], '/a:/b:/c');
    expect(await findExecutable('npx', search)).toBe('/b/npx');
  });

  it('with a slash is a path, and PATH is not asked', async () => {
    expect(await findExecutable('./x', posix(['/work/x', '/a/x'], '/a'))).toBe('/work/x');
    await expect(findExecutable('bin/npx', posix(['/a/npx'], '/a'))).rejects.toThrow(
      '/work/bin/npx',
    );
  });

  it('is never taken from the working folder through an empty or relative entry', async () => {
    await expect(findExecutable('npx', posix(['/work/npx'], ':.:bin:'))).rejects.toThrow(
      ExecutableNotFound,
    );
  });

  it('that is nowhere gives one error that names the PATH that was tried (A25)', async () => {
    const error: unknown = await findExecutable('npx', posix([], '/usr/bin:/opt/bin')).catch(
      (e: unknown) => e,
    );
    expect(error).toBeInstanceOf(ExecutableNotFound);
    expect(error).toMatchObject({
      code: 'executable.not_found',
      data: { command: 'npx', tried: ['/usr/bin', '/opt/bin'] },
      message: expect.stringMatching(/npx.*\/usr\/bin, \/opt\/bin/),
    });
    await expect(findExecutable('npx', posix([]))).rejects.toThrow(/empty PATH/);
    await expect(findExecutable('', posix(['/a'], '/a'))).rejects.toThrow(ExecutableNotFound);
  });

  it('on Windows finds the .cmd shim, by PATHEXT and whatever the spelling of Path (A25)', async () => {
    const search = windows(['c:\\node\\npx.cmd'], {
      Path: '"C:\\Node";D:\\x',
      PATHEXT: '.EXE;.CMD',
    });
    const found = await findExecutable('npx', search);
    expect(found.toLowerCase()).toBe('c:\\node\\npx.cmd');
    expect(needsCommandInterpreter(found)).toBe(true);
    expect((await findExecutable('npx.cmd', search)).toLowerCase()).toBe('c:\\node\\npx.cmd');
    await expect(findExecutable('npm', search)).rejects.toThrow(/\.exe \.cmd.*C:\\Node/);
  });

  it('on Windows prefers what PATHEXT names first, and needs an ending', async () => {
    const files = ['c:\\n\\a', 'c:\\n\\a.cmd', 'c:\\n\\a.exe'];
    const found = await findExecutable('a', windows(files, { PATH: 'C:\\n' }));
    expect(found.toLowerCase()).toBe('c:\\n\\a.exe');
  });
});

describe('the environment of a child', () => {
  it('lacks what belongs to the editor, to this program and to providers', () => {
    const cleaned = childEnvironment({
      PATH: '/bin',
      ELECTRON_RUN_AS_NODE: '1',
      VSCODE_IPC_HOOK_CLI: 'x',
      VSCODE_NLS_CONFIG: 'x',
      VSCODE_PORTABLE: 'kept',
      SNAP: 'x',
      SNAP_NAME: 'x',
      SNAPPY: 'kept',
      GDK_PIXBUF_MODULE_FILE: 'x',
      PILOTHOUSE_HOME: 'x',
      NODE_OPTIONS: 'x',
      OPENAI_API_KEY: 'x',
      ANTHROPIC_API_KEY: 'x',
      ANTHROPIC_AUTH_TOKEN: 'x',
      GOOGLE_GENERATIVE_AI_API_KEY: 'x',
      STRIPE_API_KEY: 'kept',
    });
    const added = ['GIT_PAGER', 'GIT_TERMINAL_PROMPT', 'PAGER', 'TERM'];
    expect(Object.keys(cleaned).sort()).toEqual(
      ['PATH', 'SNAPPY', 'STRIPE_API_KEY', 'VSCODE_PORTABLE', ...added].sort(),
    );
  });

  it('lacks further names that are given', () => {
    expect(childEnvironment({ MY_SECRET: 'x', OPENAI_API_KEY: 'y' }, [/^MY_/])).toMatchObject({
      OPENAI_API_KEY: 'y',
    });
    expect(childEnvironment({ MY_SECRET: 'x' }, [/^MY_/])).not.toHaveProperty('MY_SECRET');
  });
});
