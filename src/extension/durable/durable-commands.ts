import type { CommandTable } from '../commands/services.ts';
import { compactConversation } from './compact.ts';
import { continueTurn } from './continue-turn.ts';
import { openDataFolder } from './data-folder.ts';
import { keepFiles } from './keep-files.ts';
import type { DurablePorts } from './ports.ts';
import { searchSessions } from './search-sessions.ts';
import { exportSession, importSession } from './transfer.ts';

/** Commands about what is kept: going on after a break, condensing, finding, taking out and in, the store. */
export function durableCommands(ports: DurablePorts): CommandTable {
  const about =
    (run: (sessionId: string) => Promise<unknown>) =>
    async (argument?: unknown): Promise<unknown> => {
      const sessionId = await ports.choose(argument);
      return sessionId === undefined ? undefined : run(sessionId);
    };
  return {
    'pilothouse.continueTurn': async (argument) => {
      const sessionId = await ports.chooseInterrupted(argument);
      if (sessionId !== undefined) await continueTurn(await ports.open(sessionId));
    },
    'pilothouse.compact': about(async (sessionId) =>
      compactConversation(await ports.open(sessionId), ports.nameOf(sessionId)),
    ),
    'pilothouse.reopenSession': about((sessionId) => ports.reopen(sessionId)),
    'pilothouse.openDataFolder': async () => {
      const { dataFolder } = await ports.request('_pilothouse/store/status', {});
      await openDataFolder(dataFolder);
    },
    'pilothouse.keepFiles': about((sessionId) => keepFiles(ports, sessionId)),
    'pilothouse.exportMarkdown': about((id) => exportSession(ports, id, 'markdown')),
    'pilothouse.exportJson': about((id) => exportSession(ports, id, 'json')),
    'pilothouse.importSession': async () => importSession(ports),
    'pilothouse.searchSessions': async () => searchSessions(ports),
  };
}
