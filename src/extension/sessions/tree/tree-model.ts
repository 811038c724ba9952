import * as l10n from '@vscode/l10n';
import type { Gate } from '../../approvals/gate.ts';
import type { Delegate } from '../../delegates/delegate-list.ts';
import { type AddedHost, type HostId, OWN_HOST } from '../../hosts/host.ts';
import type { HostState } from '../../hosts/host-words.ts';
import type { Grouping } from '../../settings/settings.ts';
import type { SessionView } from '../session-view.ts';
import { isSameDay } from './relative-time.ts';

/** A host as the tree shows it, once a person has added one. */
export type HostView = {
  readonly id: HostId;
  /** The window's own is there always and can't be taken off. */
  readonly kind: 'own' | AddedHost['kind'];
  readonly name: string;
  /** Its folder or address; empty for the window's own. */
  readonly place: string;
  readonly state: HostState;
  /** Why it is not reached; empty while it is. */
  readonly reason: string;
  /** Milliseconds since the epoch; null while it is reached. */
  readonly offlineSince: number | null;
  /** Its version where it is another than this extension's; else empty. */
  readonly otherVersion: string;
};

/** A node of the sessions tree. */
export type TreeNode =
  | {
      readonly kind: 'group';
      readonly id: string;
      readonly label: string;
      readonly sessions: readonly SessionView[];
    }
  | { readonly kind: 'session'; readonly view: SessionView; readonly groupId: string }
  | { readonly kind: 'gate'; readonly gate: Gate; readonly parent: TreeNode }
  | {
      readonly kind: 'delegate';
      readonly delegate: Delegate;
      readonly parent: TreeNode;
      /** All of its session, to find its own among. */
      readonly all: readonly Delegate[];
    }
  | { readonly kind: 'more'; readonly hostId: HostId }
  | { readonly kind: 'host'; readonly host: HostView; readonly nodes: readonly TreeNode[] }
  /** A line below a host: what it says, and what a click on it does. */
  | { readonly kind: 'note'; readonly host: HostView; readonly note: HostNote };

/** What is said below a host in place of, or before, its sessions. */
export type HostNote = 'retry' | 'set_token' | 'empty';

/** What the tree is laid out from. `views` are in the order of their last message. */
export type TreeInput = {
  readonly views: readonly SessionView[];
  readonly grouping: Grouping;
  /** Empty shows all. */
  readonly filter: string;
  readonly hasMore: boolean;
  readonly now: number;
  /** The host whose sessions they are; left out: the window's own. */
  readonly hostId?: HostId;
};

/** The top of the tree. Within a group the order is by last message; unread or read plays no part in it. */
export function topNodes(input: TreeInput): TreeNode[] {
  const views = input.views.filter((view) => fits(view, input.filter));
  const groups =
    input.grouping === 'folder' ? groupByFolder(views) : groupByStatus(views, input.now);
  const { hostId = OWN_HOST } = input;
  const more: TreeNode[] = input.hasMore ? [{ kind: 'more', hostId }] : [];
  const filled = groups.filter((group) => group.sessions.length > 0);
  const own =
    hostId === OWN_HOST ? filled : filled.map((one) => ({ ...one, id: `${hostId}/${one.id}` }));
  return [...own, ...more];
}

/** A host with what is below it. */
export function hostNode(host: HostView, nodes: readonly TreeNode[]): TreeNode {
  const notes: HostNote[] = [];
  if (host.state === 'refused') notes.push('set_token');
  else if (host.state === 'offline' || host.state === 'reconnecting') notes.push('retry');
  else if (host.state === 'connected' && nodes.length === 0) notes.push('empty');
  return {
    kind: 'host',
    host,
    nodes: [...notes.map((note): TreeNode => ({ kind: 'note', host, note })), ...nodes],
  };
}

/** What is below a node. */
export function childNodes(node: TreeNode): TreeNode[] {
  if (node.kind === 'host') return [...node.nodes];
  if (node.kind === 'group')
    return node.sessions.map((view) => ({ kind: 'session', view, groupId: node.id }));
  if (node.kind === 'session') {
    const { gates, row, delegates = [] } = node.view;
    return [
      ...gates.map((gate): TreeNode => ({ kind: 'gate', gate, parent: node })),
      ...delegateNodes(delegates, row.sessionId, node),
    ];
  }
  return node.kind === 'delegate' ? delegateNodes(node.all, node.delegate.loopId, node) : [];
}

/** The delegates that a loop began, as they were begun. */
function delegateNodes(all: readonly Delegate[], loopId: string, parent: TreeNode): TreeNode[] {
  return all
    .filter((one) => one.parentLoopId === loopId)
    .map((delegate) => ({ kind: 'delegate', delegate, parent, all }));
}

type Group = Extract<TreeNode, { kind: 'group' }>;

function groupByStatus(views: readonly SessionView[], now: number): Group[] {
  const waiting = views.filter((view) => view.state === 'waiting');
  const running = views.filter((view) => view.state === 'running' || view.state === 'stopping');
  const active: readonly SessionView[] = [...waiting, ...running];
  const rest = views.filter((view) => !active.includes(view));
  const today = rest.filter((view) => isSameDay(view.row.updatedAt, now));
  const earlier = rest.filter((view) => !isSameDay(view.row.updatedAt, now));
  return [
    group('waiting', l10n.t('Needs You'), waiting),
    group('running', l10n.t('Running'), running),
    group('today', l10n.t('Today'), today),
    group('earlier', l10n.t('Earlier'), earlier),
  ];
}

function groupByFolder(views: readonly SessionView[]): Group[] {
  const folders = new Map<string, SessionView[]>();
  for (const view of views) {
    const known = folders.get(view.row.cwd);
    if (known) known.push(view);
    else folders.set(view.row.cwd, [view]);
  }
  return [...folders].map(([cwd, sessions]) => group(`folder:${cwd}`, cwd, sessions));
}

function group(id: string, label: string, sessions: readonly SessionView[]): Group {
  return { kind: 'group', id, label, sessions };
}

function fits({ row }: SessionView, filter: string): boolean {
  const wanted = filter.trim().toLowerCase();
  return wanted === '' || `${row.title}\n${row.cwd}`.toLowerCase().includes(wanted);
}

/** How a session is called. */
export function sessionName(title: string): string {
  return title === '' ? l10n.t('Untitled session') : title;
}

/** The last part of a path, on either kind of system. */
export function baseName(path: string): string {
  const trimmed = path.replace(/[/\\]+$/, '');
  return trimmed.slice(Math.max(trimmed.lastIndexOf('/'), trimmed.lastIndexOf('\\')) + 1) || path;
}

/** By what a node is remembered as folded; null for one that is not. */
export function foldKey(node: TreeNode): string | null {
  if (node.kind === 'session') return node.view.row.sessionId;
  return node.kind === 'delegate' ? node.delegate.loopId : null;
}
