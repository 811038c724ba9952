import type { Disposable } from '../../../base/disposables.ts';

/** How long a host without clients and work stays, in milliseconds, unless `PILOTHOUSE_IDLE_MS` says otherwise. */
const DEFAULT_IDLE_MS = 300_000;
/** How long to wait before looking again, at least. */
const LOOK_MS = 1_000;
/** A longer timer of Node fires at once. */
const LONGEST_MS = 2 ** 31 - 1;

/** The idle time that the environment asks for; what is no number of milliseconds counts as nothing said. */
export function idleMs(environment: NodeJS.ProcessEnv): number {
  const asked = environment['PILOTHOUSE_IDLE_MS']?.trim() ?? '';
  return /^\d{1,10}$/.test(asked) ? Math.min(Number(asked), LONGEST_MS) : DEFAULT_IDLE_MS;
}

/** How long a host waits for the door that started it, at least, in milliseconds. */
const FIRST_VISIT_MS = 5_000;

/** Calls back once when nothing was needed of the host for the idle time, and no sooner than its first client can come. */
export class IdleWatch implements Disposable {
  readonly #ms: number;
  #wait: number;
  readonly #isNeeded: () => boolean;
  readonly #onIdle: () => void;
  #timer: NodeJS.Timeout | null = null;

  constructor(ms: number, isNeeded: () => boolean, onIdle: () => void) {
    this.#ms = ms;
    this.#wait = Math.max(ms, FIRST_VISIT_MS);
    this.#isNeeded = isNeeded;
    this.#onIdle = onIdle;
    this.look();
  }

  /** Something may have begun or ended. */
  look(): void {
    if (this.#isNeeded()) {
      this.#wait = this.#ms;
      this.dispose();
    } else
      this.#timer ??= setTimeout(() => {
        this.#timer = null;
        if (this.#isNeeded()) this.#again();
        else this.#onIdle();
      }, this.#wait);
  }

  /** It is needed and nobody said so: nobody may say when it is no more. */
  #again(): void {
    this.#wait = this.#ms;
    this.#timer = setTimeout(
      () => {
        this.#timer = null;
        if (this.#isNeeded()) this.#again();
        else this.look();
      },
      Math.max(this.#ms, LOOK_MS),
    );
  }

  dispose(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }
}
