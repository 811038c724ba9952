import type { Services } from '../services.ts';

/** Keeps a key and hands it to the agents that run on this machine. */
export async function storeKey(
  { keys, hosts }: Services,
  source: string,
  key: string,
): Promise<void> {
  await keys.set(source, key);
  await hosts.everyLocal(async (connection) =>
    connection.request('_pilothouse/secrets/set', { source, key }),
  );
}
