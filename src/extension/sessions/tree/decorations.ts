import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { DisposableStore } from '../../../base/disposables.ts';
import type { Hosts } from '../../hosts/hosts.ts';
import { SESSION_SCHEME, sessionUri } from './tree-items.ts';
import type { UnreadMarks } from './unread.ts';

/** Marks unread sessions with a dot, and greys those whose host is not reached; their place in the list stays. */
export class SessionDecorations implements vscode.FileDecorationProvider, vscode.Disposable {
  readonly #unread: UnreadMarks;
  readonly #changed = new vscode.EventEmitter<vscode.Uri | undefined>();
  readonly #hosts: Hosts;
  readonly #store = new DisposableStore();

  readonly onDidChangeFileDecorations = this.#changed.event;

  constructor(unread: UnreadMarks, hosts: Hosts) {
    this.#unread = unread;
    this.#hosts = hosts;
    this.#store.add(unread.onDidChange((id) => this.#changed.fire(sessionUri(id))));
    this.#store.add(
      hosts.onDidChange(({ host }) => {
        if (host.added) this.#changed.fire(undefined);
      }),
    );
  }

  provideFileDecoration(uri: vscode.Uri): vscode.FileDecoration | undefined {
    if (uri.scheme !== SESSION_SCHEME) return undefined;
    const sessionId = uri.path.slice(1);
    const { added, agent } = this.#hosts.of(sessionId);
    const isUnread = this.#unread.has(sessionId);
    const color = added && !agent.connection ? new vscode.ThemeColor('disabledForeground') : null;
    if (!isUnread) return color ? { color } : undefined;
    const mark = new vscode.FileDecoration('●', l10n.t('Unread'));
    return color ? { ...mark, color } : mark;
  }

  dispose(): void {
    this.#store.dispose();
    this.#changed.dispose();
  }
}
