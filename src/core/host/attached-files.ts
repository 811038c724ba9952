import { access } from 'node:fs/promises';
import type { DocumentFiles } from '../session/tool.ts';
import type { SessionId } from '../session/words.ts';
import type { Client } from './api.ts';

/** The clients of a session; the one that came last is asked first. */
export class AttachedClients {
  readonly #clients: Client[] = [];

  get isEmpty(): boolean {
    return this.#clients.length === 0;
  }

  attach(client: Client): void {
    this.detach(client);
    this.#clients.unshift(client);
  }

  /** True if it was attached. */
  detach(client: Client): boolean {
    const index = this.#clients.indexOf(client);
    if (index < 0) return false;
    this.#clients.splice(index, 1);
    return true;
  }

  newest(): Client | undefined {
    return this.#clients[0];
  }
}

/**
 * Open and dirty documents of whichever client is attached; without one every file is read from the disk. A client is
 * not asked about a file that is not there: some answer with an error that they show to the person.
 */
export function attachedFiles(sessionId: SessionId, clients: AttachedClients): DocumentFiles {
  return {
    readText: async (path, signal) => {
      const client = clients.newest();
      if (client?.canReadFiles !== true || !(await exists(path))) return null;
      return client.readTextFile(sessionId, path, signal);
    },
    writeText: async (path, text, signal) => {
      const client = clients.newest();
      return client?.canWriteFiles === true
        ? client.writeTextFile(sessionId, path, text, signal)
        : false;
    },
  };
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
