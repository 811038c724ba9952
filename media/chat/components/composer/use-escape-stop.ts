import { useEffect, useState } from 'preact/hooks';
import { isBusy, isStopping } from '../../state/stop.ts';
import type { Services } from '../shared/context.ts';

/** How long the second press may take, in milliseconds. */
const SECOND_PRESS_MS = 1_500;

/** Escape twice stops the running turn. True after the first press, while the second one counts. */
export function useEscapeStop({ store, post }: Services): boolean {
  const [isArmed, setIsArmed] = useState(false);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const disarm = (): void => {
      clearTimeout(timer);
      timer = undefined;
      setIsArmed(false);
    };
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.key !== 'Escape' || event.defaultPrevented || event.isComposing || event.repeat)
        return;
      const { status, stop } = store.get();
      if (!isBusy(status) || isStopping(stop, status)) {
        disarm();
        return;
      }
      if (timer === undefined) {
        timer = setTimeout(disarm, SECOND_PRESS_MS);
        setIsArmed(true);
        return;
      }
      disarm();
      store.dispatch({ type: 'local_stop' });
      post({ type: 'stop' });
    };
    window.addEventListener('keydown', onKeyDown);
    return () => {
      window.removeEventListener('keydown', onKeyDown);
      clearTimeout(timer);
    };
  }, [store]);
  return isArmed;
}
