import type { ElsewhereAnswer } from '../state/gates.ts';

/** Tells the questions of a turn that a lasting answer changed the rules: some of them may need no person any more. */
export class RuleNews {
  readonly #listeners = new Set<() => void>();

  /** The rules changed. */
  changed(): void {
    for (const listener of [...this.#listeners]) listener();
  }

  /** Resolves with the first answer that changed rules give, until `over` aborts; never where they give none. */
  answer(
    decide: () => Promise<ElsewhereAnswer | null>,
    over: AbortSignal,
  ): Promise<ElsewhereAnswer> {
    return new Promise((resolve) => {
      const look = (): void => {
        decide().then(
          (answer) => answer !== null && resolve(answer),
          // A rule that can't be read leaves the question to the person.
          () => undefined,
        );
      };
      this.#listeners.add(look);
      over.addEventListener('abort', () => this.#listeners.delete(look), { once: true });
    });
  }
}
