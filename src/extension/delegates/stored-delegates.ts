import { type Disposable, DisposableStore } from '../../base/disposables.ts';
import { Emitter } from '../../base/emitter.ts';
import { messageOf } from '../../base/errors.ts';
import type { Agent } from '../core/agent.ts';
import type { SessionHub } from '../sessions/session-hub.ts';
import { type Delegate, DelegateList } from './delegate-list.ts';

/** How many sessions that are not open here are asked about. */
const MOST_ASKED = 200;

/** What it works with. */
export type StoredDelegatesPorts = {
  readonly hub: Pick<SessionHub, 'directory' | 'get' | 'onDidChange'>;
  readonly agent: Agent;
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
    const { hub, agent } = ports;
    this.#store.add(hub.directory.onDidChange(() => this.#readSoon()));
    this.#store.add(agent.onDidChange(() => this.#readSoon()));
    // What was read is old once the session was open: it is kept for the time after that.
    this.#store.add(
      hub.onDidChange(({ session, change }) => {
        if (change.kind === 'delegates') this.#lists.set(session.sessionId, session.delegates.list);
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
    if (this.#isReading || !this.#ports.agent.connection) return;
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
    const { hub, agent } = this.#ports;
    for (;;) {
      const next = hub.directory
        .rows()
        .slice(0, MOST_ASKED)
        .find(({ sessionId }) => !this.#asked.has(sessionId) && !hub.get(sessionId));
      const { connection } = agent;
      if (!next || !connection || connection.isClosed) return;
      const { sessionId } = next;
      this.#asked.add(sessionId);
      const list = new DelegateList(sessionId);
      list.set(await connection.request('_pilothouse/loops/list', { sessionId }));
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
