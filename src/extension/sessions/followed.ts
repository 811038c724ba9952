import { type Disposable, DisposableStore } from '../../base/disposables.ts';
import { messageOf } from '../../base/errors.ts';
import type { SessionHub } from './session-hub.ts';

/** What the sessions that a window follows are kept with. */
export type FollowedPorts = {
  readonly hub: SessionHub;
  readonly load: () => readonly string[];
  readonly save: (ids: readonly string[]) => void;
  readonly log: (message: string) => void;
};

/**
 * The sessions at work that this window follows, for the window that comes after it: that one follows them too as soon
 * as it knows of them, so that it is asked what they ask.
 */
export class Followed implements Disposable {
  readonly #ports: FollowedPorts;
  readonly #store = new DisposableStore();
  /** Of the window before, not found in a list yet. */
  readonly #left: Set<string>;
  #saved: string;

  constructor(ports: FollowedPorts) {
    this.#ports = ports;
    const { hub } = ports;
    this.#left = new Set(ports.load());
    this.#saved = [...this.#left].join();
    this.#store.add(hub.directory.onDidChange(() => this.#takeUp()));
    this.#store.add(hub.gates.onDidChange(() => this.#keep()));
    this.#store.add(
      hub.onDidChange(({ change }) => {
        if (change.kind === 'status' || change.kind === 'turn_ended' || change.kind === 'reset')
          this.#keep();
      }),
    );
  }

  #takeUp(): void {
    const { hub, log } = this.#ports;
    for (const id of [...this.#left]) {
      const row = hub.directory.get(id);
      if (!row) continue;
      this.#left.delete(id);
      if (!row.activePrompt && row.openGates === 0) continue;
      hub.open(id).catch((error: unknown) => {
        log(`session ${id} could not be followed again: ${messageOf(error)}`);
      });
    }
  }

  /** A session that is not attached now is not forgotten: its window may be closing. */
  #keep(): void {
    const { hub, save } = this.#ports;
    const isKept = (id: string): boolean => this.#saved.split(',').includes(id);
    const ids = hub.live().flatMap(({ sessionId, isAttached, isRunning }) => {
      const isAtWork = isRunning || hub.gates.ofSession(sessionId).length > 0;
      return (isAttached ? isAtWork : isKept(sessionId)) ? [sessionId] : [];
    });
    const all = [...new Set([...ids, ...this.#left])];
    if (all.join() === this.#saved) return;
    this.#saved = all.join();
    save(all);
  }

  dispose(): void {
    this.#store.dispose();
  }
}
