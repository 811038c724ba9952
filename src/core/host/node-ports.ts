import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../../base/clock.ts';
import type { Ids } from '../../base/ids.ts';

/** A longer timer of Node fires at once. Source: Node.js documentation, Timers, setTimeout. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The machine's clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: async (ms, signal) => {
    try {
      for (let left = ms; ; left -= LONGEST_TIMER_MS) {
        const step = Math.min(left, LONGEST_TIMER_MS);
        await delay(step, undefined, signal === undefined ? {} : { signal });
        if (left <= LONGEST_TIMER_MS) return;
      }
    } catch (failure) {
      throw signal?.aborted === true ? signal.reason : failure;
    }
  },
};

let lastMs = 0;
let counter = 0;

/** Random identifiers. Unique ones sort by time, also within a millisecond (RFC 9562, UUID version 7). */
export const randomIds: Ids = {
  unique: () => {
    const now = Math.max(Date.now(), lastMs);
    counter = now === lastMs ? counter + 1 : 0;
    if (counter > 0xfff) counter = 0;
    lastMs = counter === 0 && now === lastMs ? now + 1 : now;
    const random = randomBytes(8);
    random[0] = ((random[0] ?? 0) & 0x3f) | 0x80;
    const hex =
      lastMs.toString(16).padStart(12, '0') +
      (0x7000 | counter).toString(16) +
      random.toString('hex');
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  },
  secret: () => randomBytes(32).toString('hex'),
};

/** SHA-256 of UTF-8 text, lower-case hexadecimal. */
export function sha256(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex');
}
