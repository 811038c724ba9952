import { mkdir, mkdtemp, realpath, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { createProtectedPaths } from '../../../../src/core/tools/protected-paths.ts';

it('a folder that is named through a link is protected where it really is', async () => {
  const base = await realpath(await mkdtemp(path.join(tmpdir(), 'protected-')));
  try {
    await mkdir(path.join(base, 'real', 'data'), { recursive: true });
    await mkdir(path.join(base, 'real', '.ssh'));
    await symlink('real', path.join(base, 'home'));
    const home = path.join(base, 'home');
    const paths = createProtectedPaths({ dataFolder: path.join(home, 'data'), home });
    expect(paths.guard(path.join(base, 'real', 'data', 'x'), 'read')?.level).toBe('deny');
    expect(paths.guard(path.join(base, 'real', '.ssh', 'id_rsa'), 'read')?.level).toBe('deny');
    expect(paths.guard(path.join(home, 'data', 'x'), 'read')?.level).toBe('deny');
    expect(paths.guard(path.join(base, 'real', 'x'), 'read')).toBeNull();
  } finally {
    await rm(base, { recursive: true });
  }
});

it('names that usually hold secrets are asked about, and their examples are not', () => {
  const paths = createProtectedPaths({ dataFolder: '/d', home: '/h' });
  const level = (name: string) => paths.guard(`/w/${name}`, 'read')?.level;
  for (const name of [
    '.env',
    '.env.local',
    '.ENV',
    'server.key',
    'id_ed25519',
    '.npmrc',
    'credentials.json',
  ])
    expect([name, level(name)]).toEqual([name, 'ask']);
  for (const name of [
    '.env.example',
    'env.ts',
    'keys.ts',
    'id_rsa.pub',
    'package.json',
    '.environment',
  ])
    expect([name, level(name)]).toEqual([name, undefined]);
});
