import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { isObject } from '../../../base/json.ts';
import { mayBeAlive, ownMark, type ProcessMark, readIfThere } from '../../link/process-facts.ts';
import { JournalError } from '../errors.ts';
import { isSqliteBusy } from '../store/sqlite-errors.ts';
import { LOCK_FILE } from './lock-file.ts';
import { createPrivateFile } from './private-files.ts';

/**
 * The exclusive hold on a data folder. The truth is an exclusive lock of the operating system on `host.lock`, taken
 * by SQLite and held open for life: the system releases it however the process ends, so there is no stale lock to
 * judge and no moment at which two takers could both win. `host.json` only says who holds it, for the message.
 *
 * On POSIX systems such a lock is lost when the same process closes *any* descriptor of that file, so nothing here
 * may ever open `host.lock` but SQLite.
 */
export type DataFolderLock = { release(): void };

/** Who holds a data folder. */
export type LockHolder = ProcessMark & {
  readonly hostname: string;
  /** True for a session host, which others can reach once it has started. */
  readonly isHost: boolean;
};

/** Who wants a data folder. */
export type LockWish = {
  readonly folder: string;
  readonly lockWaitMs: number;
  readonly isHost: boolean;
};

const HOLDER_FILE = 'host.json';
const RETRY_MS = 25;
/** How much longer than asked a lock that nobody holds is tried for. */
const COLLISION_MS = 1_000;
/** How long a holder may take to write its name after it took the lock. */
const NAMING_MS = 250;

/** Takes the lock, waiting up to `lockWaitMs` for another holder to let go. Throws `journal.locked`. */
export async function lockDataFolder(wish: LockWish): Promise<DataFolderLock> {
  const { folder, lockWaitMs: waitMs } = wish;
  const path = join(folder, LOCK_FILE);
  createPrivateFile(path);
  const started = performance.now();
  for (;;) {
    const lock = tryLock(wish, path);
    if (lock !== null) return lock;
    const waited = performance.now() - started;
    if (waited >= waitMs + COLLISION_MS) throw lockedError(folder, await namedHolder(folder));
    // Two that try at the same instant can refuse each other: it is held only if somebody has a name in it.
    if (waited >= waitMs) {
      const holder = await namedHolder(folder);
      if (holder !== null) throw lockedError(folder, holder);
    }
    await sleep(Math.random() * RETRY_MS);
  }
}

function tryLock({ folder, isHost }: LockWish, path: string): DataFolderLock | null {
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    // A journal in memory: nothing is ever written, and no file beside the lock is left after a crash.
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if (isSqliteBusy(error)) return null;
    throw error;
  }
  const holderPath = join(folder, HOLDER_FILE);
  try {
    writeHolder(holderPath, isHost);
  } catch (error) {
    database.close();
    throw error;
  }
  return {
    release(): void {
      if (!database.isOpen) return;
      rmSync(holderPath, { force: true });
      database.close();
    },
  };
}

function writeHolder(path: string, isHost: boolean): void {
  const holder: LockHolder = { ...ownMark(), hostname: hostname(), isHost };
  const draft = `${path}.new`;
  writeFileSync(draft, `${JSON.stringify(holder)}\n`, { mode: 0o600 });
  renameSync(draft, path);
}

async function namedHolder(folder: string): Promise<LockHolder | null> {
  const path = join(folder, HOLDER_FILE);
  const started = performance.now();
  for (;;) {
    const holder = readHolder(path);
    if (holder !== null && mayHold(holder)) return holder;
    if (performance.now() - started >= NAMING_MS) return null;
    await sleep(RETRY_MS);
  }
}

function readHolder(path: string): LockHolder | null {
  const text = readIfThere(path);
  if (text === null) return null;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (!isObject(value) || typeof value['pid'] !== 'number') return null;
  return {
    pid: value['pid'],
    startTicks: textOrNull(value['startTicks']),
    bootId: textOrNull(value['bootId']),
    hostname: textOrNull(value['hostname']) ?? '',
    isHost: value['isHost'] === true,
  };
}

/** False only if the named process can't be the one that holds the lock: the name is left over from an earlier one. */
function mayHold(holder: LockHolder): boolean {
  return holder.hostname !== hostname() || mayBeAlive(holder);
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function lockedError(folder: string, holder: LockHolder | null): JournalError {
  const isRemote = holder !== null && holder.hostname !== hostname();
  const remote = isRemote ? ` on ${holder.hostname}` : '';
  const who = holder === null ? 'another process' : `process ${holder.pid}${remote}`;
  return new JournalError(
    'journal.locked',
    `The data folder ${folder} is in use by ${who}. Close the program that runs Pilothouse there` +
      `${holder === null ? '' : `, or end process ${holder.pid}`}, or set PILOTHOUSE_HOME to another folder.`,
    {
      data: {
        folder,
        pid: holder?.pid ?? null,
        hostname: holder?.hostname ?? null,
        // One on another machine can't be reached from here.
        isHost: holder?.isHost === true && !isRemote,
      },
      retryable: true,
    },
  );
}
