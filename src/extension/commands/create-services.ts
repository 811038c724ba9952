import { pickFolder } from './pick-folder.ts';
import type { Services } from './services.ts';

/** Completes the parts with the two deeds that most commands share. */
export function createServices(parts: Omit<Services, 'startSession' | 'showSession'>): Services {
  const { hub, bridge, chat, log } = parts;
  const showSession: Services['showSession'] = async (sessionId, preserveFocus = false) => {
    const shown = bridge.show(sessionId);
    await chat.reveal(preserveFocus).catch((error: unknown) => log.warn(String(error)));
    await shown;
  };
  return {
    ...parts,
    showSession,
    startSession: async () => {
      const folder = await pickFolder();
      if (!folder) return null;
      const session = await hub.create(folder.path);
      await showSession(session.sessionId);
      return session;
    },
  };
}
