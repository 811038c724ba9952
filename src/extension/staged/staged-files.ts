import { type Disposable, DisposableStore } from '../../base/disposables.ts';
import { Emitter } from '../../base/emitter.ts';
import { messageOf } from '../../base/errors.ts';
import { type StagedFile, type StagedTexts, stagedFile } from './staged-file.ts';
import type { StagedStore } from './staged-store.ts';

/** Reads one side of a staged file; null where there is no file. */
export type ReadStaged = (
  sessionId: string,
  path: string,
  side: 'base' | 'staged',
) => Promise<string | null>;

/** The staged files of sessions with their texts, kept as fresh as the agent tells. */
export class StagedFiles implements Disposable {
  readonly #staged: StagedStore;
  readonly #read: ReadStaged;
  readonly #log: (message: string) => void;
  readonly #loaded = new Map<string, readonly StagedFile[]>();
  readonly #loading = new Map<string, Promise<void>>();
  readonly #stale = new Set<string>();
  readonly #changed = new Emitter<string>();
  readonly #store = new DisposableStore();

  /** Fires with the session whose files were read again. */
  readonly onDidChange = this.#changed.event;

  constructor(staged: StagedStore, read: ReadStaged, log: (message: string) => void) {
    this.#staged = staged;
    this.#read = read;
    this.#log = log;
    this.#store.add(this.#changed);
    this.#store.add(
      staged.onDidChange((sessionId) => {
        this.#load(sessionId).then(undefined, (error: unknown) =>
          this.#log(`staged files could not be read: ${messageOf(error)}`),
        );
      }),
    );
  }

  /** By path, as far as they are read. */
  of(sessionId: string): readonly StagedFile[] {
    return this.#loaded.get(sessionId) ?? [];
  }

  /** One file, read if need be; null if it is not staged. */
  async find(sessionId: string, path: string): Promise<StagedFile | null> {
    if (!this.#loaded.has(sessionId)) await this.fresh(sessionId);
    return this.of(sessionId).find(({ change }) => change.path === path) ?? null;
  }

  /** Asks for the list and the texts again. Rejects if the agent can't be asked. */
  async fresh(sessionId: string): Promise<readonly StagedFile[]> {
    await this.#staged.refresh(sessionId);
    await this.#load(sessionId);
    return this.of(sessionId);
  }

  /** One load at a time a session; what changes meanwhile is read once more after it. */
  async #load(sessionId: string): Promise<void> {
    this.#stale.add(sessionId);
    const running = this.#loading.get(sessionId);
    if (running) return running;
    const loading = this.#loadUntilFresh(sessionId).finally(() => this.#loading.delete(sessionId));
    this.#loading.set(sessionId, loading);
    return loading;
  }

  async #loadUntilFresh(sessionId: string): Promise<void> {
    while (this.#stale.delete(sessionId)) {
      const { files } = this.#staged.of(sessionId);
      const loaded = await Promise.all(
        files.map(async (change) => stagedFile(change, await this.#texts(sessionId, change.path))),
      );
      this.#loaded.set(
        sessionId,
        loaded.sort((a, b) => (a.change.path < b.change.path ? -1 : 1)),
      );
    }
    this.#changed.fire(sessionId);
  }

  async #texts(sessionId: string, path: string): Promise<StagedTexts> {
    const [base, staged] = await Promise.all([
      this.#read(sessionId, path, 'base'),
      this.#read(sessionId, path, 'staged'),
    ]);
    return { base, staged };
  }

  dispose(): void {
    this.#store.dispose();
  }
}
