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

  useEffect(() => {
    const element = virtualizer.scrollElement;
    if (element === null) return;
    const onScroll = (): void => {
      const fromEnd = element.scrollHeight - element.scrollTop - element.clientHeight;
      const isAtEnd = fromEnd <= AT_END;
      setAtEnd(isAtEnd);
      followsEnd.current = isAtEnd;
      drafts.setScroll(sessionId, isAtEnd ? null : placeOf(virtualizer));
      if (element.scrollTop < NEAR_START && !isAtEnd) loadOlder();
    };
    element.addEventListener('scroll', onScroll, { passive: true });
    return () => element.removeEventListener('scroll', onScroll);
  });

  useEffect(() => {
    const element = virtualizer.scrollElement;
    if (element === null) return;
    // A composer or gate that grows takes height from the log: the end stays in sight.
    const observer = new ResizeObserver(() => {
      if (followsEnd.current) virtualizer.scrollToEnd();
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [virtualizer, virtualizer.scrollElement]);

  useEffect(() => {
    const position = view.reveal === null ? undefined : view.index.get(view.reveal.id);
    if (position !== undefined) virtualizer.scrollToIndex(position, { align: 'start' });
    // Each request is followed once, however the rows change afterwards.
  }, [view.reveal?.seq]);

  return { atEnd, jumpToEnd: () => virtualizer.scrollToEnd(), loadOlder };
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
