import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { diskLinks } from '../../../../../src/core/tools/files/disk.ts';
import {
  isInside,
  PathError,
  type PathErrorCode,
  type PathRules,
  resolvePath,
} from '../../../../../src/core/tools/files/resolve-path.ts';

let base: string;
let root: string;
let outside: string;
let rules: PathRules;

beforeAll(async () => {
  base = await realpath(await mkdtemp(path.join(tmpdir(), 'paths-')));
  root = path.join(base, 'work space');
  outside = path.join(base, 'outside');
  await mkdir(path.join(root, 'a b'), { recursive: true });
  await mkdir(outside);
  await writeFile(path.join(root, 'a b', 'ü (1).txt'), 'x');
  await writeFile(path.join(outside, 'secret'), 'x');
  await symlink(outside, path.join(root, 'out'));
  await symlink(path.join(outside, 'not-yet'), path.join(root, 'dangling'));
  await symlink('../../outside/also-not-yet', path.join(root, 'a b', 'up'));
  await symlink(path.join(root, 'a b'), path.join(root, 'in'));
  await symlink('loop', path.join(root, 'loop'));
  rules = { cwd: root, roots: [root], home: homedir(), links: diskLinks, flavour: path };
});
afterAll(() => rm(base, { recursive: true }));

async function codeOf(written: string): Promise<PathErrorCode | 'accepted'> {
  try {
    await resolvePath(written, rules);
    return 'accepted';
  } catch (error) {
    if (error instanceof PathError) return error.code;
    throw error;
  }
}

describe('a written path', () => {
  it('keeps spaces and letters of any script whole (A39)', async () => {
    const file = path.join(root, 'a b', 'ü (1).txt');
    expect(await resolvePath('./a b/ü (1).txt', rules)).toEqual({ path: file, root, exists: true });
    expect((await resolvePath(pathToFileURL(file).href, rules)).path).toBe(file);
    expect((await resolvePath(file, rules)).path).toBe(file);
  });

  it('may name what does not exist yet, however deep', async () => {
    expect(await resolvePath('new/deep/file', rules)).toEqual({
      path: path.join(root, 'new/deep/file'),
      root,
      exists: false,
    });
  });

  it('may go up and come back, and through links that stay inside', async () => {
    expect((await resolvePath('a b/../in/x', rules)).path).toBe(path.join(root, 'a b', 'x'));
  });

  it.each<[string, PathErrorCode]>([
    ['', 'path.empty'],
    ['a\0b', 'path.nul'],
    ['file:///a%00b', 'path.nul'],
    ['../outside/secret', 'path.outside'],
    ['/etc/passwd', 'path.outside'],
    ['~', 'path.outside'],
    ['~/x', 'path.outside'],
    ['out/secret', 'path.outside'],
    ['out/new/file', 'path.outside'],
    ['dangling', 'path.outside'],
    ['dangling/more', 'path.outside'],
    ['a b/up', 'path.outside'],
    ['loop', 'path.unresolvable'],
    ['file://server/share', 'path.bad_uri'],
    ['x'.repeat(300), 'path.too_long'],
    ['ü'.repeat(128), 'path.too_long'],
    ['x/'.repeat(3000), 'path.too_long'],
  ])('%.40s is refused as %s', async (written, code) => {
    expect(await codeOf(written)).toBe(code);
  });

  it('is not inside a folder whose name merely begins alike', async () => {
    await mkdir(`${root}-twin`);
    expect(await codeOf(`${root}-twin/x`)).toBe('path.outside');
  });

  it('stands for the home folder only as a whole first name', async () => {
    const atHome = { ...rules, home: path.join(root, 'a b') };
    expect((await resolvePath('~/x', atHome)).path).toBe(path.join(root, 'a b', 'x'));
    expect((await resolvePath('~x', atHome)).path).toBe(path.join(root, '~x'));
  });

  it('on Windows is read with its rules', async () => {
    const windows: PathRules = {
      cwd: 'C:\\work',
      roots: ['C:\\work'],
      home: 'C:\\Users\\u',
      links: { realpath: async (file) => file, readlink: () => Promise.reject(new Error()) },
      flavour: path.win32,
    };
    expect((await resolvePath('a/b.txt', windows)).path).toBe('C:\\work\\a\\b.txt');
    expect((await resolvePath('file:///C:/work/x', windows)).path).toBe('C:\\work\\x');
    await expect(resolvePath('D:\\x', windows)).rejects.toThrow(PathError);
    await expect(resolvePath('~\\x', windows)).rejects.toThrow(PathError);
  });

  it('never leads outside, whatever it is made of', async () => {
    const names = [
      '..',
      '.',
      'out',
      'in',
      'a b',
      'dangling',
      'up',
      'new',
      'secret',
      'loop',
      '',
      '~',
    ];
    const written = fc
      .tuple(
        fc.constantFrom('', '/', './', `${'../'.repeat(3)}`),
        fc.array(fc.constantFrom(...names)),
      )
      .map(([start, rest]) => start + rest.join('/'));
    let accepted = 0;
    await fc.assert(
      fc.asyncProperty(written, async (text) => {
        const found = await resolvePath(text, rules).catch((error: unknown) => {
          if (error instanceof PathError) return null;
          throw error;
        });
        if (found === null) return;
        accepted += 1;
        expect(isInside(found.path, root, path)).toBe(true);
        // Nothing of it is a link any more, so that opening it can't lead elsewhere.
        const again = await resolvePath(found.path, rules);
        expect(again.path).toBe(found.path);
      }),
      { numRuns: 400 },
    );
    expect(accepted).toBeGreaterThan(20);
  });
});
