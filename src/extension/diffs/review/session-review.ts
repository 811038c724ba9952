import type { Disposable } from '../../../base/disposables.ts';
import { Emitter } from '../../../base/emitter.ts';
import type { ChangedFile } from '../../../protocol/listed-shapes.ts';
import type { KeptChanges } from './kept-changes.ts';
import { type FileTexts, type ReviewFile, reviewFile } from './review-file.ts';

/** What a review needs to know about the session and the files. */
export type ReviewPorts = {
  readonly list: (sessionId: string) => Promise<readonly ChangedFile[]>;
  readonly text: (
    sessionId: string,
    path: string,
    side: 'before' | 'after',
  ) => Promise<string | null>;
  /** The text of a file now, from the editor if it is open; null if there is none. */
  readonly current: (path: string) => Promise<string | null>;
  readonly kept: KeptChanges;
};

/** How many files are looked at side by side. */
const PARALLEL = 8;

/** The changes of one session with what is still to be reviewed of them. */
export class SessionReview implements Disposable {
  readonly sessionId: string;
  readonly #ports: ReviewPorts;
  readonly #changed = new Emitter<SessionReview>();
  #files: readonly ReviewFile[] = [];
  #isLoaded = false;
  #loading: Promise<void> | null = null;
  #again = false;

  /** Fires when files or what is pending of them changed. */
  readonly onDidChange = this.#changed.event;

  constructor(sessionId: string, ports: ReviewPorts) {
    this.sessionId = sessionId;
    this.#ports = ports;
  }

  /** All files that the session changed, by path. */
  get files(): readonly ReviewFile[] {
    return this.#files;
  }

  /** Those with something left to review. */
  get pendingFiles(): readonly ReviewFile[] {
    return this.#files.filter(({ pending }) => pending.length > 0);
  }

  get isLoaded(): boolean {
    return this.#isLoaded;
  }

  file(path: string): ReviewFile | null {
    return this.#files.find((file) => file.path === path) ?? null;
  }

  /** Asks for everything again. One load at a time: what is asked for meanwhile is done once, after it. */
  async refresh(): Promise<void> {
    this.#again = true;
    this.#loading ??= this.#loadUntilFresh().finally(() => {
      this.#loading = null;
    });
    return this.#loading;
  }

  async #loadUntilFresh(): Promise<void> {
    while (this.#again) {
      this.#again = false;
      const listed = await this.#ports.list(this.sessionId);
      this.#files = await mapLimited(listed, PARALLEL, async (file) => this.#look(file));
      this.#isLoaded = true;
    }
    this.#changed.fire(this);
  }

  async #look(file: ChangedFile): Promise<ReviewFile> {
    const [before, after, current] = await Promise.all([
      this.#ports.text(this.sessionId, file.path, 'before'),
      this.#ports.text(this.sessionId, file.path, 'after'),
      this.#ports.current(file.path),
    ]);
    return this.#review(file, { before, after }, current);
  }

  #review(
    file: { path: string; state: ChangedFile['state'] },
    texts: FileTexts,
    current: string | null,
  ): ReviewFile {
    return reviewFile(file, texts, this.#ports.kept.of(this.sessionId, file.path), current);
  }

  /** Looks at one file again, because its text or its marks changed. Does nothing for a file that is not listed. */
  async refreshFile(path: string): Promise<void> {
    const known = this.file(path);
    if (!known) return;
    const current = await this.#ports.current(path);
    const file = this.#review(known, known.texts, current);
    this.#files = this.#files.map((other) => (other.path === path ? file : other));
    this.#changed.fire(this);
  }

  /** Marks things of a file as reviewed; all that is pending without `ids`. */
  async keep(path: string, ids?: readonly string[]): Promise<void> {
    const pending = this.file(path)?.pending.map(({ id }) => id) ?? [];
    await this.#ports.kept.keep(this.sessionId, path, ids ?? pending);
    await this.refreshFile(path);
  }

  dispose(): void {
    this.#changed.dispose();
  }
}

async function mapLimited<T, R>(
  items: readonly T[],
  limit: number,
  run: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const entries = items.entries();
  const work = async (): Promise<void> => {
    for (const [index, item] of entries) results[index] = await run(item);
  };
  await Promise.all(Array.from({ length: limit }, work));
  return results;
}
