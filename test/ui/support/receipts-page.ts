import type { Browser, Page } from 'playwright-core';
import { receiptStrings } from '../../../src/extension/receipts/receipt-strings.ts';
import type {
  FromReceipts,
  ReceiptEntry,
  ReceiptsState,
  ToReceipts,
} from '../../../src/protocol/receipts-view.ts';
import type { MediaServer } from './media-server.ts';
import type { ThemeName } from './themes.ts';

type Options = { readonly theme?: ThemeName; readonly width?: number; readonly height?: number };

/** The receipts page in a browser with a fake VS Code behind it. */
export type ReceiptsPage = {
  readonly page: Page;
  /** Hands a message to the page and waits until it has drawn it. */
  readonly tell: (message: ToReceipts) => Promise<void>;
  readonly said: () => Promise<readonly FromReceipts[]>;
  readonly faults: readonly string[];
};

/** Opens the receipts page. */
export async function openReceipts(
  browser: Browser,
  server: MediaServer,
  options: Options = {},
): Promise<ReceiptsPage> {
  const page = await browser.newPage({
    viewport: { width: options.width ?? 800, height: options.height ?? 640 },
  });
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') faults.push(message.text());
  });
  await page.addInitScript(() => {
    const said: unknown[] = [];
    Object.assign(globalThis, {
      said,
      acquireVsCodeApi: () => ({
        postMessage: (message: unknown) => said.push(structuredClone(message)),
      }),
    });
  });
  await page.goto(server.url(options.theme ?? 'dark', '', 'receipts'));
  const said = async (): Promise<readonly FromReceipts[]> =>
    (await page.evaluate(() => (globalThis as { said?: unknown }).said)) as FromReceipts[];
  await page.waitForFunction(() => ((globalThis as { said?: unknown[] }).said ?? []).length > 0);
  return {
    page,
    faults,
    said,
    tell: async (message) => {
      await page.evaluate(async (given) => {
        window.postMessage(JSON.parse(given), '*');
        await new Promise((resolve) => setTimeout(resolve, 0));
        for (let frame = 0; frame < 4; frame += 1) await new Promise(requestAnimationFrame);
      }, JSON.stringify(message));
    },
  };
}

/** A receipt with what a test cares about. */
export function receipt(part: Partial<ReceiptEntry>): ReceiptEntry {
  return {
    seq: 1,
    hash: '9f2b51c0de77aa00112233445566778899aabbccddeeff00112233445566778f',
    at: 1_760_000_000_000,
    controlId: 'ctl_01JTEST',
    method: 'session/cancel',
    asked: 'Stop',
    status: 'accepted',
    happened: 'stopped',
    outcome: 'cancelled',
    refusal: null,
    who: 'VS Code',
    role: 'owner',
    door: 'acp',
    facts: [{ label: 'session_id', value: 's1' }],
    ...part,
  };
}

/** The page's state with what a test cares about. */
export function bareState(part: Partial<ReceiptsState>): ReceiptsState {
  return {
    title: 'Make the greeting polite',
    stream: 'session',
    hasSession: true,
    filter: { method: null, status: null },
    methods: [
      { value: 'session/cancel', label: 'Stop' },
      { value: 'session/rollback', label: 'Roll back' },
    ],
    entries: [],
    hasOlder: false,
    loading: false,
    problem: null,
    verify: { kind: 'none' },
    ...part,
  };
}

/** The message that shows that state. */
export function receiptsState(part: Partial<ReceiptsState>): ToReceipts {
  return { type: 'state', strings: receiptStrings(), state: bareState(part) };
}

/** A timeline with every kind of receipt, newest first. */
export const TIMELINE: readonly ReceiptEntry[] = [
  receipt({
    seq: 7,
    asked: 'Roll back',
    method: 'session/rollback',
    happened: 'rolled back',
    outcome: 'rolled_back',
    at: 1_760_086_460_000,
    facts: [
      { label: 'session_id', value: 's1' },
      { label: 'checkpointId', value: 'turn_0192f0c1a2b37c44a1d0' },
      { label: 'lastEventId', value: '118' },
      {
        label: 'prefix_hash',
        value: '0b1c8e7d5f9a42b36e51f0a9d7c3b2e1908f7a6b5c4d3e2f1a0b9c8d7e6f5a4b',
      },
    ],
  }),
  receipt({
    seq: 6,
    asked: 'Stop',
    status: 'idempotent',
    happened: 'nothing was running any more',
    outcome: 'already_cancelled',
    at: 1_760_086_400_000,
  }),
  receipt({ seq: 5, at: 1_760_086_390_000 }),
  receipt({
    seq: 4,
    asked: 'Interrupt',
    method: 'session/inject',
    happened: 'accepted',
    outcome: 'accepted',
  }),
  receipt({
    seq: 3,
    asked: 'Steer',
    method: 'session/inject',
    status: 'rejected',
    happened: 'refused',
    outcome: 'rejected',
    refusal: { words: 'No turn was running.', reason: 'no_active_prompt' },
    who: 'a-very-long-client-id-of-some-other-program-that-drives-this-session-from-far-away',
    role: 'observer',
  }),
  receipt({
    seq: 2,
    asked: 'Change the mode',
    method: 'session/set_mode',
    happened: 'accepted',
    outcome: 'accepted',
  }),
];
