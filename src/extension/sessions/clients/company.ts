import * as l10n from '@vscode/l10n';
import type { ChatCompany } from '../../../protocol/chat-company.ts';
import type { SessionClient } from '../../../protocol/session-clients.ts';
import { type SessionClients, WINDOW_CLIENT } from './session-clients.ts';

/** Who else follows a session and whether this window only reads it, in words; null where it is alone and in control. */
export function companyOf({
  role,
  others,
}: Pick<SessionClients, 'role' | 'others'>): ChatCompany | null {
  const reading = role === 'observer';
  if (others.length === 0 && !reading) return null;
  const controller = others.find(({ acting }) => acting);
  return {
    others: othersWords(others),
    ...(reading ? { reading: readingWords(controller) } : {}),
  };
}

function othersWords(others: readonly SessionClient[]): string {
  const programs = others.filter(({ clientId }) => clientId !== WINDOW_CLIENT);
  const windows = others.length - programs.length;
  const names = [...new Set(programs.map(({ title, clientId }) => title ?? clientId))];
  const parts = [
    ...(windows === 1 ? [l10n.t('Also open in 1 other window')] : []),
    ...(windows > 1 ? [l10n.t('Also open in {0} other windows', windows)] : []),
    ...(names.length > 0 ? [l10n.t('Also used by {0}', names.join(', '))] : []),
  ];
  return parts.join(' · ');
}

function readingWords(controller: SessionClient | undefined): string {
  if (!controller) return l10n.t('Reading only: nobody has control.');
  if (controller.clientId === WINDOW_CLIENT)
    return l10n.t('Reading only: another window has control.');
  return l10n.t('Reading only: {0} has control.', controller.title ?? controller.clientId);
}
