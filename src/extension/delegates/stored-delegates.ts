import { type Disposable, DisposableStore } from '../../base/disposables.ts';
import { Emitter } from '../../base/emitter.ts';
import { messageOf } from '../../base/errors.ts';
import type { Hosts } from '../hosts/hosts.ts';
import type { SessionHub } from '../sessions/session-hub.ts';
import { type Delegate, DelegateList } from './delegate-list.ts';

/** How many sessions that are not open here are asked about. */
const MOST_ASKED = 200;

/** What it works with. */
export type StoredDelegatesPorts = {
  readonly hub: Pick<SessionHub, 'directory' | 'get' | 'onDidChange'>;
  readonly hosts: Hosts;
  readonly log: (message: string) => void;
};

/**
 * The delegates of sessions, open here or not. Those of others are read once, one session after another, so that a
 * list shows which sessions have some.
 */
export class StoredDelegates implements Disposable {
  readonly #ports: StoredDelegatesPorts;
  readonly #lists = new Map<string, DelegateList>();
  readonly #asked = new Set<string>();
  readonly #changed = new Emitter<string>();
  readonly #store = new DisposableStore();
  #isReading = false;

  /** Fires with the session whose delegates are known from now on. */
  readonly onDidChange = this.#changed.event;

  constructor(ports: StoredDelegatesPorts) {
    this.#ports = ports;
    const { hub, hosts } = ports;
    this.#store.add(hub.directory.onDidChange(() => this.#readSoon()));
    this.#store.add(hosts.onDidChange(() => this.#readSoon()));
    // What was read is old once the session was open: it is kept for the time after that.
    this.#store.add(
      hub.onDidChange(({ session, change }) => {
        if (change.kind !== 'delegates') return;
        const { list } = session.delegates;
        this.#lists.set(session.sessionId, list);
        // What names a loop goes to the host of its session.
        for (const { loopId } of list.all()) hosts.learn(loopId, hosts.of(session.sessionId).id);
      }),
    );
  }

  /** In the order of their beginning, parents before their own; empty where there are none or none are known. */
  of(sessionId: string): readonly Delegate[] {
    const live = this.#ports.hub.get(sessionId);
    const list = live?.isAttached ? live.delegates.list : this.#lists.get(sessionId);
    return list?.all() ?? [];
  }

  #readSoon(): void {
    if (this.#isReading) return;
    this.#isReading = true;
    this.#readAll().then(
      () => {
        this.#isReading = false;
      },
      (error: unknown) => {
        this.#isReading = false;
        this.#ports.log(`delegates could not be listed: ${messageOf(error)}`);
      },
    );
  }

  async #readAll(): Promise<void> {
    const { hub, hosts } = this.#ports;
    for (;;) {
      const next = hub.directory
        .rows()
        .slice(0, MOST_ASKED)
        .find(
          ({ sessionId }) =>
            !this.#asked.has(sessionId) &&
            !hub.get(sessionId) &&
            hosts.agentOf(sessionId).connection?.isClosed === false,
        );
      if (!next) return;
      const { sessionId } = next;
      const { id, agent } = hosts.of(sessionId);
      const { connection } = agent;
      if (!connection) return;
      this.#asked.add(sessionId);
      const list = new DelegateList(sessionId);
      list.set(await connection.request('_pilothouse/loops/list', { sessionId }));
      for (const { loopId } of list.all()) hosts.learn(loopId, id);
      if (list.isEmpty) continue;
      this.#lists.set(sessionId, list);
      this.#changed.fire(sessionId);
    }
  }

  dispose(): void {
    this.#store.dispose();
    this.#changed.dispose();
  }
}
