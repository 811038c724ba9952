import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import type { OpenOptions } from './driver/prepare.ts';
import { openVsCode, type VsCodeWindow } from './driver.ts';

const opening = 180_000;

/**
 * One VS Code for all tests of a file or `describe`: opened before, closed after, with a screenshot
 * of each failure under `test/output/screens/failed`. Fails when something had to be killed.
 */
export function useVsCode(options: () => OpenOptions | Promise<OpenOptions>): () => VsCodeWindow {
  let window: VsCodeWindow | undefined;
  const current = () => {
    if (!window) throw new Error('VS Code is not open: use it inside a test.');
    return window;
  };
  beforeAll(async () => {
    window = await openVsCode(await options());
  }, opening);
  afterEach(async ({ task }) => {
    if (task.result?.state !== 'fail' || !window) return;
    const name = task.name.replace(/[^\p{L}\p{N}]+/gu, '-').slice(0, 80);
    await window.screenshot(`failed/${name}`).catch(() => undefined); // The window may be gone.
  });
  afterAll(async () => {
    const killed = await window?.dispose();
    expect(killed ?? [], 'processes that outlived VS Code').toEqual([]);
  }, 60_000);
  return current;
}
