import type { Disposable } from '../../../base/disposables.ts';
import { Emitter } from '../../../base/emitter.ts';

/** Keeps the ids across windows. */
export type UnreadStore = {
  readonly load: () => readonly string[];
  readonly save: (ids: readonly string[]) => void;
};

const MAX_KEPT = 500;

/** Which sessions have news that nobody has looked at. It marks them and does nothing to their order. */
export class UnreadMarks implements Disposable {
  readonly #ids: Set<string>;
  readonly #store: UnreadStore;
  readonly #changed = new Emitter<string>();

  readonly onDidChange = this.#changed.event;

  constructor(store: UnreadStore) {
    this.#store = store;
    this.#ids = new Set(store.load());
  }

  has(sessionId: string): boolean {
    return this.#ids.has(sessionId);
  }

  /** Something ended or is asked in a session that is not on the screen. */
  mark(sessionId: string): void {
    if (this.#ids.has(sessionId)) return;
    this.#ids.add(sessionId);
    this.#save(sessionId);
  }

  /** The session is on the screen, or gone. */
  clear(sessionId: string): void {
    if (this.#ids.delete(sessionId)) this.#save(sessionId);
  }

  #save(changed: string): void {
    this.#store.save([...this.#ids].slice(-MAX_KEPT));
    this.#changed.fire(changed);
  }

  dispose(): void {
    this.#changed.dispose();
  }
}
