import * as vscode from 'vscode';
import { type Disposable, DisposableStore } from '../../base/disposables.ts';
import { targetSession } from '../commands/picks/pick-session.ts';
import { registerCommands } from '../commands/register.ts';
import type { Services } from '../commands/services.ts';
import { onDemand } from '../commands/tables/on-demand.ts';
import { controlError } from '../sessions/control/refused.ts';
import type { HubChange, SessionHub } from '../sessions/session-hub.ts';
import type { RewindPorts } from './ports.ts';
import { RESTORE_SCHEME, RestoreDocuments } from './restore-documents.ts';

const COMMANDS = [
  'pilothouse.rollBack',
  'pilothouse.restoreFiles',
  'pilothouse.redoRollback',
  'pilothouse.forkSession',
  'pilothouse.removeMessages',
  'pilothouse.internal.restoreCall',
];

/** How long a stopped turn may take to end before going back gives up, in milliseconds. */
const STOP_WAIT_MS = 20_000;

/** Registers going back: rollback, redo, fork, removing messages, and putting files back. */
export function registerRewind(services: Services): Disposable {
  const store = new DisposableStore();
  const ports = rewindPorts(services);
  const documents = new RestoreDocuments(
    async (params) => (await ports.request('_pilothouse/checkpoints/text', params)).text,
  );
  store.add(vscode.workspace.registerTextDocumentContentProvider(RESTORE_SCHEME, documents));
  const choose = async (argument: unknown) => targetSession(services, argument);
  const commands = onDemand(COMMANDS, async () => {
    const { createRewindCommands } = await import('../control/bundle.ts');
    return createRewindCommands(ports, choose);
  });
  store.add(registerCommands(commands, services.log));
  return store;
}

/** How long the chat may take to show a moved conversation before it is not waited for any more, in milliseconds. */
const LAY_WAIT_MS = 3_000;

function rewindPorts({ hub, hosts, bridge, showSession }: Services): RewindPorts {
  const composed = new Map<string, string>();
  return {
    open: async (sessionId) => hub.open(sessionId),
    request: async (method, params) => {
      const connection = await hosts.connectFor(params);
      try {
        return await connection.request(method, params);
      } catch (error) {
        throw controlError(error);
      }
    },
    stop: async (sessionId) => {
      await hub.stop(sessionId);
      return hasEnded(hub, sessionId);
    },
    show: showSession,
    laidAnew: async (sessionId) => {
      const isReset = ({ session, change }: HubChange): boolean =>
        session.sessionId === sessionId && change.kind === 'reset';
      await happens(hub, isReset, LAY_WAIT_MS);
      const last = hub.get(sessionId)?.conversation.items().at(-1);
      if (last && bridge.sessionId === sessionId) bridge.push({ type: 'reveal', id: last.id });
    },
    compose: (sessionId, text) => {
      if (bridge.sessionId !== sessionId) return;
      composed.set(sessionId, text);
      bridge.compose({ text }, true);
    },
    takeBack: (sessionId) => {
      const takesBack = composed.get(sessionId);
      composed.delete(sessionId);
      if (takesBack !== undefined && bridge.sessionId === sessionId)
        bridge.compose({ takesBack }, false);
    },
    shown: () => bridge.sessionId,
  };
}

async function hasEnded(hub: SessionHub, sessionId: string): Promise<boolean> {
  const isQuiet = (): boolean => hub.get(sessionId)?.isRunning !== true;
  return isQuiet() || happens(hub, isQuiet, STOP_WAIT_MS);
}

/** True as soon as a change fits, false when none did in time. */
async function happens(
  hub: SessionHub,
  fits: (change: HubChange) => boolean,
  milliseconds: number,
): Promise<boolean> {
  return new Promise((resolve) => {
    const finish = (happened: boolean): void => {
      clearTimeout(timer);
      changes.dispose();
      resolve(happened);
    };
    const changes = hub.onDidChange((change) => fits(change) && finish(true));
    const timer = setTimeout(() => finish(false), milliseconds);
  });
}
