import type { Delegates } from '../tool.ts';
import { abortReason } from './aborts.ts';
import type { TurnContext } from './turn-context.ts';

/** The delegates of a running call, and what became of its wait for one. */
export type ParkedDelegates = {
  readonly delegates: Delegates;
  /** True once an interrupt ended the wait: what is left of the batch is not wanted either. */
  readonly wasInterrupted: () => boolean;
};

/**
 * A call that waits for a delegate is a park: it lies between `idle_pre` and `idle_post`, and an interrupt ends it
 * (design §4.8). What waits for a seam is delivered behind the batch.
 */
export function parking(turn: TurnContext, delegates: Delegates): ParkedDelegates {
  let wasInterrupted = false;
  return {
    wasInterrupted: () => wasInterrupted,
    delegates: {
      start: (request) => delegates.start(request),
      message: (loopId, request) => delegates.message(loopId, request),
      list: () => delegates.list(),
      stop: (loopId) => delegates.stop(loopId),
      stopAll: () => delegates.stopAll(),
      result: async (requestId, signal, watch) => {
        await turn.announceSeam('idle_pre');
        const attention = turn.attention();
        const ended = AbortSignal.any([signal, attention]);
        const result = await delegates.result(requestId, ended, watch);
        wasInterrupted = attention.aborted && abortReason(attention).kind === 'interrupted';
        if (!signal.aborted) await turn.announceSeam('idle_post');
        return result;
      },
    },
  };
}
