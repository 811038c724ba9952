/** Keeps the keys across windows. */
export type FoldStore = {
  readonly load: () => readonly string[];
  readonly save: (keys: readonly string[]) => void;
};

const MAX_KEPT = 500;

/** Which sessions and delegates a person has folded: the others show the delegates below them. */
export class Folds {
  readonly #keys: Set<string>;
  readonly #store: FoldStore;

  constructor(store: FoldStore) {
    this.#store = store;
    this.#keys = new Set(store.load());
  }

  isFolded(key: string | null): boolean {
    return key !== null && this.#keys.has(key);
  }

  set(key: string | null, isFolded: boolean): void {
    if (key === null || this.#keys.has(key) === isFolded) return;
    if (isFolded) this.#keys.add(key);
    else this.#keys.delete(key);
    this.#store.save([...this.#keys].slice(-MAX_KEPT));
  }
}
