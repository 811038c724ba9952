import * as vscode from 'vscode';
import { type Disposable, DisposableStore } from '../../base/disposables.ts';
import { targetSession } from '../commands/pick-session.ts';
import { registerCommands } from '../commands/register.ts';
import type { Services } from '../commands/services.ts';
import { controlError } from '../sessions/control/refused.ts';
import type { SessionHub } from '../sessions/session-hub.ts';
import type { RewindPorts } from './ports.ts';
import { RESTORE_SCHEME, RestoreDocuments } from './restore-documents.ts';
import { rewindCommands } from './rewind-commands.ts';

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
  store.add(registerCommands(rewindCommands(ports, choose), services.log));
  return store;
}

function rewindPorts({ hub, agent, bridge, showSession }: Services): RewindPorts {
  return {
    open: async (sessionId) => hub.open(sessionId),
    request: async (method, params) => {
      const connection = await agent.ensure();
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
    compose: (text) => bridge.compose({ text }, true),
    shown: () => bridge.sessionId,
  };
}

async function hasEnded(hub: SessionHub, sessionId: string): Promise<boolean> {
  const isQuiet = (): boolean => hub.get(sessionId)?.isRunning !== true;
  if (isQuiet()) return true;
  return new Promise((resolve) => {
    const finish = (ended: boolean): void => {
      clearTimeout(timer);
      changes.dispose();
      resolve(ended);
    };
    const changes = hub.onDidChange(() => isQuiet() && finish(true));
    const timer = setTimeout(() => finish(false), STOP_WAIT_MS);
  });
}
