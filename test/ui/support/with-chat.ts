import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { launchBrowser } from './browser.ts';
import { type ChatPage, openChat } from './chat-page.ts';
import { type MediaServer, startMediaServer } from './media-server.ts';

type Options = Parameters<typeof openChat>[2];

/** One browser for a file's tests; each test gets a fresh page, which must end without a fault. */
export function withChat(): (
  use: (chat: ChatPage) => Promise<void>,
  options?: Options,
) => Promise<void> {
  let browser: Browser | undefined;
  let server: MediaServer | undefined;
  beforeAll(async () => {
    [browser, server] = await Promise.all([launchBrowser(), startMediaServer()]);
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });
  return async (use, options) => {
    if (browser === undefined || server === undefined) throw new Error('The browser is not up.');
    const chat = await openChat(browser, server, options);
    await use(chat);
    expect(chat.faults).toEqual([]);
    await chat.page.close();
  };
}
