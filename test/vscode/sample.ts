import { existsSync } from 'node:fs';
import { cp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from './install/run.ts';

const source = join(import.meta.dirname, 'sample');

async function git(folder: string, ...args: string[]): Promise<void> {
  const settings = {
    'user.name': 'Teapot',
    'user.email': 'teapot@example.invalid',
    'commit.gpgsign': 'false',
    'core.hooksPath': '/dev/null',
    'init.defaultBranch': 'main',
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  await run('git', [...flags, ...args], { cwd: folder });
}

/** Creates the sample project with its git repository at `folder`; one that is there is kept. */
export async function ensureSample(folder: string): Promise<void> {
  if (existsSync(folder)) return;
  const fresh = `${folder}.new`;
  await rm(fresh, { recursive: true, force: true });
  await cp(source, fresh, { recursive: true });
  await git(fresh, 'init', '--quiet');
  await git(fresh, 'add', '--all');
  await git(fresh, 'commit', '--quiet', '--message', 'Say how long to brew a tea');
  await rename(fresh, folder);
}
