import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { Deferred } from '../../base/deferred.ts';
import { CodedError } from '../../base/errors.ts';
import type { Frame } from '../../protocol/transport/frame-port.ts';
import { LineSplitter } from '../../protocol/transport/line-splitter.ts';

/** How a process ended. */
export type ProcessExit = { readonly code: number | null; readonly signal: string | null };

/** A running agent-core. */
export interface AgentProcess {
  readonly pid: number;
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** Resolves once, however it ends. */
  readonly done: Promise<ProcessExit>;
  /** Closes its stdin, waits `graceMs` for it to end, then kills its whole group. Never rejects. */
  stop(graceMs: number): Promise<void>;
}

/** What to run. */
export type Launch = {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly onLogLine: (line: string) => void;
};

const MAX_LOG_LINE_BYTES = 64 * 1024;

/**
 * Starts agent-core at the head of its own process group, so that nothing it started can outlive a kill.
 * Rejects with `agent.spawn_failed` if the program can't be run at all.
 */
export async function launchAgent(launch: Launch): Promise<AgentProcess> {
  const child = spawn(launch.command, [...launch.args], {
    cwd: launch.cwd,
    env: launch.env,
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: process.platform !== 'win32',
    windowsHide: true,
  });
  const done = watchExit(child);
  drainLog(child, launch.onLogLine);
  // A write to a dead child is reported by the connection; the stream itself must not throw.
  child.stdin.on('error', () => undefined);
  await started(child, launch.command);
  const pid = child.pid;
  if (pid === undefined) throw spawnFailed(launch.command, undefined);
  return {
    pid,
    stdin: child.stdin,
    stdout: child.stdout,
    done,
    stop: async (graceMs) => stop(child, pid, done, graceMs),
  };
}

async function started(child: ChildProcessWithoutNullStreams, command: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (error) => reject(spawnFailed(command, error)));
  });
}

function spawnFailed(command: string, cause: unknown): CodedError {
  return new CodedError(
    'agent.spawn_failed',
    `The program ${command} could not be started. Check the setting "pilothouse.agent.nodePath".`,
    { cause },
  );
}

async function watchExit(child: ChildProcessWithoutNullStreams): Promise<ProcessExit> {
  const exit = new Deferred<ProcessExit>();
  child.once('exit', (code, signal) => exit.resolve({ code, signal }));
  child.once('error', () => exit.resolve({ code: null, signal: null }));
  return exit.promise;
}

function drainLog(child: ChildProcessWithoutNullStreams, onLine: (line: string) => void): void {
  const splitter = new LineSplitter(MAX_LOG_LINE_BYTES);
  const take = (line: Frame): void =>
    onLine(typeof line === 'string' ? line : `(a log line of ${line.bytes} bytes was dropped)`);
  child.stderr.on('data', (chunk: Buffer) => splitter.push(chunk, take));
  child.stderr.on('end', () => splitter.end(take));
}

async function stop(
  child: ChildProcessWithoutNullStreams,
  pid: number,
  done: Promise<ProcessExit>,
  graceMs: number,
): Promise<void> {
  child.stdin.end();
  const timer = new AbortController();
  const late = new Promise<'late'>((resolve) => {
    const handle = setTimeout(() => resolve('late'), graceMs);
    timer.signal.addEventListener('abort', () => clearTimeout(handle));
  });
  const outcome = await Promise.race([done, late]);
  timer.abort();
  // Also after a clean exit: what it left behind in its group goes too.
  killGroup(pid);
  if (outcome === 'late') await done;
}

/** Kills a process and everything in its group; one that is gone already is fine. */
export function killGroup(pid: number): void {
  if (process.platform === 'win32') {
    spawn('taskkill', ['/T', '/F', '/PID', String(pid)], { stdio: 'ignore', windowsHide: true }).on(
      'error',
      () => undefined,
    );
    return;
  }
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if (!isGone(error)) throw error;
  }
}

function isGone(error: unknown): boolean {
  return (
    error instanceof Error && 'code' in error && (error.code === 'ESRCH' || error.code === 'EPERM')
  );
}
