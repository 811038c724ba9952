import type { AcpTestClient } from '../../support/acp-client/client.ts';
import { connectAcpClient } from '../../support/acp-client/connect.ts';
import { AGENT_CORE } from '../../support/agent-core/agent-core.ts';

/** One event of a history as the updates that show it. */
export type HistoryEntry = {
  readonly eventId: number;
  readonly updates: readonly Readonly<Record<string, unknown>>[];
};

/** True for a piece of streamed text: what of it came before its event was stored is not told again with it. */
export function isText(update: Readonly<Record<string, unknown>>): boolean {
  const kind = update['sessionUpdate'];
  return kind === 'agent_message_chunk' || kind === 'agent_thought_chunk';
}

/** A client that reads a data folder's histories from aside: it follows no session and changes nothing. */
export class SideClient {
  readonly #client: AcpTestClient;

  private constructor(client: AcpTestClient) {
    this.#client = client;
  }

  static async open(home: string): Promise<SideClient> {
    const client = connectAcpClient({
      spawn: {
        command: process.execPath,
        args: [AGENT_CORE],
        env: { ...process.env, PILOTHOUSE_HOME: home },
      },
    });
    await client.initialize({ _meta: { pilothouse: { version: 1 } } });
    return new SideClient(client);
  }

  /** Everything that ever happened in the session, oldest first. */
  async history(sessionId: string): Promise<HistoryEntry[]> {
    const all: HistoryEntry[] = [];
    for (let hasAfter = true; hasAfter; ) {
      const after = all.at(-1)?.eventId ?? 0;
      const params = { sessionId, after, limit: 1000, all: true };
      const page = await this.#client.call('_pilothouse/history/page', params);
      all.push(...(page['entries'] as HistoryEntry[]));
      hasAfter = page['hasAfter'] === true;
    }
    return all;
  }

  /** Events that show more than streamed text. */
  async shownEvents(sessionId: string): Promise<number[]> {
    const entries = await this.history(sessionId);
    return entries
      .filter(({ updates }) => updates.some((update) => !isText(update)))
      .map(({ eventId }) => eventId);
  }

  /** How many turns began. */
  async turns(sessionId: string): Promise<number> {
    const entries = await this.history(sessionId);
    return entries.filter(({ updates }) => JSON.stringify(updates).includes('"state":"started"'))
      .length;
  }

  /** The newest event and the hash of all up to it. */
  async tip(sessionId: string): Promise<{ eventId: number; prefixHash: unknown }> {
    const eventId = (await this.history(sessionId)).at(-1)?.eventId ?? 0;
    return { eventId, prefixHash: await this.hashAt(sessionId, eventId) };
  }

  async hashAt(sessionId: string, eventId: number): Promise<unknown> {
    const params = { sessionId, eventId };
    return (await this.#client.call('_pilothouse/history/hash_at', params))['prefixHash'];
  }

  async close(): Promise<void> {
    await this.#client.close();
  }
}
