import type { Virtualizer } from '@tanstack/virtual-core';
import type { JSX, RefObject } from 'preact';
import { memo } from 'preact/compat';
import { useEffect, useRef } from 'preact/hooks';
import type { ChatItem } from '../../../../src/protocol/chat.ts';
import { isBusy } from '../../state/stop.ts';
import { unknownSteps } from '../../state/turn-end.ts';
import type { ViewState } from '../../state/view-state.ts';
import { useServices, useStrings } from '../shared/context.ts';
import { Icon } from '../shared/icon.tsx';
import { catchLinks } from '../shared/links.ts';
import { useVirtualizer } from '../shared/virtualizer.ts';
import { estimatedHeight, Row, rowLabel } from './row.tsx';
import { moveBetweenRows } from './row-focus.ts';
import { AT_END, useLogScroll } from './use-log-scroll.ts';

type LogVirtualizer = Virtualizer<HTMLElement, HTMLElement>;

const OLDER_BUTTON_HEIGHT = 40;

const MemoRow = memo(Row);

/** The conversation: only the rows in sight are in the page. */
export function Log({ view }: { readonly view: ViewState }): JSX.Element {
  const strings = useStrings();
  const { post } = useServices();
  const scroller = useRef<HTMLDivElement>(null);
  const virtualizer = useLogVirtualizer(scroller, view);
  const { atEnd, jumpToEnd, loadOlder } = useLogScroll(virtualizer, view);
  useEffect(
    () => (scroller.current === null ? undefined : catchLinks(scroller.current, post)),
    [post],
  );
  return (
    <div class="log-frame">
      <div
        ref={scroller}
        class="log"
        role="log"
        aria-live="off"
        aria-label={strings.logLabel}
        aria-busy={view.status.activity === 'running'}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the log scrolls and has to be reached by keyboard
        tabIndex={0}
        onKeyDown={(event) =>
          moveBetweenRows(event, view.items.length, (index) => virtualizer.scrollToIndex(index))
        }
      >
        <div class="log-size" style={{ height: `${virtualizer.getTotalSize()}px` }}>
          {view.hasBefore && (
            <button type="button" class="older link-button" onClick={loadOlder}>
              {view.loadingBefore ? strings.loadingOlder : strings.loadOlder}
            </button>
          )}
          <Rows view={view} virtualizer={virtualizer} />
        </div>
      </div>
      {!atEnd && (
        <button type="button" class="jump" onClick={jumpToEnd}>
          <Icon name="arrow-down" />
          {strings.jumpToLatest}
        </button>
      )}
    </div>
  );
}

function useLogVirtualizer(
  scroller: RefObject<HTMLDivElement | null>,
  { items, hasBefore }: ViewState,
): LogVirtualizer {
  return useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => heightAt(items, index),
    getItemKey: (index) => items[index]?.id ?? index,
    paddingStart: hasBefore ? OLDER_BUTTON_HEIGHT : 8,
    paddingEnd: 12,
    overscan: 4,
    anchorTo: 'end',
    followOnAppend: true,
    scrollEndThreshold: AT_END,
  });
}

type RowsProps = { readonly view: ViewState; readonly virtualizer: LogVirtualizer };

function Rows({ view, virtualizer }: RowsProps): JSX.Element {
  const strings = useStrings();
  const { items } = view;
  const rows = virtualizer.getVirtualItems();
  const retryAt = isBusy(view.status) ? -1 : items.length - 1;
  const unknown = retryAt === -1 ? 0 : unknownSteps(items);
  return (
    <div class="rows" style={{ transform: `translateY(${rows[0]?.start ?? 0}px)` }}>
      {rows.map(({ index, key }) => {
        const item = items[index];
        return (
          item !== undefined && (
            <article
              key={key}
              ref={virtualizer.measureElement}
              data-index={index}
              data-row={item.id}
              class={`row row-${item.kind}`}
              aria-label={rowLabel(item, strings)}
              aria-setsize={items.length}
              aria-posinset={index + 1}
              tabIndex={-1}
            >
              <MemoRow
                item={item}
                mayRetry={index === retryAt}
                unknown={index === retryAt ? unknown : 0}
              />
            </article>
          )
        );
      })}
    </div>
  );
}

function heightAt(items: readonly ChatItem[], index: number): number {
  const item = items[index];
  return item === undefined ? 0 : estimatedHeight(item);
}
