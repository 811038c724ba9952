import * as l10n from '@vscode/l10n';
import type { LiveSession } from '../../sessions/live-session.ts';
import { sessionName } from '../../sessions/tree/tree-model.ts';
import type { Services } from '../services.ts';
import { targetOf } from './arguments.ts';
import { pickSession, targetSession } from './pick-session.ts';

/** True if a session has a turn under way. */
export function isBusy(state: string): boolean {
  return state === 'running' || state === 'waiting' || state === 'stopping';
}

/**
 * The session that a message for a running turn is meant for: the one named, the one in the chat if it runs, else the
 * one that runs; several are asked about. With none running, the one in the chat or a picked one. Null: given up.
 */
export async function sessionToSteer(
  services: Services,
  argument: unknown,
): Promise<LiveSession | null> {
  const sessionId = targetOf(argument).sessionId ?? (await chosen(services));
  return sessionId === undefined ? null : services.hub.open(sessionId);
}

async function chosen(services: Services): Promise<string | undefined> {
  const busy = services.tree.views().filter(({ state }) => isBusy(state));
  const shown = services.bridge.sessionId;
  const [first] = busy;
  if (!first) return targetSession(services, undefined);
  const isShownBusy = busy.some(({ row }) => row.sessionId === shown);
  if (isShownBusy && shown !== null) return shown;
  if (busy.length === 1) return first.row.sessionId;
  return pickSession(services, ({ state }) => isBusy(state), l10n.t('Which session is this for?'));
}

/** What a session is called. */
export function nameOfSession({ hub }: Services, sessionId: string): string {
  const live = hub.get(sessionId)?.facts.title;
  return sessionName(live || (hub.directory.get(sessionId)?.title ?? ''));
}
