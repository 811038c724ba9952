import { realpath, stat } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import type { Workspace } from '../session/tool.ts';
import { HostError } from './errors.ts';

/** The canonical folders of a session. Throws `host.bad_cwd`, with the field's name, unless all are existing folders. */
export async function openWorkspace(
  cwd: string,
  additionalDirectories: readonly string[],
): Promise<Workspace> {
  const canonical = await folder(cwd, 'cwd');
  const more = await Promise.all(
    additionalDirectories.map((path, index) => folder(path, `additionalDirectories/${index}`)),
  );
  return { cwd: canonical, roots: [...new Set([canonical, ...more])] };
}

async function folder(path: string, field: string): Promise<string> {
  if (!isAbsolute(path)) throw bad(field, path, 'it is not an absolute path');
  try {
    const canonical = await realpath(path);
    if (!(await stat(canonical)).isDirectory()) throw bad(field, path, 'it is not a folder');
    return canonical;
  } catch (failure) {
    if (failure instanceof HostError) throw failure;
    throw bad(field, path, 'it does not exist or can not be read', failure);
  }
}

function bad(field: string, path: string, why: string, cause?: unknown): HostError {
  return new HostError(
    'host.bad_cwd',
    `"${path}" can't be used as a working folder: ${why}. Choose an existing folder.`,
    {
      data: { path: field },
      ...(cause === undefined ? {} : { cause }),
    },
  );
}
