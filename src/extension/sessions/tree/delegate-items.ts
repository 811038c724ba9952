import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import type { Delegate, DelegateState } from '../../delegates/delegate-list.ts';

const MAX_PROMPT = 80;

/** The tree item of a delegate. `hasOwn`: it began delegates itself; `isFolded`: a person has folded it. */
export function delegateItem(
  delegate: Delegate,
  { hasOwn, isFolded }: { readonly hasOwn: boolean; readonly isFolded: boolean },
): vscode.TreeItem {
  const { loopId, name, state, prompt, isActive } = delegate;
  const { None, Collapsed, Expanded } = vscode.TreeItemCollapsibleState;
  const item = new vscode.TreeItem(name, hasOwn ? (isFolded ? Collapsed : Expanded) : None);
  item.id = `delegate:${loopId}${hasOwn ? ':delegates' : ''}`;
  item.iconPath = icon(state);
  const talks = isActive ? l10n.t('you talk to it') : '';
  const parts = [talks, delegateWord(state), firstLine(prompt)].filter((part) => part !== '');
  item.description = parts.join(' · ');
  item.tooltip = [`${name}: ${delegateWord(state)}`, talks, prompt]
    .filter((part) => part !== '')
    .join('\n\n');
  item.contextValue = `delegate.${menuState(state)}${isActive ? ';active' : ''}`;
  item.command = {
    command: 'pilothouse.openDelegate',
    title: l10n.t('Open Delegate'),
    arguments: [{ delegate }],
  };
  item.accessibilityInformation = {
    label: l10n.t('Delegate: {0}, {1}', name, parts.join(', ')),
  };
  return item;
}

/** What menus go by: it does something, or it does not. */
function menuState(state: DelegateState): string {
  return state === 'running' || state === 'waiting' ? state : 'idle';
}

/** The state of a delegate in words. */
export function delegateWord(state: DelegateState): string {
  switch (state) {
    case 'waiting':
      return l10n.t('needs you');
    case 'running':
      return l10n.t('running');
    case 'completed':
      return l10n.t('done');
    case 'failed':
      return l10n.t('failed');
    case 'cancelled':
      return l10n.t('stopped');
    case 'interrupted':
      return l10n.t('interrupted');
    case 'idle':
      return l10n.t('idle');
  }
}

function icon(state: DelegateState): vscode.ThemeIcon {
  switch (state) {
    case 'waiting':
      return new vscode.ThemeIcon('bell-dot', new vscode.ThemeColor('list.warningForeground'));
    case 'running':
      return new vscode.ThemeIcon('sync~spin');
    case 'completed':
      return new vscode.ThemeIcon('check');
    case 'failed':
      return new vscode.ThemeIcon('error', new vscode.ThemeColor('list.errorForeground'));
    case 'cancelled':
      return new vscode.ThemeIcon('circle-slash');
    case 'interrupted':
      return new vscode.ThemeIcon(
        'debug-disconnect',
        new vscode.ThemeColor('list.warningForeground'),
      );
    case 'idle':
      return new vscode.ThemeIcon('circle-outline');
  }
}

function firstLine(text: string): string {
  const line = text.split('\n', 1)[0] ?? '';
  return line.length > MAX_PROMPT ? `${line.slice(0, MAX_PROMPT).toWellFormed()}…` : line;
}
