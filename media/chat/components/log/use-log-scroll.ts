import type { Virtualizer } from '@tanstack/virtual-core';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { ScrollPlace } from '../../bridge/drafts.ts';
import type { ViewState } from '../../state/view-state.ts';
import { useServices } from '../shared/context.ts';

/** Nearer to the end than this, in pixels, the log follows what is added. */
export const AT_END = 24;
/** Nearer to the beginning than this, older messages are asked for. */
const NEAR_START = 200;

type LogVirtualizer = Virtualizer<HTMLElement, HTMLElement>;

type LogScroll = {
  readonly atEnd: boolean;
  readonly jumpToEnd: () => void;
  readonly loadOlder: () => void;
};

/** Where the log stands: restored per session, kept for the next time, and near its beginning asking for more. */
export function useLogScroll(virtualizer: LogVirtualizer, view: ViewState): LogScroll {
  const { drafts, post, store } = useServices();
  const [atEnd, setAtEnd] = useState(true);
  const followsEnd = useRef(true);
  const lastTop = useRef(0);
  const restored = useRef<string | null | undefined>(undefined);
  const { sessionId } = view.status;
  const loadOlder = (): void => {
    const now = store.get();
    if (!now.hasBefore || now.loadingBefore) return;
    store.dispatch({ type: 'local_load_before' });
    post({ type: 'load_before' });
  };

  useLayoutEffect(() => {
    if (restored.current === sessionId || view.items.length === 0) return;
    restored.current = sessionId;
    const place = drafts.scroll(sessionId);
    followsEnd.current = place === null || !view.index.has(place.id);
    restore(virtualizer, view, place);
  }, [virtualizer, view, sessionId, drafts]);

  useLayoutEffect(() => {
    if (followsEnd.current) virtualizer.scrollToEnd();
  }, [view.resets]);

  const follow = (): void => {
    followsEnd.current = true;
    virtualizer.scrollToEnd();
  };
  useOwnMessages(view, follow);

  useEffect(() => {
    const element = virtualizer.scrollElement;
    if (element === null) return;
    const onScroll = (): void => {
      const isAtEnd = standsAtEnd(element);
      setAtEnd(isAtEnd);
      // Rows that are measured or added move the end away; only who goes up leaves it.
      if (isAtEnd || element.scrollTop < lastTop.current) followsEnd.current = isAtEnd;
      lastTop.current = element.scrollTop;
      drafts.setScroll(sessionId, isAtEnd ? null : placeOf(virtualizer));
      if (element.scrollTop < NEAR_START && !isAtEnd) loadOlder();
    };
    element.addEventListener('scroll', onScroll, { passive: true });
    return () => element.removeEventListener('scroll', onScroll);
  });

  useSizes(virtualizer, followsEnd, () => setAtEnd(true));
  useReveal(virtualizer, view, followsEnd);

  return { atEnd, jumpToEnd: follow, loadOlder };
}

type Follows = { current: boolean };

/** Keeps up with the sizes of the log and of what is in it. */
function useSizes(virtualizer: LogVirtualizer, followsEnd: Follows, onAtEnd: () => void): void {
  useEffect(() => {
    const element = virtualizer.scrollElement;
    if (element === null) return;
    // A composer or gate that grows takes height from the log: the end stays in sight. What goes away, as by a
    // rollback, may leave nothing to scroll, and no scroll tells of it.
    const observer = new ResizeObserver((entries) => {
      const isFrame = entries.some(({ target }) => target === element);
      if (followsEnd.current && isFrame) virtualizer.scrollToEnd();
      if (!standsAtEnd(element)) return;
      followsEnd.current = true;
      onAtEnd();
    });
    observer.observe(element);
    if (element.firstElementChild !== null) observer.observe(element.firstElementChild);
    return () => observer.disconnect();
  }, [virtualizer, virtualizer.scrollElement]);
}

function useReveal(virtualizer: LogVirtualizer, view: ViewState, followsEnd: Follows): void {
  useEffect(() => {
    const position = view.reveal === null ? undefined : view.index.get(view.reveal.id);
    if (position !== undefined) {
      followsEnd.current = false;
      virtualizer.scrollToIndex(position, { align: alignOf(view, position) });
    }
    // Each request is followed once, however the rows change afterwards.
  }, [view.reveal?.seq]);
}

/** Who speaks to a delegate wants to see the end of its rows. */
function alignOf({ items, status }: ViewState, position: number): 'start' | 'end' {
  const item = items[position];
  const isCard = item?.kind === 'tool' && item.delegate !== undefined;
  return isCard && status.talksTo !== undefined ? 'end' : 'start';
}

/** What the person sends comes into sight, however far up they were reading: as it goes out, and as its row comes. */
function useOwnMessages(view: ViewState, follow: () => void): void {
  const { items, resets, status } = view;
  const seen = useRef({ resets, last: items.at(-1)?.id });
  useEffect(() => {
    if (view.send.pending !== null && status.talksTo === undefined) follow();
  }, [view.send.pending]);
  useLayoutEffect(() => {
    const before = seen.current;
    const last = items.at(-1)?.id;
    seen.current = { resets, last };
    if (before.resets !== resets || before.last === last) return;
    const from = before.last === undefined ? 0 : (view.index.get(before.last) ?? items.length) + 1;
    if (items.slice(from).some(({ kind }) => kind === 'user')) follow();
  }, [items, resets, status.sessionId]);
}

function standsAtEnd({ scrollHeight, scrollTop, clientHeight }: HTMLElement): boolean {
  return scrollHeight - scrollTop - clientHeight <= AT_END;
}

function restore(virtualizer: LogVirtualizer, view: ViewState, place: ScrollPlace): void {
  const position = place === null ? undefined : view.index.get(place.id);
  if (place === null || position === undefined) {
    virtualizer.scrollToEnd();
    return;
  }
  virtualizer.scrollToIndex(position, { align: 'start' });
  requestAnimationFrame(() => {
    const item = virtualizer.getVirtualItems().find(({ index }) => index === position);
    if (item !== undefined) virtualizer.scrollToOffset(item.start + place.offset);
  });
}

function placeOf(virtualizer: LogVirtualizer): ScrollPlace {
  const offset = virtualizer.scrollOffset ?? 0;
  const item = virtualizer.getVirtualItemForOffset(offset);
  return item === undefined ? null : { id: String(item.key), offset: offset - item.start };
}
