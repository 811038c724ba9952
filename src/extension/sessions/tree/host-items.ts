import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { type HostState, hostStateWord } from '../../hosts/host-words.ts';
import { isSameDay } from './relative-time.ts';
import type { HostNote, HostView } from './tree-model.ts';

/** The tree item of a host. */
export function hostItem(host: HostView, now: number): vscode.TreeItem {
  const { id, kind, name, state } = host;
  const item = new vscode.TreeItem(name, vscode.TreeItemCollapsibleState.Expanded);
  item.id = `host:${id}`;
  item.description = stateText(host, now);
  item.iconPath = new vscode.ThemeIcon(ICONS[kind], colorOf(state));
  item.contextValue = `host.${kind}.${state}`;
  item.tooltip = tooltip(host, now);
  item.accessibilityInformation = { label: l10n.t('Host: {0}, {1}', name, stateText(host, now)) };
  return item;
}

const ICONS = { own: 'vm', folder: 'folder-library', ws: 'remote' } as const;

function colorOf(state: HostState): vscode.ThemeColor | undefined {
  switch (state) {
    case 'refused':
      return new vscode.ThemeColor('list.errorForeground');
    case 'offline':
    case 'reconnecting':
      return new vscode.ThemeColor('list.warningForeground');
    case 'off':
    case 'connecting':
      return new vscode.ThemeColor('disabledForeground');
    case 'connected':
      return undefined;
  }
}

function stateText({ state, offlineSince, otherVersion }: HostView, now: number): string {
  const word =
    offlineSince === null || state === 'connecting' || state === 'refused'
      ? hostStateWord(state)
      : state === 'reconnecting'
        ? l10n.t('offline since {0}, connecting again', timeOf(offlineSince, now))
        : l10n.t('offline since {0}', timeOf(offlineSince, now));
  return otherVersion === '' ? word : `${word} · ${l10n.t('version {0}', otherVersion)}`;
}

function timeOf(then: number, now: number): string {
  const date = new Date(then);
  return isSameDay(then, now)
    ? date.toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' })
    : date.toLocaleString();
}

function tooltip(host: HostView, now: number): vscode.MarkdownString {
  const text = new vscode.MarkdownString();
  text.appendMarkdown('**').appendText(host.name).appendMarkdown('**\n\n');
  const lines = [
    host.place,
    stateText(host, now),
    host.reason,
    host.otherVersion === ''
      ? ''
      : l10n.t(
          'This host runs version {0} of Pilothouse, this window another one: what is newer in one of them may not work.',
          host.otherVersion,
        ),
  ];
  for (const line of lines.filter((one) => one !== ''))
    text.appendText(line).appendMarkdown('\n\n');
  return text;
}

/** The tree item of a line below a host. */
export function noteItem(host: HostView, note: HostNote): vscode.TreeItem {
  const { label, icon, command } = NOTES[note](host);
  const item = new vscode.TreeItem(label, vscode.TreeItemCollapsibleState.None);
  item.id = `note:${host.id}:${note}`;
  item.contextValue = `hostNote.${note}`;
  if (host.reason !== '') {
    item.description = host.reason;
    item.tooltip = host.reason;
  }
  item.iconPath = new vscode.ThemeIcon(icon);
  item.command = { command, title: label, arguments: [{ host }] };
  return item;
}

type Note = { readonly label: string; readonly icon: string; readonly command: string };

const NOTES: Readonly<Record<HostNote, (host: HostView) => Note>> = {
  retry: () => ({ label: l10n.t('Retry'), icon: 'refresh', command: 'pilothouse.retryHost' }),
  set_token: () => ({
    label: l10n.t('Enter another token'),
    icon: 'key',
    command: 'pilothouse.setHostToken',
  }),
  empty: () => ({
    label: l10n.t('New Session'),
    icon: 'add',
    command: 'pilothouse.newSessionOnHost',
  }),
};
