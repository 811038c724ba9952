import * as vscode from 'vscode';
import { type Disposable, DisposableStore } from '../../base/disposables.ts';
import { parseStagedUri } from './staged-documents.ts';
import type { StagedFiles } from './staged-files.ts';

/** The scheme by which the editor names a diff of several files. */
export const MULTI_DIFF_SCHEME = 'multi-diff-editor';
/** True while a review of several staged files is in front, for the `when` of its title's buttons. */
const CONTEXT_KEY = 'pilothouse.reviewsStaged';

/** The editors that show staged edits: knows whose they are, and closes them when there is nothing left to decide. */
export class StagedReviews implements Disposable {
  readonly #files: StagedFiles;
  readonly #store = new DisposableStore();
  /** Sessions by the title of their review: the editor tells no more of a diff of several files. */
  readonly #titles = new Map<string, string>();

  constructor(files: StagedFiles) {
    this.#files = files;
    const { tabGroups } = vscode.window;
    this.#store.add(tabGroups.onDidChangeTabs(() => this.#tellShown()));
    this.#store.add(tabGroups.onDidChangeTabGroups(() => this.#tellShown()));
    this.#store.add(files.onDidChange((sessionId) => void this.#closeDecided(sessionId)));
  }

  /** A title for a session's review; one that another session has is made its own. */
  titleFor(sessionId: string, title: string): string {
    const owner = this.#titles.get(title);
    const own =
      owner === undefined || owner === sessionId ? title : `${title} · ${sessionId.slice(0, 8)}`;
    this.#titles.set(own, sessionId);
    return own;
  }

  /** The session whose review of several files is in front; null if none is. */
  shown(): string | null {
    const tab = vscode.window.tabGroups.activeTabGroup.activeTab;
    return tab ? this.#sessionOf(tab) : null;
  }

  /** The editor writes the number of files behind a title. */
  #sessionOf({ label, input }: vscode.Tab): string | null {
    if (input instanceof vscode.TabInputTextDiff || input instanceof vscode.TabInputText)
      return null;
    const [longest] = [...this.#titles.keys()]
      .filter((title) => label === title || label.startsWith(`${title} (`))
      .sort((a, b) => b.length - a.length);
    return longest === undefined ? null : (this.#titles.get(longest) ?? null);
  }

  #tellShown(): void {
    void vscode.commands.executeCommand('setContext', CONTEXT_KEY, this.shown() !== null);
  }

  async #closeDecided(sessionId: string): Promise<void> {
    const waiting = new Set(this.#files.of(sessionId).map(({ change }) => change.path));
    const decided = vscode.window.tabGroups.all
      .flatMap(({ tabs }) => tabs)
      .filter((tab) => {
        if (tab.input instanceof vscode.TabInputTextDiff) {
          const place = parseStagedUri(tab.input.modified);
          return place?.sessionId === sessionId && !waiting.has(place.path);
        }
        return waiting.size === 0 && this.#sessionOf(tab) === sessionId;
      });
    if (decided.length > 0) await vscode.window.tabGroups.close(decided, true);
  }

  dispose(): void {
    this.#store.dispose();
  }
}
