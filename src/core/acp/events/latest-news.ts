/** What a connection says of whether its client reads. */
export type Pace = { readonly isBehind: boolean; taken(): Promise<void> };

/**
 * Tells news of which only the newest of each kind counts. A client that does not read is told the newest when it
 * reads again, so that however much happens meanwhile, no more waits than there are kinds.
 */
export class LatestNews {
  readonly #pace: Pace;
  readonly #waiting = new Map<string, () => void>();

  constructor(pace: Pace) {
    this.#pace = pace;
  }

  /** `key` names the kind. */
  tell(key: string, send: () => void): void {
    if (this.#waiting.size === 0 && !this.#pace.isBehind) {
      send();
      return;
    }
    const isFirst = this.#waiting.size === 0;
    // The newest of each kind comes in the place of its last change.
    this.#waiting.delete(key);
    this.#waiting.set(key, send);
    if (isFirst) void this.#tellWhenRead();
  }

  async #tellWhenRead(): Promise<void> {
    await this.#pace.taken();
    const due = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const send of due) send();
  }
}
