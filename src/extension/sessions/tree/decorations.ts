import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { SESSION_SCHEME, sessionUri } from './tree-items.ts';
import type { UnreadMarks } from './unread.ts';

/** Marks unread sessions with a dot; their place in the list stays. */
export class SessionDecorations implements vscode.FileDecorationProvider, vscode.Disposable {
  readonly #unread: UnreadMarks;
  readonly #changed = new vscode.EventEmitter<vscode.Uri>();
  readonly #subscription: { dispose(): void };

  readonly onDidChangeFileDecorations = this.#changed.event;

  constructor(unread: UnreadMarks) {
    this.#unread = unread;
    this.#subscription = unread.onDidChange((id) => this.#changed.fire(sessionUri(id)));
  }

  provideFileDecoration(uri: vscode.Uri): vscode.FileDecoration | undefined {
    if (uri.scheme !== SESSION_SCHEME || !this.#unread.has(uri.path.slice(1))) return undefined;
    return new vscode.FileDecoration('●', l10n.t('Unread'));
  }

  dispose(): void {
    this.#subscription.dispose();
    this.#changed.dispose();
  }
}
