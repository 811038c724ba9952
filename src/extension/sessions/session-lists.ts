import { type Disposable, DisposableStore } from '../../base/disposables.ts';
import { Emitter } from '../../base/emitter.ts';
import { isObject } from '../../base/json.ts';
import { type HostId, OWN_HOST } from '../hosts/host.ts';
import type { Hosts } from '../hosts/hosts.ts';
import { type ListPage, SessionDirectory } from './directory.ts';
import { compareRows, type SessionRow } from './tree/row.ts';

/** Fetches a page of one host's list. */
export type FetchHostPage = (host: HostId, cursor: string | undefined) => Promise<ListPage>;

/** What was last known of the lists of added hosts, across windows. */
export type RowStore = {
  readonly load: (host: HostId) => readonly unknown[];
  readonly save: (host: HostId, rows: readonly SessionRow[]) => void;
};

/** How many sessions of a host are remembered for the next window. */
const MAX_KEPT = 50;

/**
 * The sessions of all hosts, in the order of their last message. Where no host is named, the window's own is meant. The
 * list of an added host stays as it last was while that host is not reached.
 */
export class SessionLists implements Disposable {
  readonly #hosts: Hosts;
  readonly #fetch: FetchHostPage;
  readonly #rowStore: RowStore;
  readonly #lists = new Map<HostId, SessionDirectory>();
  readonly #changed = new Emitter<string | null>();
  readonly #store = new DisposableStore();

  /** Fires with the session that changed, or null when many may have. */
  readonly onDidChange = this.#changed.event;

  constructor(hosts: Hosts, fetch: FetchHostPage, rowStore: RowStore) {
    this.#hosts = hosts;
    this.#fetch = fetch;
    this.#rowStore = rowStore;
    this.#follow();
    this.#store.add(hosts.onDidChangeList(() => this.#follow()));
  }

  /** Opens a list for each host that has none, and drops those of hosts that are gone. */
  #follow(): void {
    const ids = new Set(this.#hosts.all().map(({ id }) => id));
    for (const [id, list] of this.#lists) {
      if (ids.has(id)) continue;
      this.#lists.delete(id);
      this.#rowStore.save(id, []);
      list.dispose();
    }
    for (const id of ids) if (!this.#lists.has(id)) this.#open(id);
    this.#changed.fire(null);
  }

  #open(id: HostId): void {
    const list = new SessionDirectory(async (cursor) => {
      const page = await this.#fetch(id, cursor);
      return { ...page, sessions: page.sessions.filter((row) => this.#isOf(row, id)) };
    });
    this.#lists.set(id, list);
    if (id !== OWN_HOST)
      for (const row of this.#rowStore.load(id)) if (this.#isOf(row, id)) list.update(row);
    list.onDidChange((sessionId) => {
      if (sessionId === null && id !== OWN_HOST && list.hasLoaded)
        this.#rowStore.save(id, list.rows().slice(0, MAX_KEPT));
      this.#changed.fire(sessionId);
    });
  }

  /** A host lists its own sessions only: one that another host has is that one's. */
  #isOf(row: unknown, id: HostId): boolean {
    const sessionId = isObject(row) ? row['sessionId'] : null;
    return typeof sessionId === 'string' && this.#hosts.learn(sessionId, id);
  }

  #list(id: HostId): SessionDirectory | null {
    return this.#lists.get(id) ?? null;
  }

  #listOf(sessionId: string): SessionDirectory | null {
    return this.#list(this.#hosts.of(sessionId).id);
  }

  /** True after the first page of a host has come. */
  hasLoadedOf(id: HostId): boolean {
    return this.#list(id)?.hasLoaded ?? false;
  }

  get hasLoaded(): boolean {
    return this.hasLoadedOf(OWN_HOST);
  }

  hasMoreOf(id: HostId): boolean {
    return this.#list(id)?.hasMore ?? false;
  }

  get hasMore(): boolean {
    return this.hasMoreOf(OWN_HOST);
  }

  rows(): readonly SessionRow[] {
    const [own = [], ...others] = [...this.#lists.values()].map((list) => list.rows());
    return others.every((rows) => rows.length === 0)
      ? own
      : [own, ...others].flat().sort(compareRows);
  }

  rowsOf(id: HostId): readonly SessionRow[] {
    return this.#list(id)?.rows() ?? [];
  }

  get(sessionId: string): SessionRow | null {
    return this.#listOf(sessionId)?.get(sessionId) ?? null;
  }

  /** Fetches the first page of a host's list again. */
  async refresh(id: HostId = OWN_HOST): Promise<void> {
    await this.#list(id)?.refresh();
  }

  /** Fetches the first page of every host that is connected, and of the window's own in any case. */
  async refreshAll(): Promise<void> {
    const connected = this.#hosts.added().filter(({ agent }) => agent.connection !== null);
    // A host that is lost meanwhile says so by its state.
    await Promise.allSettled(connected.map(async ({ id }) => this.refresh(id)));
    await this.refresh();
  }

  /** Fetches the next page of a host's list, if there is one. */
  async loadMore(id: HostId = OWN_HOST): Promise<void> {
    await this.#list(id)?.loadMore();
  }

  /** Takes a row in as a host sent it. */
  update(value: unknown, id: HostId = OWN_HOST): void {
    if (this.#isOf(value, id)) this.#list(id)?.update(value);
  }

  /** Changes what is known of a listed session. */
  patch(sessionId: string, patch: Partial<Omit<SessionRow, 'sessionId'>>): void {
    this.#listOf(sessionId)?.patch(sessionId, patch);
  }

  remove(sessionId: string): void {
    this.#listOf(sessionId)?.remove(sessionId);
  }

  dispose(): void {
    this.#store.dispose();
    for (const list of this.#lists.values()) list.dispose();
    this.#changed.dispose();
  }
}
