import type { Disposable } from '../../base/disposables.ts';
import { hostIdOf } from '../commands/picks/arguments.ts';
import { registerCommands } from '../commands/register.ts';
import type { CommandTable, Services } from '../commands/services.ts';
import { onDemand } from '../commands/tables/on-demand.ts';

const COMMANDS = [
  'pilothouse.addHost',
  'pilothouse.removeHost',
  'pilothouse.renameHost',
  'pilothouse.setHostToken',
];

/** Registers the commands about hosts. What asks a person is loaded when it is first used. */
export function registerHosts(services: Services): Disposable {
  const { hosts, registry } = services;
  const asking = onDemand(COMMANDS, async () => {
    const { createHostCommands } = await import('../control/bundle.ts');
    return createHostCommands({
      registry,
      ownFolder: async () => {
        const connection = await hosts.connect(hosts.own);
        return (await connection.request('_pilothouse/store/status', {})).dataFolder;
      },
      isDown: (id) => hosts.offlineSince(id) !== null,
      reconnect: async (id) => reconnect(services, id),
    });
  });
  const commands: CommandTable = {
    ...asking,
    'pilothouse.retryHost': async (argument) => {
      const id = hostIdOf(argument) ?? (await pickHost(services));
      if (id !== undefined) await reconnect(services, id);
    },
    'pilothouse.newSessionOnHost': async (argument) => {
      const id = hostIdOf(argument) ?? (await pickHost(services));
      const host = id === undefined ? null : hosts.get(id);
      return host ? (await services.startSession(host))?.sessionId : undefined;
    },
  };
  return registerCommands(commands, services.log);
}

async function pickHost({ registry }: Services): Promise<string | undefined> {
  const { pickHost: pick } = await import('../control/bundle.ts');
  return pick(registry);
}

/** Connects anew, with the token as it is now; the list comes with the connection. */
async function reconnect({ hosts }: Services, id: string): Promise<void> {
  const host = hosts.get(id);
  if (!host) return;
  if (host.agent.connection) await host.agent.restart();
  else await hosts.connect(host);
}
