import { isElsewhere } from '../hosts/hosts.ts';
import { askFolder } from './picks/ask-folder.ts';
import { pickFolder } from './picks/pick-folder.ts';
import type { Services } from './services.ts';

/** Completes the parts with the two deeds that most commands share. */
export function createServices(parts: Omit<Services, 'startSession' | 'showSession'>): Services {
  const { hub, hosts, bridge, chat, log } = parts;
  const show = async (
    sessionId: string,
    preserveFocus: boolean,
    onRevealed?: () => void,
  ): Promise<void> => {
    const shown = bridge.show(sessionId);
    await chat.reveal(preserveFocus).catch((error: unknown) => log.warn(String(error)));
    onRevealed?.();
    await shown;
  };
  const showSession: Services['showSession'] = (sessionId, preserveFocus = false) =>
    show(sessionId, preserveFocus);
  return {
    ...parts,
    showSession,
    startSession: async (host = hosts.own) => {
      const folder = isElsewhere(host) ? await askFolder(host, hub) : await pickFolder();
      if (!folder) return null;
      const session = await hub.create(folder.path, [], host);
      await show(session.sessionId, false, () => bridge.compose({}, true));
      return session;
    },
  };
}
