import { randomUUID } from 'node:crypto';
import type { Agent } from '../core/agent.ts';
import type { ClientCalls } from '../core/client-requests.ts';
import { type AgentParts, createAgent } from '../core/create-agent.ts';
import { type AddedHost, OWN_HOST } from './host.ts';
import { hostClient } from './host-client.ts';
import { HostRegistry } from './host-registry.ts';
import { Hosts } from './hosts.ts';

const HOSTS_KEY = 'hosts.added';
const REMOVE_GRACE_MS = 2_000;

/** Builds the hosts of this window: its own, and those that were added. Starts none. */
export function createHosts(
  parts: AgentParts,
  calls: ClientCalls,
): { readonly hosts: Hosts; readonly registry: HostRegistry } {
  const { context, log } = parts;
  const registry = new HostRegistry(
    {
      load: () => context.globalState.get(HOSTS_KEY),
      save: async (list) => context.globalState.update(HOSTS_KEY, list),
    },
    context.secrets,
    randomUUID,
  );
  const open = (added: AddedHost | null): Agent => {
    const id = added?.id ?? OWN_HOST;
    const client = hostClient({
      id,
      added,
      hosts: () => hosts,
      calls,
      log: (message) => log.debug(message),
    });
    return createAgent(parts, { host: added, client, token: async () => registry.token(id) });
  };
  const hosts = new Hosts(open(null));
  const follow = (): void => {
    hosts.set(registry.all(), open, REMOVE_GRACE_MS).catch((error: unknown) => {
      log.warn(`a removed host did not end: ${String(error)}`);
    });
  };
  follow();
  context.subscriptions.push(registry, registry.onDidChange(follow));
  return { hosts, registry };
}
