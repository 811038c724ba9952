import { createHash, randomBytes } from 'node:crypto';
import { chmodSync, lstatSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { CodedError, messageOf } from '../../base/errors.ts';
import { isObject } from '../../base/json.ts';

/** The longest path of a local socket that every system takes, in bytes. */
const LONGEST_PATH = 100;
/** Where sockets lie in a data folder. */
const RUN_FOLDER = 'run';

/** What decides where sockets may lie; injected so that every platform can be tested on any. */
export type SocketFacts = {
  readonly platform: NodeJS.Platform;
  readonly runtimeFolder: string | undefined;
  readonly temporaryFolder: string;
  readonly userId: number;
};

/** The facts of this process. */
export function ownSocketFacts(): SocketFacts {
  return {
    platform: process.platform,
    runtimeFolder: process.env['XDG_RUNTIME_DIR'],
    temporaryFolder: tmpdir(),
    userId: process.getuid?.() ?? 0,
  };
}

/** A folder where a socket would lie is not this user's alone. */
export class SocketPlaceError extends CodedError<'host.socket_folder'> {}

/**
 * Names for a host's socket, the best first. Each host has a new name, so that what an earlier one left behind is in
 * nobody's way.
 */
export function socketNames(
  dataFolder: string,
  { platform, runtimeFolder, temporaryFolder, userId }: SocketFacts,
): readonly string[] {
  const unique = randomBytes(6).toString('hex');
  if (platform === 'win32') return [`\\\\.\\pipe\\pilothouse-${shortHash(dataFolder)}-${unique}`];
  const name = `${shortHash(dataFolder)}-${unique}.sock`;
  return [
    join(dataFolder, RUN_FOLDER, `${unique}.sock`),
    ...(runtimeFolder ? [join(runtimeFolder, 'pilothouse', name)] : []),
    join(temporaryFolder, `pilothouse-${userId}`, name),
  ].filter((path) => Buffer.byteLength(path) <= LONGEST_PATH);
}

/**
 * Makes sure that a socket's folder is there, is a folder and not a link to one, belongs to this user, and lets nobody
 * else in. Throws `host.socket_folder` with what to do.
 */
export function requirePrivateFolder(folder: string, userId: number): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    if (!isObject(error) || error['code'] !== 'EEXIST')
      throw unusable(folder, `it could not be made (${messageOf(error)})`);
  }
  const found = lstatSync(folder);
  if (!found.isDirectory()) throw unusable(folder, 'it is no folder');
  if (found.uid !== userId) throw unusable(folder, 'it belongs to another user');
  if ((found.mode & 0o077) !== 0) chmodSync(folder, 0o700);
}

/**
 * Takes away the sockets that killed hosts of this data folder left behind. Only for who holds the folder and has a
 * private folder for its own socket.
 */
export function removeOldSockets(dataFolder: string, endpoint: string): void {
  const folder = dirname(endpoint);
  const own = folder === join(dataFolder, RUN_FOLDER) ? '' : `${shortHash(dataFolder)}-`;
  for (const name of readdirSync(folder))
    if (name.startsWith(own) && name.endsWith('.sock') && join(folder, name) !== endpoint)
      rmSync(join(folder, name), { force: true });
}

/**
 * True if a socket is where only this user could have put it. What a door says there is for nobody else: its
 * environment is among it.
 */
export function isOwnSocket(endpoint: string, { platform, userId }: SocketFacts): boolean {
  if (platform === 'win32') return true;
  try {
    const folder = lstatSync(dirname(endpoint));
    const socket = lstatSync(endpoint);
    return (
      folder.isDirectory() &&
      folder.uid === userId &&
      (folder.mode & 0o022) === 0 &&
      socket.isSocket() &&
      socket.uid === userId
    );
  } catch {
    // It is not there any more, or not for us.
    return false;
  }
}

/** True if a socket is there and another user's. */
export function isForeignSocket(endpoint: string, { platform, userId }: SocketFacts): boolean {
  if (platform === 'win32') return false;
  try {
    return lstatSync(endpoint).uid !== userId;
  } catch {
    // It is not there.
    return false;
  }
}

function unusable(folder: string, why: string): SocketPlaceError {
  return new SocketPlaceError(
    'host.socket_folder',
    `The folder ${folder} can't hold the host's socket: ${why}. Remove it, or set PILOTHOUSE_HOME to a shorter path of your own.`,
  );
}

function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}
