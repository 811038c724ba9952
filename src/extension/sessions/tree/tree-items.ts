import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { type Gate, gateTitle } from '../../approvals/gate.ts';
import { OWN_HOST } from '../../hosts/host.ts';
import { type SessionState, type SessionView, sessionContext } from '../session-view.ts';
import { delegateItem } from './delegate-items.ts';
import type { Folds } from './folds.ts';
import { hostItem, noteItem } from './host-items.ts';
import { relativeTime } from './relative-time.ts';
import { baseName, childNodes, foldKey, sessionName, type TreeNode } from './tree-model.ts';

/** The scheme of the URIs that sessions carry for decorations. */
export const SESSION_SCHEME = 'pilothouse-session';

/** The URI that stands for a session. */
export function sessionUri(sessionId: string): vscode.Uri {
  return vscode.Uri.from({ scheme: SESSION_SCHEME, path: `/${sessionId}` });
}

/** The tree item of a node. */
export function treeItem(
  node: TreeNode,
  now: number,
  folds: Pick<Folds, 'isFolded'>,
): vscode.TreeItem {
  const isFolded = folds.isFolded(foldKey(node));
  switch (node.kind) {
    case 'group':
      return groupItem(node.id, node.label, node.sessions.length);
    case 'session':
      return sessionItem(node.view, now, isFolded);
    case 'gate':
      return gateItem(node.gate);
    case 'delegate':
      return delegateItem(node.delegate, { hasOwn: childNodes(node).length > 0, isFolded });
    case 'more':
      return moreItem(node.hostId);
    case 'host':
      return hostItem(node.host, now);
    case 'note':
      return noteItem(node.host, node.note);
  }
}

function groupItem(id: string, label: string, count: number): vscode.TreeItem {
  const item = new vscode.TreeItem(label, vscode.TreeItemCollapsibleState.Expanded);
  item.id = `group:${id}`;
  item.description = String(count);
  item.contextValue = 'group';
  if (/^(?:[^:]+\/)?folder:/.test(id)) {
    item.label = baseName(label);
    item.tooltip = label;
    item.iconPath = vscode.ThemeIcon.Folder;
  }
  return item;
}

function sessionItem(view: SessionView, now: number, isFolded: boolean): vscode.TreeItem {
  const { row, state, gates, unread, delegates = [] } = view;
  const name = sessionName(row.title);
  const { None, Collapsed, Expanded } = vscode.TreeItemCollapsibleState;
  const withDelegates = isFolded ? Collapsed : Expanded;
  const item = new vscode.TreeItem(
    name,
    gates.length > 0 ? Expanded : delegates.length > 0 ? withDelegates : None,
  );
  const time = relativeTime(row.updatedAt, now);
  // The editor keeps whether an id is folded: with questions below, it is another item and opens unfolded.
  const below = gates.length > 0 ? ':asking' : delegates.length > 0 ? ':delegates' : '';
  item.id = `session:${row.sessionId}${below}`;
  // What is wrong is read where everybody looks, not only in a tooltip.
  const trouble = TROUBLED.has(state) ? `${stateWord(state)} · ` : '';
  item.description = `${trouble}${baseName(row.cwd)} · ${time}`;
  item.resourceUri = sessionUri(row.sessionId);
  item.iconPath = icon(state);
  item.tooltip = tooltip(view);
  item.contextValue = sessionContext(view);
  item.command = {
    command: 'pilothouse.openSession',
    title: l10n.t('Open Session'),
    arguments: [{ sessionId: row.sessionId }],
  };
  const parts = [name, stateWord(state), unread ? l10n.t('unread') : '', baseName(row.cwd), time];
  item.accessibilityInformation = { label: parts.filter((part) => part !== '').join(', ') };
  return item;
}

/** States that the row says in words. */
const TROUBLED: ReadonlySet<SessionState> = new Set(['faulted', 'interrupted', 'offline']);

function gateItem(gate: Gate): vscode.TreeItem {
  const title = gateTitle(gate);
  const item = new vscode.TreeItem(title, vscode.TreeItemCollapsibleState.None);
  item.id = `gate:${gate.gateId}`;
  item.iconPath = new vscode.ThemeIcon(GATE_ICONS[gate.question.kind]);
  item.contextValue = `gate.${gate.question.kind}`;
  item.tooltip =
    gate.question.kind === 'permission' ? [title, ...gate.question.details].join('\n') : title;
  item.command = {
    command: 'pilothouse.approve',
    title: l10n.t('Answer'),
    arguments: [{ gateId: gate.gateId, ask: true }],
  };
  item.accessibilityInformation = { label: l10n.t('Waits for your answer: {0}', title) };
  return item;
}

const GATE_ICONS = { permission: 'shield', ask: 'question', auth: 'key' } as const;

function moreItem(hostId: string): vscode.TreeItem {
  const item = new vscode.TreeItem(l10n.t('Load More…'), vscode.TreeItemCollapsibleState.None);
  item.id = hostId === OWN_HOST ? 'more' : `more:${hostId}`;
  item.contextValue = 'more';
  item.command = {
    command: 'pilothouse.loadMoreSessions',
    title: l10n.t('Load More…'),
    arguments: [{ hostId }],
  };
  return item;
}

function icon(state: SessionState): vscode.ThemeIcon {
  switch (state) {
    case 'waiting':
      return new vscode.ThemeIcon('bell-dot', new vscode.ThemeColor('list.warningForeground'));
    case 'running':
      return new vscode.ThemeIcon('sync~spin');
    case 'stopping':
      return new vscode.ThemeIcon('loading~spin');
    case 'failed':
    case 'faulted':
      return new vscode.ThemeIcon('error', new vscode.ThemeColor('list.errorForeground'));
    case 'interrupted':
      return new vscode.ThemeIcon(
        'debug-disconnect',
        new vscode.ThemeColor('list.warningForeground'),
      );
    case 'offline':
      return new vscode.ThemeIcon('debug-disconnect', new vscode.ThemeColor('disabledForeground'));
    case 'idle':
      return new vscode.ThemeIcon('comment-discussion');
  }
}

/** The state in words: never told by colour or icon alone. */
function stateWord(state: SessionState): string {
  switch (state) {
    case 'waiting':
      return l10n.t('needs you');
    case 'running':
      return l10n.t('running');
    case 'stopping':
      return l10n.t('stopping');
    case 'failed':
      return l10n.t('failed');
    case 'faulted':
      return l10n.t('can’t be saved');
    case 'interrupted':
      return l10n.t('interrupted');
    case 'offline':
      return l10n.t('offline');
    case 'idle':
      return l10n.t('idle');
  }
}

function tooltip({
  row,
  state,
  fault = '',
  hostName = '',
  company,
}: SessionView): vscode.MarkdownString {
  const text = new vscode.MarkdownString();
  text.appendMarkdown('**').appendText(sessionName(row.title)).appendMarkdown('**\n\n');
  const lines = [
    stateWord(state),
    fault,
    company?.reading ?? '',
    company?.others ?? '',
    hostName === '' ? '' : l10n.t('Host: {0}', hostName),
    l10n.t('Folder: {0}', row.cwd),
    row.model === '' ? '' : l10n.t('Model: {0}', row.model),
    row.modeId === '' ? '' : l10n.t('Mode: {0}', row.modeId),
    l10n.t('Last message: {0}', new Date(row.updatedAt).toLocaleString()),
  ];
  for (const line of lines.filter((one) => one !== ''))
    text.appendText(line).appendMarkdown('\n\n');
  return text;
}
