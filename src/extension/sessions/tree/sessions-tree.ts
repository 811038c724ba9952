import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { DisposableStore } from '../../../base/disposables.ts';
import type { Event } from '../../../base/emitter.ts';
import { messageOf } from '../../../base/errors.ts';
import type { Gate } from '../../approvals/gate.ts';
import type { ChatChange } from '../../chat/model/conversation.ts';
import { folderInUseWords } from '../../core/offline-words.ts';
import type { Delegate } from '../../delegates/delegate-list.ts';
import type { StoredDelegates } from '../../delegates/stored-delegates.ts';
import { type HostId, OWN_HOST } from '../../hosts/host.ts';
import { hostView } from '../../hosts/host-view.ts';
import type { Host, Hosts } from '../../hosts/hosts.ts';
import { ageWords, hostAge } from '../../session-host/host-age.ts';
import { settings } from '../../settings/settings.ts';
import { companyOf } from '../clients/company.ts';
import { currentValue } from '../session-facts.ts';
import type { SessionHub } from '../session-hub.ts';
import {
  openQuestions,
  questionsIn,
  type SessionView,
  sessionState,
  sessionTraits,
} from '../session-view.ts';
import type { Folds } from './folds.ts';
import { treeItem } from './tree-items.ts';
import { childNodes, foldKey, hostNode, type TreeNode, topNodes } from './tree-model.ts';
import type { UnreadMarks } from './unread.ts';

/** The sessions view's id in the manifest. */
export const SESSIONS_VIEW = 'pilothouse.sessions';

const REFRESH_DELAY_MS = 80;
const MINUTE_MS = 60_000;

/** What the tree is built on. */
export type TreePorts = {
  readonly hub: SessionHub;
  readonly hosts: Hosts;
  /** The version of this extension. */
  readonly version: string;
  readonly unread: UnreadMarks;
  readonly log: (message: string) => void;
  readonly canStart: () => boolean;
  readonly redo: Redoable;
  readonly delegates: StoredDelegates;
  readonly folds: Folds;
};

/** Which sessions have a rollback that can be redone. */
export type Redoable = {
  readonly canRedo: (sessionId: string) => boolean;
  readonly onDidChange: Event<string>;
};

/** The tree of all sessions. It asks the agent for them when it is first seen. */
export class SessionsTree implements vscode.TreeDataProvider<TreeNode>, vscode.Disposable {
  readonly #ports: TreePorts;
  readonly #store = new DisposableStore();
  readonly #changed = new vscode.EventEmitter<undefined>();
  readonly #view: vscode.TreeView<TreeNode>;
  #filter = '';
  #timer: NodeJS.Timeout | null = null;
  /** The session in the chat. */
  #shown: string | null = null;
  /** Tool calls that run, in any session. */
  readonly #steps = new Set<string>();
  /** It is still to be selected: its row was not there, or not in sight. */
  #toSelect: string | null = null;
  #loading: Promise<void> | null = null;

  readonly onDidChangeTreeData = this.#changed.event;

  constructor(ports: TreePorts) {
    this.#ports = ports;
    const { hub, hosts, unread } = ports;
    this.#view = this.#store.add(
      vscode.window.createTreeView(SESSIONS_VIEW, {
        treeDataProvider: this,
        showCollapseAll: true,
      }),
    );
    const later = (): void => this.refreshSoon();
    this.#store.add(hub.directory.onDidChange(later));
    this.#store.add(hub.gates.onDidChange(later));
    this.#store.add(unread.onDidChange(later));
    this.#store.add(ports.redo.onDidChange(later));
    this.#store.add(
      hub.onDidChange(({ change }) => {
        if (change.kind === 'delegate_rows') return;
        if (change.kind !== 'chat' || this.#stepsChanged(change.changes)) this.refreshSoon();
      }),
    );
    this.#store.add(hosts.onDidChange(later));
    this.#store.add(hosts.onDidChangeList(later));
    this.#store.add(ports.delegates.onDidChange(later));
    const folded = (element: TreeNode, isFolded: boolean): void =>
      ports.folds.set(foldKey(element), isFolded);
    this.#store.add(this.#view.onDidCollapseElement(({ element }) => folded(element, true)));
    this.#store.add(this.#view.onDidExpandElement(({ element }) => folded(element, false)));
    this.#store.add(
      this.#view.onDidChangeVisibility(({ visible }) => {
        if (!visible) return;
        this.#toSelect = this.#shown;
        later();
      }),
    );
    const clock = setInterval(() => this.#view.visible && this.refreshSoon(), MINUTE_MS);
    this.#store.defer(() => clearInterval(clock));
  }

  /** Shows only sessions with this text in their title or folder; empty shows all. */
  setFilter(filter: string): void {
    this.#filter = filter;
    this.#updateFrame();
    void vscode.commands.executeCommand('setContext', 'pilothouse.filtered', filter !== '');
    this.refreshSoon();
  }

  get filter(): string {
    return this.#filter;
  }

  /** The chat shows this session from now on: its row is selected, as soon as there is one in sight. */
  markShown(sessionId: string | null): void {
    this.#shown = sessionId;
    this.#toSelect = sessionId;
    this.refreshSoon();
  }

  /** Of the conversation only the steps count here, as they begin and end: they decide about a menu's entry. */
  #stepsChanged(changes: readonly ChatChange[]): boolean {
    let changed = false;
    for (const change of changes)
      for (const item of change.type === 'upsert' ? change.items : []) {
        if (item.kind !== 'tool') continue;
        const runs = item.status === 'in_progress';
        if (runs === this.#steps.has(item.id)) continue;
        if (runs) this.#steps.add(item.id);
        else this.#steps.delete(item.id);
        changed = true;
      }
    return changed;
  }

  /** Never moves the keyboard, and never opens the view. */
  async #select(): Promise<void> {
    const wanted = this.#toSelect;
    if (wanted === null || !this.#view.visible) return;
    const node = this.#groups()
      .flatMap(childNodes)
      .find((one) => one.kind === 'session' && one.view.row.sessionId === wanted);
    if (!node) return;
    this.#toSelect = null;
    await this.#view.reveal(node, { select: true, focus: false });
  }

  /** Lays the tree anew; several calls at once count as one. */
  refreshSoon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      this.#updateFrame();
      this.#changed.fire(undefined);
      this.#select().then(undefined, (error: unknown) =>
        this.#ports.log(`the session in the chat could not be selected: ${messageOf(error)}`),
      );
    }, REFRESH_DELAY_MS);
  }

  #updateFrame(): void {
    const open = questionsIn(this.views(), this.#ports.hub.gates);
    const tooltip =
      open === 1 ? l10n.t('1 question waits for you') : l10n.t('{0} questions wait for you', open);
    this.#view.badge = open === 0 ? undefined : { value: open, tooltip };
    this.#view.message = this.#offlineMessage() ?? '';
    const filter = this.#filter === '' ? [] : [l10n.t('filtered by “{0}”', this.#filter)];
    const age = hostAge(this.#ports.hosts.own.agent.state, this.#ports.version);
    const host = age === null ? [] : [ageWords(age)];
    this.#view.description = [...filter, ...host].join(' · ');
  }

  /** Without sessions the view's own text says that nothing runs; who holds the folder, it can't say. */
  #offlineMessage(): string | null {
    const { state } = this.#ports.hosts.own.agent;
    if (state.kind !== 'failed' && state.kind !== 'restarting') return null;
    const inUse = folderInUseWords(state);
    if (inUse !== null) return `${inUse} ${l10n.t('Then use Restart Agent above.')}`;
    if (this.#ports.hub.directory.rowsOf(OWN_HOST).length === 0) return null;
    if (state.kind === 'failed')
      return l10n.t(
        'The session host is not running ({0}). Use Restart Agent above.',
        state.reason,
      );
    return l10n.t('The session host ended and is started again.');
  }

  /** Sessions as shown, in the order of their last message. */
  views(): SessionView[] {
    const { hub, hosts, unread, redo, delegates } = this.#ports;
    return hub.directory.rows().map((listed) => {
      const live = hub.get(listed.sessionId);
      const gates = hub.gates.ofSession(listed.sessionId);
      const row = { ...listed, model: currentValue(live, 'model') ?? listed.model };
      const { added, agent } = hosts.of(listed.sessionId);
      const questions = openQuestions(row, live, gates.length);
      const company = live ? companyOf(live.clients) : null;
      return {
        row,
        state: added && !agent.connection ? 'offline' : sessionState(row, live, questions),
        ...(added ? { hostName: added.name } : {}),
        unread: unread.has(row.sessionId),
        gates,
        questions,
        ...(live?.durability.fault ? { fault: live.durability.fault.message } : {}),
        ...(company ? { company } : {}),
        traits: sessionTraits(live, redo.canRedo(listed.sessionId)),
        delegates: asked(delegates.of(listed.sessionId), gates),
      };
    });
  }

  /** Without hosts that a person added, the sessions stand at the top. */
  #top(): TreeNode[] {
    const { hosts, version } = this.#ports;
    const views = this.views();
    if (hosts.added().length === 0) return this.#below(OWN_HOST, views);
    return hosts.all().map((host) => {
      const own = views.filter(({ row }) => hosts.of(row.sessionId).id === host.id);
      return hostNode(
        hostView(host, hosts.offlineSince(host.id), version),
        this.#below(host.id, own),
      );
    });
  }

  #below(hostId: HostId, views: readonly SessionView[]): TreeNode[] {
    return topNodes({
      views,
      grouping: settings.grouping(),
      filter: this.#filter,
      hasMore: this.#ports.hub.directory.hasMoreOf(hostId),
      now: Date.now(),
      hostId,
    });
  }

  getTreeItem(node: TreeNode): vscode.TreeItem {
    return treeItem(node, Date.now(), this.#ports.folds);
  }

  async getChildren(node?: TreeNode): Promise<TreeNode[]> {
    if (node) return childNodes(node);
    await this.#firstLoad();
    return this.#top();
  }

  /** The list is fetched once by itself; a process that keeps failing is not started from here. */
  async #firstLoad(): Promise<void> {
    const { hub, hosts, canStart, log } = this.#ports;
    if (canStart()) for (const host of hosts.added()) this.#firstLoadOf(host);
    const { kind } = hosts.own.agent.state;
    if (hub.directory.hasLoaded || !canStart() || kind === 'failed' || kind === 'restarting')
      return;
    this.#loading ??= this.#load(hub, log);
    await this.#loading;
    this.#loading = null;
  }

  /** An added host is reached when the tree is seen first; one that failed waits for Retry. */
  #firstLoadOf({ id, agent }: Host): void {
    const { hub, log } = this.#ports;
    if (agent.state.kind !== 'stopped') return;
    hub.directory.refresh(id).catch((error: unknown) => log(messageOf(error)));
  }

  async #load(hub: SessionHub, log: (message: string) => void): Promise<void> {
    const location = { viewId: SESSIONS_VIEW };
    try {
      await vscode.window.withProgress({ location }, async () => hub.directory.refresh());
    } catch (error) {
      log(`sessions could not be listed: ${messageOf(error)}`);
    }
  }

  getParent(node: TreeNode): TreeNode | undefined {
    if (node.kind === 'gate' || node.kind === 'delegate') return node.parent;
    if (node.kind === 'group') return this.#hostOf(node);
    if (node.kind !== 'session') return undefined;
    return this.#groups().find((one) => one.kind === 'group' && one.id === node.groupId);
  }

  /** The nodes that sessions stand below. */
  #groups(): TreeNode[] {
    return this.#top().flatMap((one) => (one.kind === 'host' ? childNodes(one) : [one]));
  }

  #hostOf(child: TreeNode): TreeNode | undefined {
    return this.#top().find(
      (one) =>
        one.kind === 'host' &&
        one.nodes.some(
          (node) => node.kind === 'group' && child.kind === 'group' && node.id === child.id,
        ),
    );
  }

  dispose(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#store.dispose();
    this.#changed.dispose();
  }
}

/** A delegate whose question is open waits, whatever its loop was last known to do. */
function asked(delegates: readonly Delegate[], gates: readonly Gate[]): readonly Delegate[] {
  const asking = new Set(gates.map(({ loopId }) => loopId));
  return delegates.map((one) => (asking.has(one.loopId) ? { ...one, state: 'waiting' } : one));
}
