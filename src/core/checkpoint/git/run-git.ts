import { type ChildProcess, spawn } from 'node:child_process';
import { devNull } from 'node:os';
import { CodedError } from '../../../base/errors.ts';

/** Why git gave no answer. */
export type GitErrorCode = 'git.failed' | 'git.too_slow' | 'git.stopped' | 'git.too_much';

/** A run of git that came to nothing. */
export class GitError extends CodedError<GitErrorCode> {}

/** One run. */
export type GitRun = {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly gitDir: string;
  readonly workTree: string;
  readonly input?: string | Uint8Array;
  /** Gets standard output as it comes; what it throws ends the run. */
  readonly onOutput: (chunk: Buffer) => void;
  /** Exit codes that are answers. */
  readonly accepts?: readonly number[];
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
};

/** Runs git. Every run is a process group of its own with a deadline. */
export type Git = (run: GitRun) => Promise<number>;

const ERROR_TEXT = 4000;

/**
 * Settings that keep bytes as they are, run nothing of anybody, and make what was written durable. Given with every
 * run, so that no file can change them.
 */
const SETTINGS = [
  'core.autocrlf=false',
  'core.safecrlf=false',
  'core.fileMode=true',
  'core.symlinks=true',
  'core.fsmonitor=false',
  'core.untrackedCache=false',
  `core.hooksPath=${devNull}`,
  'core.protectNTFS=false',
  'core.protectHFS=false',
  'core.longpaths=true',
  'core.fsync=loose-object,pack,pack-metadata,index',
  'core.fsyncMethod=batch',
  'core.compression=1',
  'gc.auto=0',
  'maintenance.auto=false',
  'commit.gpgSign=false',
].flatMap((setting) => ['-c', setting]);

/** Git at `program`; `environment` is what children get, already cleaned. */
export function gitAt(program: string, environment: NodeJS.ProcessEnv): Git {
  const kept = Object.entries(environment).filter(([name]) => !/^GIT_/i.test(name));
  const base: NodeJS.ProcessEnv = {
    ...Object.fromEntries(kept),
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: devNull,
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_NO_REPLACE_OBJECTS: '1',
  };
  return (run) =>
    runGit(program, run, { ...base, GIT_DIR: run.gitDir, GIT_WORK_TREE: run.workTree });
}

function runGit(program: string, run: GitRun, environment: NodeJS.ProcessEnv): Promise<number> {
  return new Promise((resolve, reject) => {
    if (run.signal.aborted) {
      reject(stopped());
      return;
    }
    const child = spawn(program, [...SETTINGS, ...run.args], {
      cwd: run.cwd,
      env: environment,
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: process.platform !== 'win32',
      windowsHide: true,
    });
    let problem: Error | null = null;
    let complaint = '';
    const end = (why: Error): void => {
      problem ??= why;
      killGroup(child);
    };
    const onAbort = (): void => end(stopped());
    run.signal.addEventListener('abort', onAbort, { once: true });
    const late = setTimeout(() => end(tooSlow(run)), run.deadlineMs);
    child.stdout.on('data', (chunk: Buffer) => {
      if (problem !== null) return;
      try {
        run.onOutput(chunk);
      } catch (failure) {
        end(failure instanceof Error ? failure : new Error(String(failure)));
      }
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      complaint = (complaint + text).slice(-ERROR_TEXT);
    });
    // It may end before it has read everything; how it ended says why.
    child.stdin.on('error', () => undefined);
    child.stdin.end(run.input ?? '');
    const settle = (code: number | null, signal: string | null): void => {
      clearTimeout(late);
      run.signal.removeEventListener('abort', onAbort);
      if (problem !== null) reject(problem);
      else if (code !== null && (run.accepts ?? [0]).includes(code)) resolve(code);
      else reject(failed(run, signal ?? `exit code ${String(code)}`, complaint));
    };
    child.once('error', (cause) => {
      problem ??= new GitError('git.failed', `git could not be started: ${cause.message}`, {
        cause,
      });
      settle(null, null);
    });
    child.once('close', settle);
  });
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  if (process.platform === 'win32') {
    child.kill();
    return;
  }
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch (failure) {
    // Gone already.
    if (!(failure instanceof Error && 'code' in failure)) throw failure;
  }
}

function stopped(): GitError {
  return new GitError('git.stopped', 'It was stopped before the folder was read');
}

function tooSlow(run: GitRun): GitError {
  return new GitError('git.too_slow', `Reading the folder took longer than ${run.deadlineMs} ms`);
}

function failed(run: GitRun, how: string, complaint: string): GitError {
  const command = run.args.find((arg) => !arg.startsWith('-')) ?? '';
  return new GitError('git.failed', `git ${command} failed (${how})`, { data: { complaint } });
}
