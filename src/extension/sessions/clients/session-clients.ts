import * as z from 'zod/mini';
import { messageOf } from '../../../base/errors.ts';
import type { SessionClient } from '../../../protocol/session-clients.ts';
import type { AgentConnection } from '../../core/connection.ts';

const ROLE = z.enum(['host_owner', 'observer']);

const CLIENT = z.looseObject({
  key: z.string(),
  clientId: z.string(),
  title: z.exactOptional(z.string()),
  role: ROLE,
  acting: z.boolean(),
  since: z.string(),
  you: z.boolean(),
});

const CHANGED = z.looseObject({ sessionId: z.string(), clients: z.array(CLIENT) });

const ROLE_CHANGED = z.looseObject({
  sessionId: z.string(),
  role: ROLE,
  by: z.looseObject({ key: z.string(), clientId: z.string(), title: z.exactOptional(z.string()) }),
});

/** The name that windows of this extension give themselves. */
export const WINDOW_CLIENT = 'pilothouse-vscode';

/** What a client may do in a session. */
export type ClientRole = SessionClient['role'];

/** Somebody changed this window's role in a session. */
export type RoleChange = {
  readonly sessionId: string;
  readonly role: ClientRole;
  readonly by: { readonly key: string; readonly clientId: string; readonly title?: string };
};

/** Reads `_pilothouse/clients_changed`, or null if it has no known shape. */
export function clientsChangeOf(
  params: unknown,
): { readonly sessionId: string; readonly clients: readonly SessionClient[] } | null {
  const parsed = z.safeParse(CHANGED, params);
  return parsed.success ? parsed.data : null;
}

/** Reads `_pilothouse/role_changed`, or null if it has no known shape. */
export function roleChangeOf(params: unknown): RoleChange | null {
  const parsed = z.safeParse(ROLE_CHANGED, params);
  return parsed.success ? parsed.data : null;
}

/** What the clients of a session are kept with. */
export type ClientsPorts = {
  readonly sessionId: string;
  readonly connect: () => Promise<AgentConnection>;
  readonly changed: () => void;
  readonly log: (message: string) => void;
};

/** Who else follows one session, and what this window may do in it. */
export class SessionClients {
  readonly #ports: ClientsPorts;
  #clients: readonly SessionClient[] = [];

  constructor(ports: ClientsPorts) {
    this.#ports = ports;
  }

  /** An owner, as long as the host has not said otherwise. */
  get role(): ClientRole {
    return this.#clients.find(({ you }) => you)?.role ?? 'host_owner';
  }

  /** In the order in which they came. */
  get others(): readonly SessionClient[] {
    return this.#clients.filter(({ you }) => !you);
  }

  /** True for the key of this window's own connection. */
  isOwn(key: string): boolean {
    return this.#clients.some((client) => client.you && client.key === key);
  }

  /** The list as the host has it now. */
  take(clients: readonly SessionClient[]): void {
    this.#clients = clients;
    this.#ports.changed();
  }

  /** Every change is told; how it stands at first has to be asked. Never rejects. */
  async fetch(connection: AgentConnection): Promise<void> {
    const { sessionId, log } = this.#ports;
    try {
      const { clients } = await connection.request('_pilothouse/clients/list', { sessionId });
      this.take(clients);
    } catch (error) {
      // A host of before this method has one client only.
      log(`session ${sessionId}: who else follows it is not known: ${messageOf(error)}`);
    }
  }

  /** Nobody is known any more: the connection is gone. */
  forget(): void {
    this.#clients = [];
  }

  /** This window controls the session from now on; `exclusive`: all others only read. */
  async claim(exclusive: boolean): Promise<void> {
    const { sessionId, connect } = this.#ports;
    const connection = await connect();
    await connection.request('_pilothouse/claim', { sessionId, exclusive });
    await this.fetch(connection);
  }
}
