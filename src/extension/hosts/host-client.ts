import { isObject } from '../../base/json.ts';
import { RpcError } from '../../protocol/errors.ts';
import type { ClientCalls } from '../core/client-requests.ts';
import type { ClientSide } from '../core/connection.ts';
import type { AddedHost, HostId } from './host.ts';
import type { Hosts } from './hosts.ts';

/** What one host's calls go through. */
export type HostClientPorts = {
  readonly id: HostId;
  readonly added: AddedHost | null;
  readonly hosts: () => Pick<Hosts, 'learn' | 'forget'>;
  readonly calls: ClientCalls;
  readonly log: (message: string) => void;
};

/**
 * Takes a host's calls: notes which sessions are its own, and lets it speak of no others. A host of another machine
 * reads and writes no documents of this one.
 */
export function hostClient(
  ports: HostClientPorts,
): Pick<ClientSide, 'onRequest' | 'onNotification'> {
  const { id, added, calls, log } = ports;
  const isOurs = (params: unknown): boolean => {
    const sessionId = sessionOf(params);
    return sessionId === null || ports.hosts().learn(sessionId, id);
  };
  return {
    onRequest: async (method, params, signal) => {
      if (added?.kind === 'ws' && method.startsWith('fs/'))
        throw new RpcError('methodNotFound', `Not offered to a host of another machine: ${method}`);
      if (!isOurs(params))
        throw new RpcError('invalidParams', 'This session is of another host of the window.');
      return calls.request(method, params, signal, id);
    },
    onNotification: (method, params) => {
      if (!isOurs(params)) {
        log(`${method} about another host's session was left out`);
        return;
      }
      if (!calls.notify(method, params, id)) log(`nobody takes the notification ${method}`);
      const gone = method === '_pilothouse/session_deleted' ? sessionOf(params) : null;
      if (gone !== null) ports.hosts().forget(gone);
    },
  };
}

/** The session that a call names, at its top or as a row of the list. */
function sessionOf(params: unknown): string | null {
  if (!isObject(params)) return null;
  const { sessionId, session } = params;
  if (typeof sessionId === 'string' && sessionId !== '') return sessionId;
  return isObject(session) ? sessionOf(session) : null;
}
