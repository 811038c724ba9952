import type { Browser, Page } from 'playwright-core';
import type { FromChat, ToChat } from '../../../src/protocol/chat.ts';
import type { MediaServer } from './media-server.ts';
import type { ThemeName } from './themes.ts';

type Options = {
  readonly theme?: ThemeName;
  readonly width?: number;
  readonly height?: number;
  readonly bodyClass?: string;
};

/** The webview in a browser with a fake VS Code behind it. */
export type ChatPage = {
  readonly page: Page;
  /** Hands messages to the webview and waits until it has drawn them. */
  readonly tell: (...messages: readonly ToChat[]) => Promise<void>;
  /** What the webview has said so far, of one type. */
  readonly said: <T extends FromChat['type']>(
    type: T,
  ) => Promise<readonly Extract<FromChat, { type: T }>[]>;
  /** Throws the page away and makes it anew, as VS Code does with a hidden webview. */
  readonly reload: () => Promise<void>;
  /** Uncaught errors and refused loads, which no test wants. */
  readonly faults: readonly string[];
};

declare global {
  var said: FromChat[];
}

/** Opens the chat. The fake keeps the webview's state over reloads, as VS Code does. */
export async function openChat(
  browser: Browser,
  server: MediaServer,
  options: Options = {},
): Promise<ChatPage> {
  const page = await browser.newPage({
    viewport: { width: options.width ?? 360, height: options.height ?? 640 },
  });
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') faults.push(message.text());
  });
  await page.addInitScript(() => {
    globalThis.said = [];
    Object.assign(globalThis, {
      acquireVsCodeApi: () => ({
        postMessage: (message: FromChat) => globalThis.said.push(structuredClone(message)),
        getState: () => JSON.parse(sessionStorage.getItem('state') ?? 'null'),
        setState: (state: unknown) => sessionStorage.setItem('state', JSON.stringify(state)),
      }),
    });
  });
  await page.goto(server.url(options.theme ?? 'dark', options.bodyClass));
  const ready = () =>
    page.waitForFunction(() => globalThis.said.some(({ type }) => type === 'ready'));
  await ready();
  return {
    page,
    faults,
    async tell(...messages) {
      await page.evaluate(async (given) => {
        const parsed: readonly unknown[] = JSON.parse(given);
        for (const message of parsed) window.postMessage(message, '*');
        // Messages come as tasks, are drawn at the next frame, and measured in the one after.
        await new Promise((resolve) => setTimeout(resolve, 0));
        for (let frame = 0; frame < 4; frame += 1) await new Promise(requestAnimationFrame);
      }, JSON.stringify(messages));
    },
    async said(type) {
      const all = await page.evaluate(() => globalThis.said);
      return all.filter((message) => message.type === type) as never;
    },
    async reload() {
      await page.reload();
      await ready();
    },
  };
}
