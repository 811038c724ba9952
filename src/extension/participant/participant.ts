import * as vscode from 'vscode';
import { type Disposable, DisposableStore } from '../../base/disposables.ts';
import type { Services } from '../commands/services.ts';
import { PARTICIPANT } from './participant-id.ts';
import { registerStandInModel } from './stand-in-model.ts';

/** Registers `@pilothouse` in the editor's own chat. What answers is loaded with the first request. */
export function registerParticipant(services: Services, icon: vscode.Uri): Disposable {
  const store = new DisposableStore();
  store.add(registerStandInModel((message) => services.log.warn(message)));
  let handler: Promise<vscode.ChatRequestHandler> | null = null;
  const load = async (): Promise<vscode.ChatRequestHandler> => {
    const { createParticipantHandler } = await import('../control/bundle.ts');
    return createParticipantHandler(services);
  };
  const participant = vscode.chat.createChatParticipant(
    PARTICIPANT,
    async (request, context, stream, token) => {
      handler ??= load();
      return (await handler)(request, context, stream, token);
    },
  );
  participant.iconPath = icon;
  store.add(participant);
  return store;
}
