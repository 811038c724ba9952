import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import type { AcpTestClient } from '../acp-client/client.ts';
import { connectAcpClient } from '../acp-client/connect.ts';

/** The built process. */
export const AGENT_CORE = fileURLToPath(new URL('../../../dist/agent-core.mjs', import.meta.url));

/** An empty folder that is removed after the test. */
export function tempFolder(name: string): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), `pilothouse-${name}-`)));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

/**
 * Starts the built agent-core on a data folder; it is killed after the test if it still runs. Without a sandbox unless
 * the environment says otherwise, since inside one process ids are not those of the machine.
 */
export function startAgentCore(
  home: string,
  options: { args?: readonly string[]; env?: NodeJS.ProcessEnv } = {},
): AcpTestClient {
  const client = connectAcpClient({
    spawn: {
      command: process.execPath,
      args: [AGENT_CORE, '--in-process', ...(options.args ?? [])],
      env: { ...process.env, PILOTHOUSE_HOME: home, PILOTHOUSE_SANDBOX: 'off', ...options.env },
    },
  });
  onTestFinished(() => client.kill());
  return client;
}

/** Ends the host of a data folder, if there is one; it has ended when this returns. */
export function stopHost(home: string): void {
  execFileSync(process.execPath, [AGENT_CORE, 'host', '--stop'], {
    env: { ...process.env, PILOTHOUSE_HOME: home },
    timeout: 30_000,
  });
}

/** What `host --status` prints. */
export function hostStatus(home: string): {
  readonly pid: number | null;
  readonly version?: string;
  readonly sessions?: number;
  readonly clients?: number;
} {
  const env = { ...process.env, PILOTHOUSE_HOME: home };
  return JSON.parse(
    execFileSync(process.execPath, [AGENT_CORE, 'host', '--status'], { env, encoding: 'utf8' }),
  );
}

/** Starts a door on a data folder, which finds or starts the host of it; both are gone after the test. */
export function startDoor(
  home: string,
  options: { program?: string; args?: readonly string[]; env?: NodeJS.ProcessEnv } = {},
): AcpTestClient {
  const client = connectAcpClient({
    spawn: {
      command: process.execPath,
      args: [options.program ?? AGENT_CORE, ...(options.args ?? [])],
      env: { ...process.env, PILOTHOUSE_HOME: home, PILOTHOUSE_SANDBOX: 'off', ...options.env },
    },
  });
  onTestFinished(async () => {
    client.kill();
    stopHost(home);
  });
  return client;
}

/** A client that answers every permission request with one option kind. */
export function answering(
  client: AcpTestClient,
  optionId: 'allow_once' | 'reject_once',
): AcpTestClient {
  client.onRequest('session/request_permission', () => ({
    outcome: { outcome: 'selected', optionId },
  }));
  return client;
}

/** True while a process with this id exists and is no zombie. */
export function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+Z/mu.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

/** Resolves once the condition holds; polls the outside world, which has no events. Rejects after 10 s. */
export async function eventually(condition: () => boolean, what: string): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error(`Not in time: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Waits for a file that a child writes a process id into. */
export async function pidFrom(file: string): Promise<number> {
  await eventually(
    () => existsSync(file) && readFileSync(file, 'utf8').trim() !== '',
    `a process id in ${file}`,
  );
  return Number(readFileSync(file, 'utf8').trim());
}
