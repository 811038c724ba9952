import type { Disposable } from '../../../base/disposables.ts';
import { lockIdentity } from '../../journal/lock/lock-file.ts';
import { readEndpoint } from '../../link/endpoint-file.ts';

/** How often a host looks whether it can still be found, in milliseconds. */
const LOOK_MS = 2_000;

/** What a host wants to know of the way to it. */
export type EndpointWatch = {
  readonly dataFolder: string;
  readonly token: string;
  /** False once its socket is gone, as after a cleaning of temporary files. */
  readonly isReachable: () => boolean;
  /** Its word in the data folder or its socket is gone, and the folder is still held: to be put right. Never rejects. */
  readonly onUnfindable: () => Promise<void>;
  /** The data folder that it holds is gone. Called once. */
  readonly onLost: () => void;
};

/** Looks after the way to a host that holds its data folder, for as long as it runs. */
export function watchEndpoint(watch: EndpointWatch): Disposable {
  const { dataFolder, token } = watch;
  const held = lockIdentity(dataFolder);
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  const again = (): void => {
    if (isOver) return;
    timer = setTimeout(() => void look(), LOOK_MS);
    timer.unref();
  };
  const look = async (): Promise<void> => {
    if (isLost(held, lockIdentity(dataFolder))) {
      watch.onLost();
      return;
    }
    if (readEndpoint(dataFolder)?.token !== token || !watch.isReachable())
      await watch.onUnfindable();
    again();
  };
  again();
  return {
    dispose: () => {
      isOver = true;
      clearTimeout(timer);
    },
  };
}

/** The lock is on the file that was held: who finds another one there, or makes one, is the host of another folder. */
function isLost(held: string | null | undefined, found: string | null | undefined): boolean {
  if (found === null) return true;
  return held !== undefined && found !== undefined && held !== found;
}
