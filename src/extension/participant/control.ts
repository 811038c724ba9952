import * as l10n from '@vscode/l10n';
import type * as vscode from 'vscode';
import { pickSession } from '../commands/picks/pick-session.ts';
import { isBusy } from '../commands/picks/running-session.ts';
import type { Services } from '../commands/services.ts';
import { aimOf } from './aim.ts';
import { sendControl, stopWithReceipt } from './control-commands.ts';
import { openButton, sessionLine } from './session-answers.ts';

type Call = {
  readonly request: vscode.ChatRequest;
  readonly stream: vscode.ChatResponseStream;
};

/**
 * A control of this chat's session, or of the one that runs while that does not; several are asked about. The answer
 * names the session. The result carries the session for a chat that has none of its own.
 */
export async function control(
  services: Services,
  { request, stream }: Call,
  own: string | null,
  what: 'stop' | 'steer' | 'interrupt' | 'note' | 'next',
): Promise<vscode.ChatResult> {
  if (what !== 'stop' && request.prompt.trim() === '') {
    stream.markdown(l10n.t('Write what the agent should read behind the command.'));
    return {};
  }
  const { hub, tree } = services;
  if (!hub.directory.hasLoaded) await hub.directory.refresh();
  const running = (): string[] =>
    tree
      .views()
      .filter(({ state }) => isBusy(state))
      .map(({ row }) => row.sessionId);
  const aim = aimOf(own, running());
  if (aim.kind === 'none') {
    stream.markdown(
      what === 'stop'
        ? l10n.t('Nothing was running.')
        : l10n.t('This chat has no session yet, and none runs that this could be for.'),
    );
    return {};
  }
  const placeHolder = l10n.t('Several sessions run. Which one is this for?');
  const sessionId =
    aim.kind === 'session'
      ? aim.sessionId
      : await pickSession(services, ({ state }) => isBusy(state), placeHolder);
  if (sessionId === undefined) {
    stream.markdown(l10n.t('Several sessions run and none was chosen, so nothing was done.'));
    for (const id of running()) openButton(services, stream, id);
    return {};
  }
  sessionLine(services, stream, sessionId);
  if (aim.kind === 'session' && aim.instead)
    stream.markdown(
      `${l10n.t('This chat’s own session is not running, so this went to the one that is.')}\n\n`,
    );
  if (what === 'stop') await stopWithReceipt(services, sessionId, stream);
  else await sendControl(await hub.open(sessionId), request, stream, what);
  openButton(services, stream, sessionId);
  return { metadata: { sessionId } };
}
