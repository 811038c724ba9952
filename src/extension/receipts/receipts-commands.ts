import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import type { CommandTable } from '../commands/services.ts';
import type { ReceiptsPanels } from './receipts-panels.ts';
import { type VerifyChain, verifyBoth } from './verification.ts';

/** What the commands act on. */
export type ReceiptsCommandParts = {
  readonly panels: ReceiptsPanels;
  /** The session a command is about; undefined if the person gave up. */
  readonly choose: (argument: unknown) => Promise<string | undefined>;
  readonly verify: (sessionId: string) => VerifyChain;
  readonly sessionName: (sessionId: string) => string;
};

/** Commands that show receipts and verify sessions. */
export function receiptsCommands(parts: ReceiptsCommandParts): CommandTable {
  const { panels, choose, verify, sessionName } = parts;
  return {
    'pilothouse.showReceipts': async (argument) => {
      const sessionId = await choose(argument);
      if (sessionId !== undefined) panels.show(sessionId);
    },
    'pilothouse.showOtherReceipts': async () => void panels.show(null),
    'pilothouse.verifySession': async (argument) => {
      const sessionId = await choose(argument);
      if (sessionId !== undefined) await verifyAndTell(verify(sessionId), sessionName(sessionId));
    },
  };
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
