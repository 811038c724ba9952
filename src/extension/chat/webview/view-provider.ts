import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { Emitter } from '../../../base/emitter.ts';
import type { ChatController } from '../controller.ts';
import { setFocused } from '../effects.ts';
import type { ChatBridge } from './bridge.ts';
import { pageHtml } from './page-html.ts';

/** The chat view's id in the manifest. */
export const CHAT_VIEW = 'pilothouse.chat';

/** Shows the chat webview and carries its messages. The webview may come and go at any time. */
export class ChatViewProvider implements vscode.WebviewViewProvider {
  readonly #media: vscode.Uri;
  readonly #bridge: ChatBridge;
  readonly #controller: ChatController;
  readonly #shown = new Emitter<true>();
  #view: vscode.WebviewView | null = null;

  /** Fires when the chat came to the screen or left it, or shows another session. */
  readonly onDidChangeShown = this.#shown.event;

  constructor(extensionUri: vscode.Uri, bridge: ChatBridge, controller: ChatController) {
    this.#media = vscode.Uri.joinPath(extensionUri, 'dist', 'media');
    this.#bridge = bridge;
    this.#controller = controller;
    bridge.onDidShow(() => this.#shown.fire(true));
  }

  /** True while a person can see the chat. */
  get isVisible(): boolean {
    return this.#view?.visible ?? false;
  }

  /** Brings the chat to the front. */
  async reveal(preserveFocus: boolean): Promise<void> {
    if (this.#view) this.#view.show(preserveFocus);
    else await vscode.commands.executeCommand(`${CHAT_VIEW}.focus`, { preserveFocus });
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    this.#view = view;
    const { webview } = view;
    webview.options = {
      enableScripts: true,
      enableForms: false,
      enableCommandUris: false,
      localResourceRoots: [this.#media],
    };
    webview.onDidReceiveMessage((message: unknown) => void this.#controller.receive(message));
    const post = (message: unknown): void => void webview.postMessage(message);
    this.#bridge.connect({ post });
    view.onDidChangeVisibility(() => {
      // A hidden webview is thrown away; what is sent to it would be lost.
      this.#bridge.connect(view.visible ? { post } : null);
      if (!view.visible) setFocused(false);
      this.#shown.fire(true);
    });
    view.onDidDispose(() => {
      this.#view = null;
      this.#bridge.connect(null);
      setFocused(false);
      this.#shown.fire(true);
    });
    webview.html = pageHtml(webview, this.#media, { name: 'chat', title: l10n.t('Chat') });
    this.#shown.fire(true);
  }
}
