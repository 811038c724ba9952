import * as z from 'zod/mini';

/** Where marks are stored: the workspace's state. */
export type KeptStore = {
  get(key: string): unknown;
  update(key: string, value: unknown): Thenable<void>;
};

const KEY = 'keptChanges';
const SHAPE = z.record(z.string(), z.record(z.string(), z.array(z.string())));
/** Sessions whose marks are remembered; the one marked longest ago is forgotten first. */
const MAX_SESSIONS = 100;

/** Which changes of which sessions a person has marked as reviewed. */
export class KeptChanges {
  readonly #store: KeptStore;

  constructor(store: KeptStore) {
    this.#store = store;
  }

  /** The marked ids of a file. */
  of(sessionId: string, path: string): ReadonlySet<string> {
    return new Set(this.#read()[sessionId]?.[path] ?? []);
  }

  async keep(sessionId: string, path: string, ids: readonly string[]): Promise<void> {
    const { [sessionId]: files = {}, ...others } = this.#read();
    const marked = new Set([...(files[path] ?? []), ...ids]);
    const sessions = [
      ...Object.entries(others),
      [sessionId, { ...files, [path]: [...marked] }] as const,
    ].slice(-MAX_SESSIONS);
    await this.#store.update(KEY, Object.fromEntries(sessions));
  }

  /** Forgets the marks of a session. */
  async forget(sessionId: string): Promise<void> {
    const { [sessionId]: gone, ...others } = this.#read();
    if (gone) await this.#store.update(KEY, others);
  }

  #read(): z.infer<typeof SHAPE> {
    const parsed = z.safeParse(SHAPE, this.#store.get(KEY));
    return parsed.success ? parsed.data : {};
  }
}
