/** When an agent-core that ended by itself is started again. Times are milliseconds. */
export type RestartLimits = {
  readonly firstDelay: number;
  readonly maxDelay: number;
  /** More failures than this within `window` and it gives up until a person asks. */
  readonly maxFailures: number;
  readonly window: number;
};

/** What to do after a failure. */
export type RestartDecision =
  | { readonly kind: 'retry'; readonly delay: number }
  | { readonly kind: 'give_up'; readonly failures: number };

const DEFAULT_LIMITS: RestartLimits = {
  firstDelay: 250,
  maxDelay: 10_000,
  maxFailures: 4,
  window: 180_000,
};

/** The failures so far; immutable. */
export class RestartPolicy {
  readonly #limits: RestartLimits;
  readonly #failures: readonly number[];

  constructor(limits: RestartLimits = DEFAULT_LIMITS, failures: readonly number[] = []) {
    this.#limits = limits;
    this.#failures = failures;
  }

  /** The policy and the decision after a failure at `now`. */
  failed(now: number): { readonly policy: RestartPolicy; readonly decision: RestartDecision } {
    const { firstDelay, maxDelay, maxFailures, window } = this.#limits;
    const failures = [...this.#failures.filter((at) => now - at < window), now];
    const policy = new RestartPolicy(this.#limits, failures);
    const decision: RestartDecision =
      failures.length > maxFailures
        ? { kind: 'give_up', failures: failures.length }
        : { kind: 'retry', delay: Math.min(maxDelay, firstDelay * 2 ** (failures.length - 1)) };
    return { policy, decision };
  }

  /** Forgets all failures: a person asked for a new start. */
  reset(): RestartPolicy {
    return new RestartPolicy(this.#limits);
  }
}
