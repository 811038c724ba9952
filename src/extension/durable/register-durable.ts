import * as l10n from '@vscode/l10n';
import type { Disposable } from '../../base/disposables.ts';
import type { JsonObject } from '../../base/json.ts';
import { targetOf } from '../commands/picks/arguments.ts';
import { pickFolder } from '../commands/picks/pick-folder.ts';
import { pickSession, targetSession } from '../commands/picks/pick-session.ts';
import { nameOfSession } from '../commands/picks/running-session.ts';
import { registerCommands } from '../commands/register.ts';
import type { Services } from '../commands/services.ts';
import { onDemand } from '../commands/tables/on-demand.ts';
import type { AgentConnection } from '../core/connection.ts';
import type { Host, Hosts } from '../hosts/hosts.ts';
import { controlError } from '../sessions/control/refused.ts';
import type { SessionView } from '../sessions/session-view.ts';
import type { DurablePorts } from './ports.ts';

const COMMANDS = [
  'pilothouse.continueTurn',
  'pilothouse.compact',
  'pilothouse.reopenSession',
  'pilothouse.openDataFolder',
  'pilothouse.keepFiles',
  'pilothouse.exportMarkdown',
  'pilothouse.exportJson',
  'pilothouse.importSession',
  'pilothouse.searchSessions',
];

/** Registers what is about keeping: going on, condensing, finding, export and import, and a store that fails. */
export function registerDurable(services: Services): Disposable {
  const commands = onDemand(COMMANDS, async () => {
    const { createDurableCommands } = await import('../control/bundle.ts');
    return createDurableCommands(durablePorts(services));
  });
  return registerCommands(commands, services.log);
}

function durablePorts(services: Services): DurablePorts {
  const { hub, hosts, bridge, showSession, log } = services;
  return {
    open: async (sessionId) => hub.open(sessionId),
    reopen: async (sessionId) => hub.reopen(sessionId),
    request: async (method, params, options) => {
      const connection = await hosts.connectFor(params);
      try {
        return await connection.request(method, params, options);
      } catch (error) {
        throw controlError(error);
      }
    },
    search: async (params, signal) => searchAll(hosts, params, signal),
    hostName: (sessionId) => hosts.of(sessionId).added?.name,
    rows: () => hub.directory.rows(),
    show: showSession,
    reveal: (sessionId, rowId) => {
      if (bridge.sessionId === sessionId) bridge.push({ type: 'reveal', id: rowId });
    },
    choose: async (argument) => targetSession(services, argument),
    chooseInterrupted: async (argument) => chooseInterrupted(services, argument),
    nameOf: (sessionId) => nameOfSession(services, sessionId),
    pickFolder: async () => pickFolder(l10n.t('Import Session')),
    log: (message) => log.warn(message),
  };
}

/** What every connected host finds. One that is lost meanwhile has found nothing. */
async function searchAll(
  hosts: Hosts,
  params: Parameters<DurablePorts['search']>[0],
  signal: AbortSignal,
): Promise<readonly unknown[]> {
  const ask = async (host: Host, connection: AgentConnection): Promise<readonly JsonObject[]> => {
    const { sessions } = await connection.request('_pilothouse/sessions/search', params, {
      signal,
    });
    return sessions.filter(
      ({ sessionId }) => typeof sessionId === 'string' && hosts.learn(sessionId, host.id),
    );
  };
  const own = ask(hosts.own, await hosts.connect(hosts.own));
  const others = hosts.added().flatMap((host) => {
    const { connection } = host.agent;
    return connection ? [ask(host, connection)] : [];
  });
  const found = await Promise.allSettled(others);
  return [...(await own), ...found.flatMap((one) => (one.status === 'fulfilled' ? one.value : []))];
}

const isInterrupted = ({ state }: SessionView): boolean => state === 'interrupted';

/** The one named, the one in the chat if it was interrupted, else the only such one; several are asked about. */
async function chooseInterrupted(
  services: Services,
  argument: unknown,
): Promise<string | undefined> {
  const named = targetOf(argument).sessionId;
  if (named !== undefined) return named;
  const found = services.tree.views().filter(isInterrupted);
  const shown = found.find(({ row }) => row.sessionId === services.bridge.sessionId);
  const only = shown ?? (found.length === 1 ? found[0] : undefined);
  if (only) return only.row.sessionId;
  return pickSession(services, isInterrupted, l10n.t('Which session shall go on?'));
}
