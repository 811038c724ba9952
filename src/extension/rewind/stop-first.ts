import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { CodedError } from '../../base/errors.ts';
import type { RewindPorts } from './ports.ts';

/** History moves only between turns: offers Stop where one runs. False if the person gave up. */
export async function mayGoOn(ports: RewindPorts, sessionId: string): Promise<boolean> {
  const session = await ports.open(sessionId);
  if (!session.isRunning) return true;
  const stop = l10n.t('Stop and Go On');
  const picked = await vscode.window.showWarningMessage(
    l10n.t('A turn is running in this session.'),
    {
      modal: true,
      detail: l10n.t('The conversation can be moved only between turns. Stop the turn first?'),
    },
    stop,
  );
  if (picked !== stop) return false;
  if (await ports.stop(sessionId)) return true;
  throw new CodedError(
    'rewind.still_running',
    l10n.t('The turn has not ended yet. Wait until it has stopped, then try again.'),
  );
}
