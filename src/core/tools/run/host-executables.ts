import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import path from 'node:path';
import { ExecutableNotFound, findExecutable } from './find-executable.ts';

/** Finds a program on this machine; null if there is none. */
export async function findOnHost(
  command: string,
  environment: NodeJS.ProcessEnv,
): Promise<string | null> {
  try {
    return await findExecutable(command, {
      windows: process.platform === 'win32',
      cwd: process.cwd(),
      environment,
      flavour: path,
      isExecutable,
    });
  } catch (error) {
    if (error instanceof ExecutableNotFound) return null;
    throw error;
  }
}

/** True for an existing regular file that this process may execute. */
export async function isExecutable(file: string): Promise<boolean> {
  try {
    if (!(await stat(file)).isFile()) return false;
    await access(file, constants.X_OK);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error) return false;
    throw error;
  }
}
