import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { chatStrings as allChatStrings } from '../chat/chat-strings.ts';
import type { CommandTable, Services } from '../commands/services.ts';
import { type DelegateCommandPorts, delegateCommands } from '../delegates/delegate-commands.ts';
import { durableCommands } from '../durable/durable-commands.ts';
import type { DurablePorts } from '../durable/ports.ts';
import { type HostCommandPorts, hostCommands } from '../hosts/host-commands.ts';
import { participantHandler } from '../participant/handler.ts';
import { receiptsCommands } from '../receipts/receipts-commands.ts';
import { ReceiptsPanels, type ReceiptsPorts } from '../receipts/receipts-panels.ts';
import type { RewindPorts } from '../rewind/ports.ts';
import { type ChooseSession, rewindCommands } from '../rewind/rewind-commands.ts';
import { hostProcessCommands } from '../session-host/host-process-commands.ts';
import type { SessionHostPorts } from '../session-host/ports.ts';
import { type StagedParts, stagedCommands } from '../staged/staged-commands.ts';

/*
 * What a window needs only once somebody looks back or decides about staged edits, as a file of its own: the main file
 * is parsed whole at start-up. Its translations are its own too.
 */
if (vscode.l10n.bundle) l10n.config({ contents: vscode.l10n.bundle });

/** The receipts pages and the commands that show them. */
export function createReceipts(ports: ReceiptsPorts & { readonly choose: ChooseSession }): {
  readonly panels: ReceiptsPanels;
  readonly commands: CommandTable;
} {
  const panels = new ReceiptsPanels(ports);
  return { panels, commands: receiptsCommands({ ...ports, panels }) };
}

export function createRewindCommands(ports: RewindPorts, choose: ChooseSession): CommandTable {
  return rewindCommands(ports, choose);
}

export function createStagedCommands(parts: StagedParts): CommandTable {
  return stagedCommands(parts);
}

export function createDurableCommands(ports: DurablePorts): CommandTable {
  return durableCommands(ports);
}

export function createDelegateCommands(ports: DelegateCommandPorts): CommandTable {
  return delegateCommands(ports);
}

export function createHostCommands(ports: HostCommandPorts): CommandTable {
  return hostCommands(ports);
}

export function createHostProcessCommands(ports: SessionHostPorts): CommandTable {
  return hostProcessCommands(ports);
}

export { pickHost } from '../hosts/host-commands.ts';

/** What answers `@pilothouse` in the editor's own chat. */
export function createParticipantHandler(services: Services): vscode.ChatRequestHandler {
  return participantHandler(services);
}

/** The chat's texts in the language of the editor. */
export function chatStrings(): ReturnType<typeof allChatStrings> {
  return allChatStrings();
}
