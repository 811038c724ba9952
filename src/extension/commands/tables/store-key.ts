import type { Services } from '../services.ts';

/** Keeps a key and hands it to a running agent. */
export async function storeKey(
  { keys, agent }: Services,
  source: string,
  key: string,
): Promise<void> {
  await keys.set(source, key);
  await agent.connection?.request('_pilothouse/secrets/set', { source, key });
}
