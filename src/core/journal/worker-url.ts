/**
 * Where the worker's file is, seen from the module at `moduleUrl`: beside it as TypeScript when run from the source,
 * else `agent-core/journal-worker.mjs` in the build, whose modules lie in that folder or above it.
 */
export function workerUrl(moduleUrl: string): URL {
  if (new URL(moduleUrl).pathname.endsWith('.ts')) return new URL('./worker.ts', moduleUrl);
  const inChunkFolder = new URL('.', moduleUrl).pathname.endsWith('/agent-core/');
  return new URL(
    inChunkFolder ? './journal-worker.mjs' : './agent-core/journal-worker.mjs',
    moduleUrl,
  );
}
