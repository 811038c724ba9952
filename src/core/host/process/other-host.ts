import type { Disposable } from '../../../base/disposables.ts';
import { reachHost } from '../../door/reach-host.ts';
import { liveEndpoint } from '../../link/endpoint-file.ts';

/** How often it is looked for, in milliseconds. */
const LOOK_MS = 25;
/** How long one that is there may take to say so, in milliseconds. */
const ANSWER_MS = 2_000;

/**
 * `came` resolves with false when another process is the host of the folder and can be reached. What the folder says
 * is not enough: the process that it names may be one that got the id of a host that died.
 */
export function otherHostCame(
  dataFolder: string,
  version: string,
): Disposable & { readonly came: Promise<false> } {
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  const came = new Promise<false>((resolve) => {
    const look = async (): Promise<void> => {
      const other = liveEndpoint(dataFolder);
      if (other !== null && !other.isClosing && other.pid !== process.pid) {
        const reached = await reachHost(other, { asks: 'status', version }, ANSWER_MS);
        if (reached.kind === 'welcome') {
          reached.socket.destroy();
          resolve(false);
          return;
        }
      }
      if (!isOver) timer = setTimeout(() => void look(), LOOK_MS);
    };
    void look();
  });
  return {
    came,
    dispose: () => {
      isOver = true;
      clearTimeout(timer);
    },
  };
}
