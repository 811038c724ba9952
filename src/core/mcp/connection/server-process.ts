import { type ChildProcess, execFile } from 'node:child_process';
import spawn from 'cross-spawn';
import { Deferred } from '../../../base/deferred.ts';

/** How a server's process ended. */
export type ProcessEnd = { readonly exitCode: number | null; readonly signal: string | null };

/** How a server's process is started. `command` is the path of a file. */
export type ProcessSpec = {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly environment: NodeJS.ProcessEnv;
};

/** Time for a server to end by itself after its input ended, and after it was told to. */
const GENTLE = { exitMs: 300, termMs: 700 } as const;
const NOW = { exitMs: 50, termMs: 300 } as const;
/** How long the last output of a process that has ended is waited for. */
const DRAIN_MS = 200;
/** How long the kernel may take after SIGKILL. */
const KILL_MS = 500;

/** The process groups of servers that still live, for the exit of this process. */
export class ServerProcesses {
  readonly #live = new Set<ServerProcess>();

  /** Starts a server in a process group of its own. A start that fails shows in `ended`. */
  start(spec: ProcessSpec): ServerProcess {
    const started = new ServerProcess(spec);
    this.#live.add(started);
    void started.ended.finally(() => this.#live.delete(started));
    return started;
  }

  /** Ends everything at once, synchronously. */
  killAll(): void {
    for (const one of this.#live) one.killGroup('SIGKILL');
    this.#live.clear();
  }
}

/** The process of a stdio server, leader of its own group. */
export class ServerProcess {
  readonly #child: ChildProcess;
  readonly #ended = new Deferred<ProcessEnd | Error>();

  constructor(spec: ProcessSpec) {
    this.#child = spawn(spec.command, [...spec.args], {
      cwd: spec.cwd,
      env: spec.environment,
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: process.platform !== 'win32',
      windowsHide: true,
    });
    this.#child.once('error', (error) => this.#ended.resolve(error));
    this.#child.once('exit', (exitCode, signal) => {
      // What the leader left behind goes with it; the group's number is ours until its last process is gone.
      this.killGroup('SIGKILL');
      const end = (): void => this.#ended.resolve({ exitCode, signal });
      const late = setTimeout(end, DRAIN_MS);
      this.#child.once('close', () => {
        clearTimeout(late);
        end();
      });
    });
    // Writing to a server that is gone fails; its end says so already.
    this.#child.stdin?.on('error', () => undefined);
  }

  /** Resolves with how it ended, once its output was read, or with what kept it from starting. Never rejects. */
  get ended(): Promise<ProcessEnd | Error> {
    return this.#ended.promise;
  }

  /** Starts reading; both streams are read as fast as they come. */
  listen(onOutput: (chunk: Buffer) => void, onErrorText: (text: string) => void): void {
    this.#child.stdout?.on('data', onOutput);
    this.#child.stderr?.setEncoding('utf8').on('data', onErrorText);
  }

  /** Resolves when the server takes more; rejects when it is gone. */
  async write(text: string): Promise<void> {
    const { stdin } = this.#child;
    if (stdin === null || !stdin.writable) throw new Error('The process has ended');
    if (stdin.write(text)) return;
    const drained = new Deferred<void>();
    stdin.once('drain', () => drained.resolve());
    await Promise.race([drained.promise, this.ended]);
  }

  /** Ends the whole group: end of input, then SIGTERM, then SIGKILL. Resolves when the leader is gone; bounded. */
  async stop(how: 'gently' | 'now'): Promise<void> {
    const { exitMs, termMs } = how === 'gently' ? GENTLE : NOW;
    this.#child.stdin?.end();
    if (await this.#endsWithin(exitMs)) return;
    this.killGroup('SIGTERM');
    if (await this.#endsWithin(termMs)) return;
    this.killGroup('SIGKILL');
    await this.#endsWithin(KILL_MS);
  }

  killGroup(signal: NodeJS.Signals): void {
    const { pid } = this.#child;
    if (pid === undefined) return;
    if (process.platform === 'win32') {
      // It fails when the process is already gone, which is what was wanted.
      execFile(
        'taskkill',
        ['/pid', String(pid), '/T', '/F'],
        { windowsHide: true },
        () => undefined,
      );
      return;
    }
    try {
      process.kill(-pid, signal);
    } catch (error) {
      if (!(error instanceof Error && 'code' in error)) throw error;
    }
  }

  async #endsWithin(ms: number): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<false>((resolve) => {
      timer = setTimeout(() => resolve(false), ms);
    });
    const ended = await Promise.race([this.ended.then(() => true), late]);
    clearTimeout(timer);
    return ended;
  }
}
