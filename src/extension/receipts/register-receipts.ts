import type * as vscode from 'vscode';
import { type Disposable, DisposableStore } from '../../base/disposables.ts';
import { targetSession } from '../commands/picks/pick-session.ts';
import { registerCommands } from '../commands/register.ts';
import type { Services } from '../commands/services.ts';
import { onDemand } from '../commands/tables/on-demand.ts';
import { sessionName } from '../sessions/tree/tree-model.ts';
import type { VerifyChain } from './verification.ts';

/** How long a check of a long history may take, in milliseconds. */
const VERIFY_TIMEOUT_MS = 300_000;

const COMMANDS = [
  'pilothouse.showReceipts',
  'pilothouse.showOtherReceipts',
  'pilothouse.verifySession',
];

/** Registers the receipts pages and Verify. */
export function registerReceipts(services: Services, extensionUri: vscode.Uri): Disposable {
  const { hub, hosts, calls } = services;
  const store = new DisposableStore();
  const verify =
    (sessionId: string): VerifyChain =>
    async (stream) =>
      (await hosts.connectFor({ sessionId })).request(
        '_pilothouse/history/verify',
        { sessionId, stream },
        { timeoutMs: VERIFY_TIMEOUT_MS },
      );
  const commands = onDemand(COMMANDS, async () => {
    const { createReceipts } = await import('../control/bundle.ts');
    const receipts = createReceipts({
      extensionUri,
      calls,
      read: async (params) =>
        (await hosts.connectFor(params)).request('_pilothouse/receipts/list', params),
      verify,
      choose: async (argument) => targetSession(services, argument),
      sessionName: (sessionId) => sessionName(hub.directory.get(sessionId)?.title ?? ''),
      isKnown: (sessionId) => hub.directory.get(sessionId) !== null,
    });
    store.add(receipts.panels);
    return receipts.commands;
  });
  store.add(registerCommands(commands, services.log));
  return store;
}
