import * as vscode from 'vscode';
import type { Disposable } from '../../base/disposables.ts';
import { targetOf } from '../commands/picks/arguments.ts';
import { registerCommands } from '../commands/register.ts';
import type { Services } from '../commands/services.ts';
import { onDemand } from '../commands/tables/on-demand.ts';
import type { DelegateCommandPorts } from './delegate-commands.ts';

const COMMANDS = [
  'pilothouse.openDelegate',
  'pilothouse.messageDelegate',
  'pilothouse.stopDelegate',
  'pilothouse.openDelegateTranscript',
  'pilothouse.talkToDelegate',
  'pilothouse.talkToMain',
];

/** Registers the commands about delegates. */
export function registerDelegates(services: Services): Disposable {
  const commands = onDemand(COMMANDS, async () => {
    const { createDelegateCommands } = await import('../control/bundle.ts');
    return createDelegateCommands(portsOf(services));
  });
  return registerCommands(commands, services.log);
}

function portsOf({ hub, bridge, showSession }: Services): DelegateCommandPorts {
  return {
    targetOf,
    shown: () => bridge.sessionId,
    open: async (sessionId) => hub.open(sessionId),
    show: showSession,
    reveal: (id) => bridge.push({ type: 'reveal', id }),
    openTranscript: async (id, title) => {
      await vscode.commands.executeCommand('pilothouse.internal.transcript.show', { id, title });
    },
    focusComposer: () => bridge.compose({}, true),
  };
}
