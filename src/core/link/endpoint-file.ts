import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isObject } from '../../base/json.ts';
import type { HostEndpoint } from '../../protocol/host-link.ts';
import { mayBeAlive, readIfThere } from './process-facts.ts';

const FILE = 'host-endpoint.json';

/** As the file holds it. */
export type KnownEndpoint = HostEndpoint & {
  /** True from the moment on in which the host began to end. */
  readonly isClosing: boolean;
};

/** Where a host says how it is reached. Its folder is its owner's alone; whoever can read it may control the host. */
export function endpointFile(dataFolder: string): string {
  return join(dataFolder, FILE);
}

/**
 * Says where the host is, whole at once. Only who holds the data folder may; so there is one draft, and what a host
 * that died left of it is taken by the next one.
 */
export function writeEndpoint(dataFolder: string, endpoint: KnownEndpoint): void {
  const path = endpointFile(dataFolder);
  const draft = `${path}.new`;
  rmSync(draft, { force: true });
  try {
    writeFileSync(draft, `${JSON.stringify(endpoint)}\n`, { mode: 0o600, flag: 'wx' });
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

/** Takes the host's own word back; another host's stays. */
export function removeEndpoint(dataFolder: string, token: string): void {
  if (readEndpoint(dataFolder)?.token === token) rmSync(endpointFile(dataFolder), { force: true });
}

/** What the file says; null if it is not there or says nothing that can be meant. */
export function readEndpoint(dataFolder: string): KnownEndpoint | null {
  const text = readIfThere(endpointFile(dataFolder));
  if (text === null) return null;
  try {
    return endpointOf(JSON.parse(text));
  } catch {
    // A file that was cut off says nothing; the lock tells whether there is a host.
    return null;
  }
}

/** The endpoint of a host whose process may still be there. */
export function liveEndpoint(dataFolder: string): KnownEndpoint | null {
  const endpoint = readEndpoint(dataFolder);
  return endpoint !== null && mayBeAlive(endpoint) ? endpoint : null;
}

function endpointOf(value: unknown): KnownEndpoint | null {
  if (!isObject(value)) return null;
  const { link, pid, startTicks, bootId, version, endpoint, token, isClosing } = value;
  const isWhole =
    typeof link === 'number' &&
    typeof pid === 'number' &&
    Number.isSafeInteger(pid) &&
    pid > 0 &&
    typeof version === 'string' &&
    typeof endpoint === 'string' &&
    typeof token === 'string' &&
    token !== '';
  if (!isWhole) return null;
  return {
    link,
    pid,
    startTicks: typeof startTicks === 'string' ? startTicks : null,
    bootId: typeof bootId === 'string' ? bootId : null,
    version,
    endpoint,
    token,
    isClosing: isClosing === true,
  };
}
