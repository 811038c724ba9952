import { useEffect, useState } from 'preact/hooks';
import { reduce } from './reduce.ts';
import type { Action, ViewState } from './view-state.ts';

/** Holds the view; a batch of actions makes one change. */
export type Store = {
  readonly get: () => ViewState;
  readonly dispatch: (...actions: readonly Action[]) => void;
  /** Calls `listener` after each change; returns what takes it off again. */
  readonly subscribe: (listener: Listener) => () => void;
};

type Listener = (after: ViewState, before: ViewState) => void;

export function createStore(initial: ViewState): Store {
  let state = initial;
  const listeners = new Set<Listener>();
  return {
    get: () => state,
    dispatch(...actions) {
      const before = state;
      state = actions.reduce(reduce, state);
      if (state === before) return;
      for (const listener of listeners) listener(state, before);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
  };
}

/** The store's view, redrawn on each change. */
export function useView(store: Store): ViewState {
  const [view, setView] = useState(store.get);
  useEffect(() => {
    setView(store.get());
    return store.subscribe((after) => setView(after));
  }, [store]);
  return view;
}
