import { type Disposable, DisposableStore } from '../../base/disposables.ts';
import { Emitter } from '../../base/emitter.ts';
import type { ChatStatus } from '../../protocol/chat.ts';
import type { RedoStore } from '../rewind/redo-store.ts';
import type { StagedStore } from '../staged/staged-store.ts';

/** What the chat shows of a session that is not in its conversation: staged edits, and whether one can redo. */
export class Asides implements Disposable {
  readonly #changed = new Emitter<string>();
  readonly #store = new DisposableStore();
  readonly #staged: StagedStore;
  readonly #redo: RedoStore;

  /** Fires with the session for which it changed. */
  readonly onDidChange = this.#changed.event;

  /** Takes both stores over. */
  constructor(staged: StagedStore, redo: RedoStore) {
    this.#staged = staged;
    this.#redo = redo;
    this.#store.add(staged);
    this.#store.add(redo);
    this.#store.add(this.#changed);
    this.#store.add(staged.onDidChange((sessionId) => this.#changed.fire(sessionId)));
    this.#store.add(redo.onDidChange((sessionId) => this.#changed.fire(sessionId)));
  }

  readonly of = (sessionId: string): Pick<ChatStatus, 'staged' | 'canRedo'> => {
    const { mode, files } = this.#staged.of(sessionId);
    const on = mode === 'staged';
    return {
      staged:
        on || files.length > 0
          ? { files: files.length, paths: files.map(({ path }) => path), on }
          : null,
      canRedo: this.#redo.canRedo(sessionId),
    };
  };

  dispose(): void {
    this.#store.dispose();
  }
}
