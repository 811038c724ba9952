import { spawn } from 'node:child_process';
import { homedir } from 'node:os';
import type { Readable } from 'node:stream';
import { isObject } from '../../base/json.ts';

/** What a host that was started says of itself, once. */
export type HostStart =
  | { readonly kind: 'ready' }
  /** Another one holds the folder and can be reached. */
  | { readonly kind: 'exists' }
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

/**
 * Starts a host as a process of its own, in a session of its own, that holds nothing of this one. Resolves when it can
 * be reached or has said why not. Never rejects.
 */
export function startHost(options: StartHostOptions): Promise<HostStart> {
  const child = spawn(options.command, [...options.args, 'host', '--run'], {
    cwd: homedir(),
    detached: true,
    windowsHide: true,
    env: { ...options.environment, PILOTHOUSE_HOME: options.dataFolder },
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  });
  const report = child.stdio[START_REPORT_FD] as Readable;
  return new Promise((resolve) => {
    let said = '';
    const finish = (start: HostStart): void => {
      clearTimeout(timer);
      report.destroy();
      child.unref();
      resolve(start);
    };
    const timer = setTimeout(
      () => finish(failed('host.not_started', 'The session host did not start in time.')),
      options.deadlineMs,
    );
    child.once('error', (error) =>
      finish(failed('host.not_started', `The session host could not be started: ${error.message}`)),
    );
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
  return failed(
    'host.not_started',
    'The session host ended while it started. Its log in the data folder says why.',
  );
}

function failed(code: string, message: string): HostStart {
  return { kind: 'failed', code, message };
}
