import * as vscode from 'vscode';
import { type Disposable, DisposableStore, toDisposable } from '../../base/disposables.ts';
import { availability } from '../core/availability.ts';
import { type Hosts, isElsewhere } from '../hosts/hosts.ts';
import type { SessionHub } from '../sessions/session-hub.ts';
import { settings } from '../settings/settings.ts';
import type { Asides } from './asides.ts';
import { ChatController } from './controller.ts';
import { chatEffects } from './effects.ts';
import { Mentions } from './mentions/mentions.ts';
import { TEXT_SCHEME, TextDocuments } from './text-documents.ts';
import { type BridgePorts, ChatBridge } from './webview/bridge.ts';
import { CHAT_VIEW, ChatViewProvider } from './webview/view-provider.ts';

const SHOWN_KEY = 'chat.session';

/** The chat view and what is behind it. */
export type Chat = Disposable & { readonly bridge: ChatBridge; readonly chat: ChatViewProvider };

/** Builds the chat; the session that was open in this workspace is shown again when the view is. */
export function createChat(
  context: vscode.ExtensionContext,
  hub: SessionHub,
  hosts: Hosts,
  asides: Asides,
  log: vscode.LogOutputChannel,
): Chat {
  const store = new DisposableStore();
  const bridge = store.add(
    new ChatBridge({
      hub,
      hosts,
      availability,
      runningSend: settings.whileRunning,
      aside: asides.of,
      onDidChangeAside: asides.onDidChange,
      schedule: (run, delay) => {
        const timer = setTimeout(run, delay);
        return toDisposable(() => clearTimeout(timer));
      },
      strings: translatedStrings,
      log: (message) => log.warn(message),
      remember: (sessionId) => void context.workspaceState.update(SHOWN_KEY, sessionId),
    }),
  );
  if (settings.reopenSession()) bridge.restore(context.workspaceState.get<string>(SHOWN_KEY));
  const documents = new TextDocuments();
  const effects = chatEffects({
    mentions: new Mentions(),
    documents,
    elsewhere: (sessionId) => {
      const host = hosts.of(sessionId);
      return isElsewhere(host) ? (host.added?.name ?? '') : null;
    },
    startSession: async () => {
      const id = await vscode.commands.executeCommand<string | undefined>('pilothouse.newSession');
      return id === undefined ? null : hub.get(id);
    },
  });
  const controller = new ChatController(bridge, hub, effects);
  const chat = new ChatViewProvider(context.extensionUri, bridge, controller);
  store.add(vscode.workspace.registerTextDocumentContentProvider(TEXT_SCHEME, documents));
  store.add(vscode.window.registerWebviewViewProvider(CHAT_VIEW, chat));
  return { bridge, chat, dispose: () => store.dispose() };
}

/** The chat holds the English texts itself; others are loaded only where the editor speaks another language. */
async function translatedStrings(): ReturnType<BridgePorts['strings']> {
  if (!vscode.l10n.bundle) return {};
  const { chatStrings } = await import('../control/bundle.ts');
  return chatStrings();
}
