import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { type Disposable, DisposableStore } from '../../base/disposables.ts';
import { isObject } from '../../base/json.ts';
import type { ChatSendMode } from '../../protocol/chat.ts';
import { sessionToSteer } from '../commands/picks/running-session.ts';
import { registerCommands } from '../commands/register.ts';
import type { Services } from '../commands/services.ts';
import { steerPlace } from './steer-place.ts';
import { SteerThreads } from './steer-threads.ts';

/** Registers "Steer Here": an inline input beside lines of a file or a diff. */
export function registerSteering(services: Services): Disposable {
  const store = new DisposableStore();
  const threads = store.add(new SteerThreads(services));
  const submit =
    (mode: ChatSendMode) =>
    async (argument?: unknown): Promise<void> => {
      if (isReply(argument)) await threads.submit(argument, mode);
    };
  store.add(
    registerCommands(
      {
        'pilothouse.steerHere': async (argument) => {
          const place = await steerPlace(argument);
          if (!place) {
            void vscode.window.showInformationMessage(
              l10n.t('Open a file and select the lines to steer about.'),
            );
            return;
          }
          const named = place.sessionId === null ? undefined : { sessionId: place.sessionId };
          const session = await sessionToSteer(services, named);
          if (session) await threads.show(place, session);
        },
        'pilothouse.submitSteer': submit('steer'),
        'pilothouse.submitInterrupt': submit('interrupt'),
        'pilothouse.submitQueue': submit('next'),
        'pilothouse.submitPrompt': submit('prompt'),
      },
      services.log,
    ),
  );
  return store;
}

function isReply(value: unknown): value is vscode.CommentReply {
  return isObject(value) && typeof value['text'] === 'string' && isThread(value['thread']);
}

function isThread(value: unknown): value is vscode.CommentThread {
  return isObject(value) && 'collapsibleState' in value && 'comments' in value;
}
