import { setTimeout as delay } from 'node:timers/promises';
import type { Locator } from 'playwright-core';

/** How long helpers wait for the workbench before they give up, in milliseconds. */
export const patience = 20_000;

/** A condition did not come true in time; the message says which, and what was there instead. */
export class WaitError extends Error {
  readonly code = 'wait_timed_out';
}

/**
 * Resolves with the first value of `look` that is not undefined, false or null, looking every
 * 50 ms. Rejects with {@link WaitError} after `milliseconds`; `saw` adds what was found instead.
 */
export async function until<T>(
  what: string,
  look: () => Promise<T> | T,
  options: { milliseconds?: number; saw?: () => Promise<unknown> | unknown } = {},
): Promise<Exclude<T, undefined | null | false>> {
  const { milliseconds = patience, saw } = options;
  const deadline = performance.now() + milliseconds;
  for (;;) {
    const value = await look();
    if (value !== undefined && value !== null && value !== false) {
      return value as Exclude<T, undefined | null | false>;
    }
    if (performance.now() >= deadline) break;
    await delay(50);
  }
  const instead = saw ? `; saw ${JSON.stringify(await saw())}` : '';
  throw new WaitError(`Waited ${milliseconds} ms for: ${what}${instead}`);
}

/** Whether `text` is, or matches, what is wanted. */
export function matches(text: string, wanted: string | RegExp): boolean {
  return typeof wanted === 'string' ? text === wanted : wanted.test(text);
}

/** Text as a person reads it: icons, non-breaking and repeated spaces gone. */
export function plain(text: string): string {
  return text
    .replace(/[\u{E000}-\u{F8FF}]/gu, '')
    .replace(/\s+/g, ' ')
    .trim();
}

/** The text of an element as it is laid out for a person, lines joined by spaces. */
export async function shownText(element: Locator): Promise<string> {
  // biome-ignore lint/performance/useDomNodeTextContent: textContent joins the words of two blocks.
  return plain(await element.innerText());
}
