import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { checkout } from '../install/paths.ts';
import { descendants, environmentOf, type Process, signal, waitForExit } from './processes.ts';

/** A host that ends lets what runs come to its end: it takes at most this long, in milliseconds. */
const END_MS = 20_000;

/** Whether it is the process that sessions live in: it outlives windows and VS Code. */
export function isSessionHost({ command }: Process): boolean {
  return /agent-core\.mjs .*\bhost --run\b/.test(command);
}

/** Those of `all` that are session hosts or were started by one. */
export function ofSessionHosts(all: readonly Process[]): readonly Process[] {
  const hosts = all.filter(isSessionHost);
  return [...hosts, ...hosts.flatMap(({ pid }) => descendants(pid))];
}

/** Ends the session host of a data folder as a person does; fine if there is none. */
export async function stopHost(dataFolder: string): Promise<void> {
  await new Promise<void>((resolve) => {
    const child = spawn(
      process.execPath,
      [join(checkout, 'dist/agent-core.mjs'), 'host', '--stop'],
      { env: { ...process.env, PILOTHOUSE_HOME: dataFolder }, stdio: 'ignore', timeout: END_MS },
    );
    child.on('error', () => resolve()); // It was not built: then nothing runs.
    child.on('exit', () => resolve());
  });
}

/** Ends these session hosts with all they started; resolves with the processes that had to be killed. */
export async function endSessionHosts(hosts: readonly Process[]): Promise<readonly Process[]> {
  const all = ofSessionHosts(hosts);
  const folders = hosts.map(({ pid }) => environmentOf(pid)['PILOTHOUSE_HOME']);
  await Promise.all(
    [...new Set(folders)].map(async (folder) => folder !== undefined && stopHost(folder)),
  );
  const alive = await waitForExit(() => all.map(({ pid }) => pid), 2000);
  for (const pid of alive) signal(pid, 'SIGKILL');
  await waitForExit(() => alive, 5000);
  return all.filter(({ pid }) => alive.includes(pid));
}
