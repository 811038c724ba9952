import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Debian's Chromium, or the one that CHROMIUM names. */
export async function launchBrowser(): Promise<Browser> {
  const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium';
  if (!existsSync(executablePath)) {
    throw new Error(
      `No Chromium at ${executablePath}. Run "npm test" once (it installs what is missing), or set CHROMIUM.`,
    );
  }
  return await chromium.launch({ executablePath, args: ARGS });
}
