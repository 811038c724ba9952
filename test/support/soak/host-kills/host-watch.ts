import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { DATABASE_FILE } from '../../../../src/core/journal/store/database.ts';
import { hostsOf } from '../../host-process/host-process.ts';

const LOOK_MS = 100;
/** Every so many looks it is looked who has the store open, which costs more. */
const STORE_EVERY = 4;
/** `__SO_ACCEPTCON`: the socket listens. Source: proc_net_unix(5). */
const LISTENS = '00010000';

/** Looks again and again whether two processes are the host of a data folder at the same time. */
export class HostWatch {
  /** What was seen, once for each pair. */
  readonly seen = new Set<string>();
  /** How often it was looked. */
  looks = 0;
  readonly #home: string;
  readonly #timer: NodeJS.Timeout;

  constructor(home: string) {
    this.#home = home;
    this.#timer = setInterval(() => this.look(), LOOK_MS);
  }

  look(): void {
    this.looks += 1;
    const sockets = listeningIn(join(this.#home, 'run'));
    if (sockets.length > 1) this.seen.add(`several sockets listen: ${sockets.join(', ')}`);
    if (this.looks % STORE_EVERY !== 0) return;
    const holders = hostsOf(this.#home).filter((pid) =>
      hasOpen(pid, join(this.#home, DATABASE_FILE)),
    );
    if (holders.length > 1) this.seen.add(`several hosts have the store: ${holders.join(', ')}`);
  }

  dispose(): void {
    clearInterval(this.#timer);
  }
}

function listeningIn(folder: string): readonly string[] {
  return readFileSync('/proc/net/unix', 'utf8')
    .split('\n')
    .flatMap((line) => {
      const [, , , flags, , , , path] = line.trim().split(/\s+/);
      return flags === LISTENS && path?.startsWith(`${folder}/`) === true ? [path] : [];
    });
}

function hasOpen(pid: number, file: string): boolean {
  try {
    return readdirSync(`/proc/${pid}/fd`).some((name) => opens(pid, name) === file);
  } catch {
    // It has just ended.
    return false;
  }
}

function opens(pid: number, name: string): string {
  try {
    return readlinkSync(`/proc/${pid}/fd/${name}`);
  } catch {
    // It was just closed.
    return '';
  }
}
