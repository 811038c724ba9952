import type { Disposable } from '../../../base/disposables.ts';
import { Emitter, type Event } from '../../../base/emitter.ts';
import type { Client } from '../api.ts';

/** How much a host has to do. */
export type Activity = {
  /** Sessions in memory. */
  readonly sessions: number;
  /**
   * Those of them in which something is at work: a turn, a delegate or a message that waits for its turn. A turn that
   * stands at its question and that a restart would find there is none, and a background process is none.
   */
  readonly running: number;
  /** Clients that follow a session, each counted once. */
  readonly clients: number;
};

/** A session as its activity is counted. */
export type CountedSession = {
  readonly isAtWork: boolean;
  readonly clients: { readonly all: readonly Client[] };
};

/** What a host does at the moment, for its status and for the end of an idle one. */
export class HostActivity implements Disposable {
  readonly #live: () => Iterable<CountedSession>;
  readonly #changed: Emitter<void>;

  constructor(live: () => Iterable<CountedSession>, onError: (error: unknown) => void) {
    this.#live = live;
    this.#changed = new Emitter(onError);
  }

  /** Fires when `now()` may have changed. */
  get onDidChange(): Event<void> {
    return this.#changed.event;
  }

  now(): Activity {
    const sessions = [...this.#live()];
    const clients = new Set(sessions.flatMap((session) => session.clients.all));
    return {
      sessions: sessions.length,
      running: sessions.filter(({ isAtWork }) => isAtWork).length,
      clients: clients.size,
    };
  }

  /** It may have changed. */
  changed(): void {
    this.#changed.fire();
  }

  dispose(): void {
    this.#changed.dispose();
  }
}
