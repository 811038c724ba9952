import { spawn } from 'node:child_process';
import { onTestFinished } from 'vitest';
import { isObject } from '../../../src/base/json.ts';
import { AGENT_CORE, stopHost } from '../agent-core/agent-core.ts';

/** A WebSocket door that runs as a process of its own. */
export type ServedDoor = {
  readonly url: string;
  /** The one it made, or the one that it was given. */
  readonly token: string;
  readonly pid: number;
  /** What it printed on standard output so far. */
  stdout(): string;
  /** Asks it to end; resolves with its exit code. */
  stop(): Promise<number | null>;
  /** Kills it at once; resolves when it is gone. */
  kill(): Promise<void>;
};

/** How a process ended that never opened a door. */
export type ServeEnd = {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
};

type ServeOptions = { readonly args?: readonly string[]; readonly env?: NodeJS.ProcessEnv };

/**
 * Starts `agent-core serve` on a free port of this machine; it and its host are gone after the test, or when `atEnd`
 * says so.
 */
export async function startServe(
  home: string,
  options: ServeOptions = {},
  atEnd: (end: () => Promise<void>) => void = onTestFinished,
): Promise<ServedDoor> {
  const process_ = launch(home, ['--acp-ws', '127.0.0.1:0', ...(options.args ?? [])], options.env);
  atEnd(async () => {
    process_.child.kill('SIGKILL');
    await process_.ended;
    stopHost(home);
  });
  const line = await Promise.race([process_.line, process_.ended]);
  const ready: unknown = typeof line === 'string' ? JSON.parse(line) : null;
  if (!isObject(ready)) throw new Error(`The door did not open: ${JSON.stringify(line)}`);
  return {
    url: String(ready['acp_ws']),
    token:
      typeof ready['token'] === 'string'
        ? ready['token']
        : (options.env?.['PILOTHOUSE_WS_TOKEN'] ?? ''),
    pid: process_.child.pid ?? 0,
    stdout: process_.stdout,
    stop: async () => {
      process_.child.kill('SIGTERM');
      return (await process_.ended).code;
    },
    kill: async () => {
      process_.child.kill('SIGKILL');
      await process_.ended;
    },
  };
}

/** Runs `agent-core serve` with arguments that it must not start with. */
export async function refusedServe(
  home: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<ServeEnd> {
  const process_ = launch(home, args, env);
  onTestFinished(() => {
    process_.child.kill('SIGKILL');
  });
  return await process_.ended;
}

function launch(home: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const child = spawn(process.execPath, [AGENT_CORE, 'serve', ...args], {
    env: { ...process.env, PILOTHOUSE_HOME: home, PILOTHOUSE_SANDBOX: 'off', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const line = new Promise<string>((resolve) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
      if (stdout.includes('\n')) resolve(stdout);
    });
  });
  const ended = new Promise<ServeEnd>((resolve) => {
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
  return { child, line, ended, stdout: () => stdout };
}
