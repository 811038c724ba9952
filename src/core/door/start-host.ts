import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { parse } from 'node:path';
import type { Readable } from 'node:stream';
import { messageOf } from '../../base/errors.ts';
import { isObject } from '../../base/json.ts';

/** What a host that was started says of itself, once. */
export type HostStart =
  | { readonly kind: 'ready' }
  /** Another one holds the folder and can be reached, now or soon. */
  | { readonly kind: 'exists' }
  /** It ended and said nothing. */
  | { readonly kind: 'died' }
  | { readonly kind: 'failed'; readonly code: string; readonly message: string };

/** How a host is started. */
export type StartHostOptions = {
  readonly dataFolder: string;
  /** The program and its arguments up to `host --run`. */
  readonly command: string;
  readonly args: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
  readonly deadlineMs: number;
};

/** The file descriptor over which a started host says how its start went. */
export const START_REPORT_FD = 3;
/** Names that descriptor to a host that a door started. */
export const REPORT_FD_VARIABLE = 'PILOTHOUSE_REPORT_FD';

/**
 * Starts a host as a process of its own, in a session of its own, that holds nothing of this one. Resolves when it can
 * be reached or has said why not; one that says nothing in time is killed. Never rejects.
 */
export async function startHost(options: StartHostOptions): Promise<HostStart> {
  try {
    return await reportOf(spawned(options), options.deadlineMs);
  } catch (error) {
    return unstartable(error);
  }
}

/** Starts a host of the same program that this process runs, with arguments of its own. */
export function startOwnHost(
  options: Pick<StartHostOptions, 'dataFolder' | 'environment' | 'deadlineMs'> & {
    readonly program: readonly string[];
    readonly hostArgs: readonly string[];
  },
): Promise<HostStart> {
  const { program, hostArgs, ...rest } = options;
  return startHost({ ...rest, command: process.execPath, args: [...program, ...hostArgs] });
}

function spawned(options: StartHostOptions): ChildProcess {
  const home = homedir();
  const { dataFolder, environment } = options;
  return spawn(options.command, [...options.args, 'host', '--run'], {
    // It holds no folder that somebody may want to remove.
    cwd: existsSync(home) ? home : parse(dataFolder).root,
    detached: true,
    windowsHide: true,
    env: {
      ...environment,
      PILOTHOUSE_HOME: dataFolder,
      [REPORT_FD_VARIABLE]: String(START_REPORT_FD),
    },
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  });
}

function reportOf(child: ChildProcess, deadlineMs: number): Promise<HostStart> {
  const report = child.stdio[START_REPORT_FD] as Readable;
  return new Promise((resolve) => {
    let said = '';
    const finish = (start: HostStart): void => {
      clearTimeout(timer);
      report.destroy();
      child.unref();
      resolve(start);
    };
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      finish(failed('host.not_started', 'The session host did not start in time.'));
    }, deadlineMs);
    child.once('error', (error) => finish(unstartable(error)));
    report.setEncoding('utf8');
    report.on('data', (text: string) => {
      said += text;
      if (said.includes('\n')) finish(startOf(said));
    });
    report.on('error', () => finish(startOf(said)));
    report.on('end', () => finish(startOf(said)));
  });
}

function startOf(said: string): HostStart {
  try {
    const value: unknown = JSON.parse(said);
    if (isObject(value)) {
      const { kind, code, message } = value;
      if (kind === 'ready' || kind === 'exists') return { kind };
      if (kind === 'failed' && typeof code === 'string' && typeof message === 'string')
        return failed(code, message);
    }
  } catch {
    // It died before it could say anything.
  }
  return { kind: 'died' };
}

function unstartable(error: unknown): HostStart {
  return failed('host.not_started', `The session host could not be started: ${messageOf(error)}`);
}

function failed(code: string, message: string): HostStart {
  return { kind: 'failed', code, message };
}
