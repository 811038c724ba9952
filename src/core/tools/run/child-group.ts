import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { Socket } from 'node:net';
import { Deferred } from '../../../base/deferred.ts';
import { CodedError } from '../../../base/errors.ts';
import { hasLivingMember } from './group-members.ts';

/** How a child ended. Both null only if it never started. */
export type ChildEnd = { readonly exitCode: number | null; readonly signal: string | null };

/** The program could not be started. */
export class SpawnError extends CodedError<'process.spawn_failed'> {}

/** How long the output of a process that outlives its shell is waited for. */
const DRAIN_MS = 200;
const POLL_MS = 5;
/** How long after SIGKILL the kernel may take. */
const KILL_MS = 1000;

/** A child process that leads a process group of its own, so that it can be ended with everything it started. */
export class ChildGroup {
  readonly #child: ChildProcess;
  readonly #hold: Socket | null;
  readonly #exited = new Deferred<ChildEnd>();
  readonly #drained = new Deferred<void>();

  /**
   * Starts `argv` with its input closed. A `held` one has a pipe on descriptor 3, which brings a line at `release` and
   * ends without one where this process does. `onOutput` gets standard output and error output in order of arrival.
   */
  constructor(
    argv: readonly string[],
    options: {
      cwd: string;
      environment: NodeJS.ProcessEnv;
      onOutput: (bytes: Buffer) => void;
      held?: boolean;
    },
  ) {
    const [program = '', ...rest] = argv;
    this.#child = spawn(program, rest, {
      cwd: options.cwd,
      env: options.environment,
      stdio: ['ignore', 'pipe', 'pipe', options.held === true ? 'pipe' : 'ignore'],
      detached: process.platform !== 'win32',
      windowsHide: true,
    });
    const [, , , hold] = this.#child.stdio;
    this.#hold = hold instanceof Socket ? hold : null;
    // A child that is gone already needs no word.
    this.#hold?.on('error', () => undefined);
    this.#child.stdout?.on('data', options.onOutput);
    this.#child.stderr?.on('data', options.onOutput);
    this.#child.once('error', (cause) => {
      this.#exited.reject(
        new SpawnError(
          'process.spawn_failed',
          `${program} could not be started: ${cause.message}`,
          {
            cause,
          },
        ),
      );
      this.#drained.resolve();
    });
    this.#child.once('exit', (exitCode, signal) => this.#exited.resolve({ exitCode, signal }));
    this.#child.once('close', () => this.#drained.resolve());
    // Whoever cares awaits `ended`; a start that failed must not count as unhandled before that.
    this.#exited.promise.catch(() => undefined);
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Lets a held child go on. */
  release(): void {
    this.#hold?.end('\n');
  }

  /** Resolves when the leader has ended; rejects with `SpawnError` if it never started. */
  get exited(): Promise<ChildEnd> {
    return this.#exited.promise;
  }

  /**
   * Resolves when the leader has ended and its output was read. A process it left behind may keep the pipes open:
   * that is waited for only briefly. Rejects with `SpawnError`.
   */
  async ended(): Promise<ChildEnd> {
    const end = await this.#exited.promise;
    await within(this.#drained.promise, DRAIN_MS);
    return end;
  }

  /** True while any process of the group exists. */
  isAlive(): boolean {
    if (this.pid === undefined) return false;
    if (process.platform === 'win32') return !this.#exited.isSettled;
    if (!signalGroup(this.pid, 0)) return false;
    // In a container without an init nobody clears away what outlived its parent: it is dead, and counts as a member.
    return !this.#exited.isSettled || hasLivingMember(this.pid);
  }

  /** Ends the whole group: SIGTERM, and SIGKILL after `graceMs`. Resolves when it is gone. */
  async kill(graceMs: number): Promise<void> {
    if (this.pid === undefined) return;
    if (process.platform === 'win32') {
      await taskkill(this.pid);
      return;
    }
    signalGroup(this.pid, 'SIGTERM');
    if (await this.#gone(graceMs)) return;
    signalGroup(this.pid, 'SIGKILL');
    await this.#gone(KILL_MS);
  }

  /** Ends the whole group at once; for the last moments of this process. */
  killNow(): void {
    if (this.pid !== undefined && this.isAlive()) signalGroup(this.pid, 'SIGKILL');
  }

  async #gone(ms: number): Promise<boolean> {
    for (const until = performance.now() + ms; performance.now() < until; ) {
      if (!this.isAlive()) return true;
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
    return !this.isAlive();
  }
}

/** False if the group does not exist any more. */
function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-pid, signal);
  } catch (error) {
    // EPERM: it exists, but none of it is ours any more.
    if (error instanceof Error && 'code' in error) return error.code === 'EPERM';
    throw error;
  }
}

async function taskkill(pid: number): Promise<void> {
  await new Promise<void>((resolve) => {
    // It fails when the process is already gone, which is what was wanted.
    execFile('taskkill', ['/pid', String(pid), '/T', '/F'], { windowsHide: true }, () => resolve());
  });
}

async function within(promise: Promise<void>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([promise, late]);
  clearTimeout(timer);
}
