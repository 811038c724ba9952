import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { type Disposable, DisposableStore } from '../../base/disposables.ts';
import { targetSession } from '../commands/pick-session.ts';
import { registerCommands } from '../commands/register.ts';
import type { Services } from '../commands/services.ts';
import { sessionName } from '../sessions/tree-model.ts';
import { ReceiptsPanels } from './receipts-panels.ts';
import { type VerifyChain, verifyBoth, verifyHost } from './verification.ts';

/** The name of the host's own stream, which holds the receipts of controls that named no session here. */
const HOST = 'host';

/** How long a check of a long history may take, in milliseconds. */
const VERIFY_TIMEOUT_MS = 300_000;

/** Registers the receipts pages and Verify. */
export function registerReceipts(services: Services, extensionUri: vscode.Uri): Disposable {
  const { hub, agent, calls } = services;
  const store = new DisposableStore();
  const verify =
    (sessionId: string): VerifyChain =>
    async (stream) =>
      (await agent.ensure()).request(
        '_pilothouse/history/verify',
        { sessionId, stream },
        { timeoutMs: VERIFY_TIMEOUT_MS },
      );
  const name = (sessionId: string): string =>
    sessionName(hub.directory.get(sessionId)?.title ?? '');
  const panels = store.add(
    new ReceiptsPanels({
      extensionUri,
      calls,
      read: async (params) => (await agent.ensure()).request('_pilothouse/receipts/list', params),
      verify: async (stream, sessionId) =>
        stream === 'host' || sessionId === null
          ? verifyHost(verify(HOST))
          : verifyBoth(verify(sessionId)),
      sessionName: name,
      isKnown: (sessionId) => hub.directory.get(sessionId) !== null,
    }),
  );
  const commands = {
    'pilothouse.showReceipts': async (argument?: unknown) => {
      const sessionId = await targetSession(services, argument);
      if (sessionId !== undefined) panels.show(sessionId);
    },
    'pilothouse.showOtherReceipts': async () => void panels.show(null),
    'pilothouse.verifySession': async (argument?: unknown) => {
      const sessionId = await targetSession(services, argument);
      if (sessionId !== undefined) await verifyAndTell(verify(sessionId), name(sessionId));
    },
  };
  store.add(registerCommands(commands, services.log));
  return store;
}

async function verifyAndTell(verify: VerifyChain, name: string): Promise<void> {
  const title = l10n.t('Verifying “{0}”…', name);
  const options = { location: vscode.ProgressLocation.Notification, title };
  const chains = await vscode.window.withProgress(options, async () => verifyBoth(verify));
  const broken = chains.filter(({ ok }) => !ok);
  if (broken.length === 0) {
    void vscode.window.showInformationMessage(
      l10n.t('“{0}” is whole: every record of its conversation and receipts fits its hash.', name),
    );
    return;
  }
  const found = broken.map((chain) => `${chain.name}: ${chain.text}.`).join(' ');
  void vscode.window.showErrorMessage(l10n.t('“{0}” was changed outside Pilothouse.', name), {
    modal: true,
    detail: found,
  });
}
