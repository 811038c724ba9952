import type { Disposable } from '../../../base/disposables.ts';
import { liveEndpoint } from '../../link/endpoint-file.ts';

/** How often it is looked for, in milliseconds. */
const LOOK_MS = 25;

/** `came` resolves with false when another process is the host of the folder and can be reached. */
export function otherHostCame(dataFolder: string): Disposable & { readonly came: Promise<false> } {
  let timer: NodeJS.Timeout | undefined;
  const came = new Promise<false>((resolve) => {
    timer = setInterval(() => {
      const other = liveEndpoint(dataFolder);
      if (other === null || other.isClosing || other.pid === process.pid) return;
      clearInterval(timer);
      resolve(false);
    }, LOOK_MS);
  });
  return { came, dispose: () => clearInterval(timer) };
}
