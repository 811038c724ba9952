import type { Clock } from '../../../base/clock.ts';
import {
  checkGrace,
  NOT_STOPPING,
  pressStop,
  STOP_GRACE_MS,
  type StopState,
} from '../../status-bar/stop-state.ts';

/** One session's Stop: from the press until every prompt the agent has was answered. */
export class Stopping {
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #onOverdue: () => void;
  #state: StopState = NOT_STOPPING;

  constructor(clock: Clock, signal: AbortSignal, onOverdue: () => void) {
    this.#clock = clock;
    this.#signal = signal;
    this.#onOverdue = onOverdue;
  }

  get state(): StopState {
    return this.#state;
  }

  get isUnderWay(): boolean {
    return this.#state.kind === 'stopping';
  }

  /** Stop was pressed; a second press changes nothing. `hasPrompt`: there is a turn to wait for. */
  press(hasPrompt: boolean): void {
    const before = this.#state;
    this.#state = pressStop(before, this.#clock.now(), hasPrompt);
    if (this.#state !== before) void this.#watchGrace();
  }

  /** Nothing is left to wait for. */
  settle(): void {
    this.#state = NOT_STOPPING;
  }

  async #watchGrace(): Promise<void> {
    await this.#clock.sleep(STOP_GRACE_MS, this.#signal).catch(() => undefined);
    const checked = checkGrace(this.#state, this.#clock.now());
    if (checked === this.#state) return;
    this.#state = checked;
    this.#onOverdue();
  }
}
