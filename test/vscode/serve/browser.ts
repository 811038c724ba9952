import { type Browser, chromium } from 'playwright-core';
import { browserExecutable } from '../install/debian.ts';

/** Chromium with what a container needs and without what calls home. */
export function launchBrowser(options: { headless?: boolean } = {}): Promise<Browser> {
  return chromium.launch({
    executablePath: browserExecutable(),
    headless: options.headless ?? true,
    // Whoever opened it closes it, in order.
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--disable-dev-shm-usage',
    ],
  });
}
