import { spawn } from 'node:child_process';
import { endWithUs } from '../serve/end-with-us.ts';
import { signal } from '../serve/processes.ts';

/** A set-up step failed; `message` says which and what to do. */
export class SetUpError extends Error {
  readonly code = 'set_up_failed';
}

/** Options of {@link run}. */
export interface RunOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Milliseconds after which the command is killed. Default: 15 minutes. */
  readonly timeout?: number;
}

const keptOutput = 4000;

/**
 * Runs a command quietly, in a process group that ends with us, and resolves with its stdout.
 * Its last output is in the error if it fails.
 */
export function run(
  command: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<string> {
  const { cwd, env = process.env, timeout = 15 * 60_000 } = options;
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd,
      env,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const killGroup = () => {
      if (child.pid !== undefined) signal(-child.pid, 'SIGKILL');
    };
    const owned = endWithUs(killGroup);
    const timer = setTimeout(killGroup, timeout);
    let stdout = '';
    let tail = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
      tail = (tail + text).slice(-keptOutput);
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      tail = (tail + text).slice(-keptOutput);
    });
    child.on('error', (error) => reject(new SetUpError(`${command}: ${error.message}`)));
    child.on('close', (code, name) => {
      owned.dispose();
      clearTimeout(timer);
      const what = [command, ...args].join(' ');
      if (code === 0) resolve(stdout);
      else reject(new SetUpError(`${what} ended with ${name ?? code}:\n${tail}`));
    });
  });
}

/** Writes one line of progress for the person who waits. */
export function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** Says what begins and, at the end, how long it took. */
export async function step<T>(what: string, work: () => Promise<T>): Promise<T> {
  const begun = performance.now();
  say(`  ${what} …`);
  const result = await work();
  say(`  ${what}: ${((performance.now() - begun) / 1000).toFixed(0)} s`);
  return result;
}
