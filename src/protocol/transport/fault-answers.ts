import type { Frame } from './frame-port.ts';

/** How many answers to unusable lines go out per second; one more says that the others get none. */
export const ANSWERS_PER_SECOND = 10;

/**
 * Decides which unusable lines are answered. The answers carry id null; without a limit a peer that writes garbage
 * would be flooded with them, and two such peers would never stop.
 */
export class FaultAnswers {
  readonly #now: () => number;
  #windowStart = Number.NEGATIVE_INFINITY;
  #inWindow = 0;

  /** `now` in milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** The error to send, or null when this one stays unanswered. */
  answer(code: number, message: string): object | null {
    const now = this.#now();
    if (now - this.#windowStart >= 1000) {
      this.#windowStart = now;
      this.#inWindow = 0;
    }
    this.#inWindow += 1;
    if (this.#inWindow <= ANSWERS_PER_SECOND) return errorFrame(code, message);
    if (this.#inWindow > ANSWERS_PER_SECOND + 1) return null;
    return errorFrame(code, 'Too many unusable lines: the others of this second are not answered');
  }
}

function errorFrame(code: number, message: string): object {
  return { jsonrpc: '2.0', id: null, error: { code, message } };
}

/** What to say of a line that was refused before it was parsed. */
export function faultMessage(fault: Exclude<Frame, string>): string {
  return fault.fault === 'too_long'
    ? 'Parse error: the line is longer than this side accepts'
    : 'Parse error: the line is not valid UTF-8';
}
