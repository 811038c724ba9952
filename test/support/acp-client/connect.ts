import type { Readable, Writable } from 'node:stream';
import { AcpTestClient } from './client.ts';
import { type SpawnOptions, spawnLink, streamLink } from './link.ts';

/** Connects to an agent: a process to start, or streams that lead to one. */
export function connectAcpClient(
  target:
    | { readonly spawn: SpawnOptions }
    | { readonly streams: { input: Writable; output: Readable } },
): AcpTestClient {
  return new AcpTestClient(
    'spawn' in target ? spawnLink(target.spawn) : streamLink(target.streams),
  );
}
