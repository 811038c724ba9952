import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { type Disposable, DisposableStore } from '../../base/disposables.ts';
import { messageOf } from '../../base/errors.ts';
import type { StagedFiles } from '../staged/staged-files.ts';
import { type StagedNode, stagedChildren, stagedParent, stagedRow } from '../staged/staged-rows.ts';
import type { Hunk } from './hunks/hunks.ts';
import type { DiffPorts } from './ports.ts';
import type { ReviewFile, ReviewItem } from './review/review-file.ts';
import type { SessionReview } from './review/session-review.ts';
import type { Reviews } from './reviews.ts';

/** A row: a changed file, or one change in it. */
export type ChangeNode =
  | { readonly kind: 'file'; readonly sessionId: string; readonly file: ReviewFile }
  | {
      readonly kind: 'change';
      readonly sessionId: string;
      readonly file: ReviewFile;
      readonly item: ReviewItem;
      readonly hunk: Hunk;
    }
  | StagedNode;

const VIEW = 'pilothouse.changes';

/** The tree of what is still to be reviewed of one session: files, and the changes in each. */
export class ChangesTree implements vscode.TreeDataProvider<ChangeNode>, Disposable {
  readonly #ports: DiffPorts;
  readonly #reviews: Reviews;
  readonly #staged: StagedFiles;
  readonly #changed = new vscode.EventEmitter<void>();
  readonly #store = new DisposableStore();
  readonly #view: vscode.TreeView<ChangeNode>;
  /** A session whose changes were asked for stays until the chat shows another. */
  #chosen: string | null = null;

  readonly onDidChangeTreeData = this.#changed.event;

  constructor(ports: DiffPorts, reviews: Reviews, staged: StagedFiles) {
    this.#ports = ports;
    this.#reviews = reviews;
    this.#staged = staged;
    this.#store.add(this.#changed);
    this.#view = this.#store.add(
      vscode.window.createTreeView(VIEW, { treeDataProvider: this, showCollapseAll: true }),
    );
    this.#store.add(this.#view.onDidChangeVisibility(({ visible }) => visible && this.#load()));
    this.#store.add(reviews.onDidChange(() => this.#show()));
    this.#store.add(staged.onDidChange(() => this.#show()));
    this.#store.add(ports.onDidChangeNames(() => this.#describe()));
    this.#store.add(
      ports.onDidShowSession(() => {
        this.#chosen = null;
        this.#load();
      }),
    );
    this.#show();
  }

  /** The session whose changes are shown. */
  get sessionId(): string | null {
    return this.#chosen ?? this.#ports.shownSession();
  }

  /** Shows another session's changes. */
  choose(sessionId: string): void {
    this.#chosen = sessionId;
    this.#show();
  }

  /**
   * Unfolds the staged edits of a session with their buttons; the focus stays where it is. What was decided meanwhile
   * has no row any more, and nobody misses it.
   */
  async revealStaged(sessionId: string): Promise<void> {
    this.choose(sessionId);
    const count = this.#staged.of(sessionId).length;
    if (count === 0) return;
    const options = { expand: 2, focus: false, select: false };
    try {
      await this.#view.reveal({ kind: 'stagedGroup', sessionId, count }, options);
    } catch (error) {
      this.#ports.log(`the staged edits could not be unfolded: ${messageOf(error)}`);
    }
  }

  #review(): SessionReview | null {
    return this.sessionId === null ? null : this.#reviews.of(this.sessionId);
  }

  #load(): void {
    const review = this.#review();
    this.#show();
    if (!review) return;
    review.refresh().catch((error: unknown) => {
      this.#ports.log(`the changes could not be read: ${messageOf(error)}`);
    });
  }

  #show(): void {
    this.#describe();
    this.#changed.fire();
  }

  #describe(): void {
    const review = this.#review();
    const pending = review?.pendingFiles ?? [];
    const staged = this.sessionId === null ? [] : this.#staged.of(this.sessionId);
    const left = pending.reduce((sum, file) => sum + file.pending.length, staged.length);
    // No badge: the container's says how many sessions need the person.
    this.#view.description =
      this.sessionId === null
        ? ''
        : [this.#ports.sessionName(this.sessionId), ...(left > 0 ? [String(left)] : [])].join(
            ' · ',
          );
    this.#view.message =
      staged.length > 0
        ? l10n.t('Staged edits are not written yet. Keep or discard each one here.')
        : review?.isLoaded && pending.length === 0
          ? this.sessionId !== null && this.#ports.isElsewhere(this.sessionId)
            ? l10n.t(
                'The files are on another machine. Show Changes compares them as the session wrote them.',
              )
            : review.files.length === 0
              ? l10n.t('This session has changed no files.')
              : l10n.t('All changes of this session are reviewed.')
          : '';
  }

  getTreeItem(node: ChangeNode): vscode.TreeItem {
    switch (node.kind) {
      case 'file':
        return fileRow(node);
      case 'change':
        return changeRow(node);
      default:
        return stagedRow(node);
    }
  }

  getChildren(node?: ChangeNode): ChangeNode[] {
    const { sessionId } = this;
    if (sessionId === null || node?.kind === 'change') return [];
    if (!node) return this.#roots(sessionId);
    if (node.kind !== 'file') return stagedChildren(node, this.#staged.of(node.sessionId));
    const { file } = node;
    return file.pending.flatMap((item) =>
      item.hunk === null ? [] : [{ kind: 'change', sessionId, file, item, hunk: item.hunk }],
    );
  }

  /** What waits for a decision before it is written comes first. */
  #roots(sessionId: string): ChangeNode[] {
    const count = this.#staged.of(sessionId).length;
    const pending = this.#review()?.pendingFiles ?? [];
    return [
      ...(count > 0 ? [{ kind: 'stagedGroup' as const, sessionId, count }] : []),
      ...pending.map((file) => ({ kind: 'file' as const, sessionId, file })),
    ];
  }

  getParent(node: ChangeNode): ChangeNode | undefined {
    switch (node.kind) {
      case 'file':
        return undefined;
      case 'change':
        return { kind: 'file', sessionId: node.sessionId, file: node.file };
      default:
        return stagedParent(node, this.#staged.of(node.sessionId).length);
    }
  }

  dispose(): void {
    this.#store.dispose();
  }
}

function fileRow(node: Extract<ChangeNode, { kind: 'file' }>): vscode.TreeItem {
  const { file } = node;
  const uri = vscode.Uri.file(file.path);
  const hasHunks = file.pending.some(({ hunk }) => hunk !== null);
  const row = new vscode.TreeItem(
    uri,
    hasHunks ? vscode.TreeItemCollapsibleState.Collapsed : vscode.TreeItemCollapsibleState.None,
  );
  row.id = `${node.sessionId} ${file.path}`;
  row.iconPath = vscode.ThemeIcon.File;
  row.description = [STATES[file.state](), folderOf(uri)].filter((part) => part !== '').join(' · ');
  row.contextValue = 'changedFile';
  row.tooltip = file.path;
  row.command = openCommand(node);
  row.accessibilityInformation = {
    label: `${file.path}, ${STATES[file.state]()}, ${countText(file.pending.length)}`,
  };
  return row;
}

/** The file's folder within the workspace; empty for the workspace's own. */
function folderOf(uri: vscode.Uri): string {
  const folder = vscode.Uri.joinPath(uri, '..');
  const isRoot = vscode.workspace.getWorkspaceFolder(uri)?.uri.toString() === folder.toString();
  return isRoot ? '' : vscode.workspace.asRelativePath(folder);
}

const STATES: Readonly<Record<ReviewFile['state'], () => string>> = {
  added: () => l10n.t('new'),
  modified: () => '',
  deleted: () => l10n.t('deleted'),
};

function changeRow(node: Extract<ChangeNode, { kind: 'change' }>): vscode.TreeItem {
  const { item, file, hunk } = node;
  const { place } = item;
  const line = place.state === 'changed' ? hunk.afterStart : place.line;
  const added = hunk.after.length;
  const removed = hunk.before.length;
  const text = firstText(hunk.after) || firstText(hunk.before);
  const row = new vscode.TreeItem(l10n.t('Line {0}', line + 1));
  row.id = `${node.sessionId} ${file.path} ${item.id}`;
  row.description = `+${added} −${removed} · ${text.slice(0, 80)}`;
  row.contextValue = place.state === 'changed' ? 'changedLinesEdited' : 'changedLines';
  row.iconPath = new vscode.ThemeIcon(place.state === 'changed' ? 'edit' : 'diff-modified');
  row.tooltip =
    place.state === 'changed'
      ? l10n.t('Edited since the session wrote it: undo it by hand.')
      : added === 1
        ? l10n.t('1 line added, {0} removed', removed)
        : l10n.t('{0} lines added, {1} removed', added, removed);
  row.command = openCommand(node);
  return row;
}

function openCommand(node: ChangeNode): vscode.Command {
  return { command: 'pilothouse.openChange', title: l10n.t('Open Changes'), arguments: [node] };
}

function firstText(lines: readonly string[]): string {
  return lines.find((line) => line.trim() !== '')?.trim() ?? '';
}

function countText(count: number): string {
  return count === 1 ? l10n.t('one change') : l10n.t('{0} changes', count);
}
