import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { shortened } from './plan-words.ts';
import type { RewindPorts } from './ports.ts';
import { mayGoOn } from './stop-first.ts';

/** A message of the person's that a conversation is cut before. */
export type CutMessage = { readonly messageId: string; readonly text: string };

/**
 * Makes a session of its own from what was said before a message (all of it without one) and shows it, with the
 * message's text to be sent anew. The files are the same: both sessions work in one folder.
 */
export async function fork(
  ports: RewindPorts,
  sessionId: string,
  cut: CutMessage | null,
): Promise<string> {
  const where = cut === null ? {} : { beforeMessageId: cut.messageId };
  const child = await ports.request('session/fork', { sessionId, ...where });
  await ports.show(child.sessionId);
  if (cut !== null) ports.compose(child.sessionId, cut.text);
  void vscode.window.showInformationMessage(
    l10n.t(
      'This is a fork: a session of its own. The files on disk stay as they are; both sessions work in them.',
    ),
  );
  return child.sessionId;
}

/** Takes a message and all that followed out of the conversation; files stay. False if the person gave up. */
export async function truncate(
  ports: RewindPorts,
  sessionId: string,
  cut: CutMessage,
): Promise<boolean> {
  if (!(await mayGoOn(ports, sessionId))) return false;
  const remove = l10n.t('Remove');
  const picked = await vscode.window.showWarningMessage(
    l10n.t('Remove “{0}” and all that followed from the conversation?', shortened(cut.text)),
    {
      modal: true,
      detail: l10n.t(
        'Conversation: the agent does not read it any more. Its text goes into the composer.\n\nFiles: stay as they are. To put them back too, choose Roll Back.\n\nThis can’t be redone, but the session’s full history keeps what was said.',
      ),
    },
    remove,
  );
  if (picked !== remove) return false;
  const laidAnew = ports.laidAnew(sessionId);
  await ports.request('session/truncate', { sessionId, beforeMessageId: cut.messageId });
  await laidAnew;
  ports.compose(sessionId, cut.text);
  return true;
}
