import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { type KnownEndpoint, readEndpoint } from '../../../src/core/link/endpoint-file.ts';
import type { HostFacts } from '../../../src/protocol/host-link.ts';
import type { AcpTestClient } from '../acp-client/client.ts';
import { eventually, isAlive } from '../agent-core/agent-core.ts';
import { KNOWS_CONTROL } from '../agent-core/control-client.ts';

/** A process that was started with a data folder in its environment. */
export type FolderProcess = { readonly pid: number; readonly isHost: boolean };

/** All agent-core processes of a data folder that live, whoever started them; read from the system itself. */
export function processesOf(home: string): readonly FolderProcess[] {
  return readdirSync('/proc').flatMap((name) => {
    const pid = Number(name);
    if (!Number.isSafeInteger(pid) || pid === process.pid || !isAlive(pid)) return [];
    const [environment, command] = [read(name, 'environ'), read(name, 'cmdline')];
    if (!environment.split('\0').includes(`PILOTHOUSE_HOME=${home}`)) return [];
    if (!command.includes('agent-core.mjs')) return [];
    return [{ pid, isHost: command.includes('\0host\0--run') }];
  });
}

/** The hosts of a data folder. */
export function hostsOf(home: string): readonly number[] {
  const hosts = processesOf(home).flatMap(({ pid, isHost }) => (isHost ? [pid] : []));
  // A host starts none: a child that looks like one is about to become a tool's program.
  return hosts.filter((pid) => !hosts.includes(parentOf(pid)));
}

function parentOf(pid: number): number {
  const stat = read(String(pid), 'stat');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
}

/** Processes that work in a folder, whoever started them: what tools left there. */
export function workersIn(folder: string): readonly number[] {
  return readdirSync('/proc').flatMap((name) => {
    const pid = Number(name);
    if (!Number.isSafeInteger(pid) || pid === process.pid || !isAlive(pid)) return [];
    try {
      return readlinkSync(`/proc/${name}/cwd`) === folder ? [pid] : [];
    } catch {
      // It has just ended.
      return [];
    }
  });
}

function read(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    // It has just ended.
    return '';
  }
}

/** What a host says of itself in its data folder. */
export function endpointOf(home: string): KnownEndpoint {
  const endpoint = readEndpoint(home);
  if (endpoint === null) throw new Error(`No host says that it is in ${home}`);
  return endpoint;
}

/** Introduces a client and gives the process id of the host that it reached. */
export async function reachedBy(client: AcpTestClient): Promise<number> {
  const answer = await client.initialize(KNOWS_CONTROL);
  const capabilities = answer['agentCapabilities'] as {
    readonly _meta: { readonly pilothouse: { readonly host: HostFacts } };
  };
  return capabilities._meta.pilothouse.host.pid;
}

/** Resolves when a process is gone. */
export async function gone(pid: number): Promise<void> {
  await eventually(() => !isAlive(pid), `the end of process ${pid}`);
}

/** Resolves when a file is there. */
export async function isThere(path: string): Promise<void> {
  await eventually(() => existsSync(path), path);
}

/** A stranger at a host's socket, who says bytes and hears what comes. */
export class Stranger {
  readonly socket: Socket;
  heard = '';
  readonly closed: Promise<void>;

  constructor(endpoint: string, bytes: string | Uint8Array = '') {
    this.socket = connect(endpoint);
    this.socket.on('error', () => undefined);
    this.socket.setEncoding('utf8').on('data', (text: string) => {
      this.heard += text;
    });
    this.closed = new Promise((resolve) => this.socket.once('close', () => resolve()));
    if (bytes.length > 0) this.socket.write(bytes);
  }
}
