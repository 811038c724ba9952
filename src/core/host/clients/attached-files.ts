import { access } from 'node:fs/promises';
import { codeOf } from '../../../base/errors.ts';
import type { DocumentFiles } from '../../session/tool.ts';
import type { SessionId } from '../../session/words.ts';
import type { Client } from '../api.ts';
import type { AttachedClients } from './attached-clients.ts';

/** The code of a `Client` call that failed because the client vanished. */
const VANISHED = 'client.gone';

/**
 * Open and dirty documents of the owner that acts, if it has any to offer, else of the next one that has; without one
 * every file is read from the disk. If an owner vanishes while it is asked, the next one is. A client is not asked about
 * a file that is not there: some answer with an error that they show to the person.
 */
export function attachedFiles(sessionId: SessionId, clients: AttachedClients): DocumentFiles {
  return {
    readText: async (path, signal) => {
      const canRead = (client: Client): boolean => client.canReadFiles;
      if (!clients.owners().some(canRead) || !(await exists(path))) return null;
      const read = (client: Client): Promise<string | null> =>
        client.readTextFile(sessionId, path, signal);
      return await askOwners(clients, canRead, read, null);
    },
    writeText: async (path, text, signal) => {
      const write = (client: Client): Promise<boolean> =>
        client.writeTextFile(sessionId, path, text, signal);
      return await askOwners(clients, (client) => client.canWriteFiles, write, false);
    },
  };
}

/** The answer of the first owner that stays to give one; `nobody` if there is none. */
async function askOwners<T>(
  clients: AttachedClients,
  can: (client: Client) => boolean,
  ask: (client: Client) => Promise<T>,
  nobody: T,
): Promise<T> {
  const vanished = new Set<Client>();
  for (;;) {
    const owner = clients.owners().find((client) => can(client) && !vanished.has(client));
    if (owner === undefined) return nobody;
    try {
      return await ask(owner);
    } catch (failure) {
      if (codeOf(failure) !== VANISHED) throw failure;
      vanished.add(owner);
    }
  }
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
