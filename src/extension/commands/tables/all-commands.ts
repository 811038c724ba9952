import type { Disposable } from '../../../base/disposables.ts';
import { registerCommands } from '../register.ts';
import type { Services } from '../services.ts';
import { agentCommands } from './agent-commands.ts';
import { chatCommands } from './chat-commands.ts';
import { controlCommands } from './control-commands.ts';
import { keyCommands } from './key-commands.ts';
import { messageCommands } from './message-commands.ts';
import { optionCommands } from './option-commands.ts';
import { sessionCommands } from './session-commands.ts';
import { waitingCommands } from './waiting-commands.ts';

/** Registers every command of these rooms. */
export function registerAllCommands(services: Services): Disposable {
  return registerCommands(
    {
      ...sessionCommands(services),
      ...controlCommands(services),
      ...messageCommands(services),
      ...waitingCommands(services),
      ...optionCommands(services),
      ...keyCommands(services),
      ...agentCommands(services),
      ...chatCommands(services),
    },
    services.log,
  );
}
