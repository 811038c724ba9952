import type { Disposable } from '../../../base/disposables.ts';
import { readEndpoint } from '../../link/endpoint-file.ts';

/** How often a host looks whether it can still be found, in milliseconds. */
const LOOK_MS = 2_000;

/** Calls back once when the host can't be found any more: its data folder was removed, or its word in it. */
export function watchEndpoint(dataFolder: string, token: string, onLost: () => void): Disposable {
  const timer = setInterval(() => {
    if (readEndpoint(dataFolder)?.token === token) return;
    clearInterval(timer);
    onLost();
  }, LOOK_MS);
  timer.unref();
  return { dispose: () => clearInterval(timer) };
}
