import { spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';

/** How a process ended; both null where there was only a stream. */
export type ExitStatus = { readonly code: number | null; readonly signal: NodeJS.Signals | null };

/** The two pipes of an agent and what holds them. */
export type ClientLink = {
  /** What the agent reads. */
  readonly input: Writable;
  /** What the agent writes. */
  readonly output: Readable;
  readonly pid: number | undefined;
  readonly exited: Promise<ExitStatus>;
  stderr(): string;
  /** Stops reading stderr: what the agent writes there from now on fails. */
  closeStderr(): void;
  /** Resolves when stderr holds `text`; rejects when the process ends without it. */
  waitForStderr(text: string): Promise<void>;
  kill(): void;
};

/** Which agent to start. */
export type SpawnOptions = {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  /** The whole environment; the test's own if missing. */
  readonly env?: NodeJS.ProcessEnv;
};

/** Starts an agent in a process group of its own. */
export function spawnLink(options: SpawnOptions): ClientLink {
  const child = spawn(options.command, options.args, {
    cwd: options.cwd,
    env: options.env ?? process.env,
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const exited = new Promise<ExitStatus>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal }));
  });
  exited.catch(() => undefined);
  return {
    input: child.stdin,
    output: child.stdout,
    pid: child.pid,
    exited,
    stderr: () => stderr,
    closeStderr: () => {
      child.stderr.destroy();
    },
    waitForStderr: (text) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (stderr.includes(text)) resolve();
        };
        child.stderr.on('data', look);
        child.once('close', () => reject(new Error(`The process ended without saying "${text}"`)));
        look();
      }),
    kill: () => {
      if (child.pid !== undefined && child.exitCode === null && child.signalCode === null)
        process.kill(-child.pid, 'SIGKILL');
    },
  };
}

/** Takes streams that lead to an agent in this process. */
export function streamLink(streams: { input: Writable; output: Readable }): ClientLink {
  const { input, output } = streams;
  const exited = new Promise<ExitStatus>((resolve) => {
    output.once('close', () => resolve({ code: null, signal: null }));
  });
  return {
    input,
    output,
    pid: undefined,
    exited,
    stderr: () => '',
    closeStderr: () => undefined,
    waitForStderr: () => Promise.reject(new Error('Streams have no stderr')),
    kill: () => {
      input.destroy();
      output.destroy();
    },
  };
}
