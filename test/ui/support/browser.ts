import { type Browser, chromium } from 'playwright-core';
import { browserExecutable } from '../../vscode/install/debian.ts';

const ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** The Chromium that the host tests use, too. */
export async function launchBrowser(): Promise<Browser> {
  return await chromium.launch({ executablePath: browserExecutable(), args: ARGS });
}
