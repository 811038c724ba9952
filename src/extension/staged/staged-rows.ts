import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import type { StagedChange } from '../../protocol/listed-shapes.ts';
import type { Hunk } from '../diffs/hunks/hunks.ts';
import { hunksIn, type StagedFile } from './staged-file.ts';

/** Rows of staged edits in the Changes view. */
export type StagedNode =
  | { readonly kind: 'stagedGroup'; readonly sessionId: string; readonly count: number }
  | { readonly kind: 'stagedFile'; readonly sessionId: string; readonly staged: StagedFile }
  | {
      readonly kind: 'stagedHunk';
      readonly sessionId: string;
      readonly staged: StagedFile;
      readonly hunk: Hunk;
    };

/** The rows below a row. */
export function stagedChildren(node: StagedNode, files: readonly StagedFile[]): StagedNode[] {
  const { sessionId } = node;
  switch (node.kind) {
    case 'stagedGroup':
      return files.map((staged) => ({ kind: 'stagedFile', sessionId, staged }));
    case 'stagedFile':
      return hunksIn(node.staged).map((hunk) => ({
        kind: 'stagedHunk',
        sessionId,
        staged: node.staged,
        hunk,
      }));
    case 'stagedHunk':
      return [];
  }
}

/** The row above a row, where there is one among these. */
export function stagedParent(node: StagedNode, count: number): StagedNode | undefined {
  const { sessionId } = node;
  switch (node.kind) {
    case 'stagedGroup':
      return undefined;
    case 'stagedFile':
      return { kind: 'stagedGroup', sessionId, count };
    case 'stagedHunk':
      return { kind: 'stagedFile', sessionId, staged: node.staged };
  }
}

/** What a row looks like. */
export function stagedRow(node: StagedNode): vscode.TreeItem {
  switch (node.kind) {
    case 'stagedGroup':
      return groupRow(node);
    case 'stagedFile':
      return fileRow(node);
    case 'stagedHunk':
      return hunkRow(node);
  }
}

type Of<K extends StagedNode['kind']> = Extract<StagedNode, { kind: K }>;

function groupRow({ sessionId, count }: Of<'stagedGroup'>): vscode.TreeItem {
  const row = new vscode.TreeItem(
    l10n.t('Staged: Not Written Yet'),
    vscode.TreeItemCollapsibleState.Expanded,
  );
  row.id = `${sessionId} staged`;
  row.description = String(count);
  row.contextValue = 'stagedGroup';
  row.tooltip = l10n.t('These edits wait for your review. Keep writes them, Discard forgets them.');
  return row;
}

function fileRow(node: Of<'stagedFile'>): vscode.TreeItem {
  const { change } = node.staged;
  const row = new vscode.TreeItem(
    vscode.Uri.file(change.path),
    hunksIn(node.staged).length > 1
      ? vscode.TreeItemCollapsibleState.Collapsed
      : vscode.TreeItemCollapsibleState.None,
  );
  row.id = `${node.sessionId} staged ${change.path}`;
  row.iconPath = change.changedSince ? new vscode.ThemeIcon('warning') : vscode.ThemeIcon.File;
  row.description = [
    STATES[change.state](),
    `+${change.addedLines} −${change.removedLines}`,
    change.changedSince ? l10n.t('changed on disk since') : '',
  ]
    .filter((part) => part !== '')
    .join(' · ');
  row.tooltip = change.changedSince
    ? l10n.t(
        '{0}\nThe file was changed on disk since it was staged, so it can’t be written. Nothing is lost: compare, and make the edit by hand or discard it.',
        change.path,
      )
    : change.path;
  row.contextValue = 'stagedFile';
  row.command = openCommand(node);
  return row;
}

const STATES: Readonly<Record<StagedChange['state'], () => string>> = {
  added: () => l10n.t('new'),
  modified: () => '',
  deleted: () => l10n.t('deleted'),
};

function hunkRow(node: Of<'stagedHunk'>): vscode.TreeItem {
  const { hunk, staged, sessionId } = node;
  const text = [...hunk.after, ...hunk.before].find((line) => line.trim() !== '')?.trim() ?? '';
  const row = new vscode.TreeItem(l10n.t('Line {0}', hunk.afterStart + 1));
  row.id = `${sessionId} staged ${staged.change.path} ${hunk.id}`;
  row.description = `+${hunk.after.length} −${hunk.before.length} · ${text.slice(0, 80)}`;
  row.iconPath = new vscode.ThemeIcon('diff-modified');
  row.contextValue = 'stagedHunk';
  row.command = openCommand(node);
  return row;
}

function openCommand(node: StagedNode): vscode.Command {
  return {
    command: 'pilothouse.openStagedChange',
    title: l10n.t('Open Staged Edits'),
    arguments: [node],
  };
}
