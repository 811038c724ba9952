import type { Frame, Page } from 'playwright-core';
import { until } from './until.ts';

/** Which webview: of which extension (`publisher.name`), and what it must contain. */
export interface WebviewQuery {
  readonly extensionId?: string;
  /** A selector that its document must match, to tell several apart. Default: `body`. */
  readonly containing?: string;
  readonly milliseconds?: number;
}

/** A document under load is in `pending-frame`; the element is renamed once it stands. */
async function isActive(frame: Frame): Promise<boolean> {
  const element = await frame.frameElement();
  return (await element.getAttribute('id')) === 'active-frame' && (await element.isVisible());
}

async function innerFrame(outer: Frame, query: WebviewQuery): Promise<Frame | undefined> {
  for (const inner of outer.childFrames()) {
    if (!(await isActive(inner))) continue;
    if ((await inner.locator(query.containing ?? 'body').count()) > 0) return inner;
  }
  return undefined;
}

/**
 * The document of a webview that is on screen, once it is loaded. A reload, a hide or a new
 * `webview.html` makes the frame useless: ask again.
 */
export function webview(page: Page, query: WebviewQuery = {}): Promise<Frame> {
  const outers = () =>
    page.frames().filter((frame) => {
      const url = frame.url();
      if (!url.includes('/contrib/webview/browser/pre/index.html')) return false;
      return !query.extensionId || url.includes(`extensionId=${query.extensionId}&`);
    });
  const look = async () => {
    for (const outer of outers()) {
      // A frame may go while it is looked at: then it was not the one.
      const inner = await innerFrame(outer, query).catch(() => undefined);
      if (inner) return inner;
    }
    return undefined;
  };
  return until(`a webview ${JSON.stringify(query)}`, look, {
    saw: () => page.frames().map((frame) => `${frame.name()} ${frame.url().slice(0, 300)}`),
    ...(query.milliseconds !== undefined && { milliseconds: query.milliseconds }),
  });
}
