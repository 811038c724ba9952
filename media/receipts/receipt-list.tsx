import type { Virtualizer } from '@tanstack/virtual-core';
import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type {
  FromReceipts,
  ReceiptEntry,
  ReceiptStringKey,
  ReceiptsState,
} from '../../src/protocol/receipts-view.ts';
import { useVirtualizer } from '../chat/components/shared/virtualizer.ts';
import { ReceiptRow } from './receipt-row.tsx';

/** The page's texts. */
export type Texts = Readonly<Record<ReceiptStringKey, string>>;

type Props = {
  readonly state: ReceiptsState;
  readonly strings: Texts;
  readonly post: (message: FromReceipts) => void;
};

const ROW_HEIGHT = 58;
/** Nearer to the end than this, in pixels, older receipts are asked for. */
const NEAR_END = 600;
/** Nearer to the beginning than this, what comes in is shown at once. */
const AT_START = 24;

/** The timeline, newest first: only the rows in sight are in the page. */
export function ReceiptList({ state, strings, post }: Props): JSX.Element {
  const { entries, hasOlder } = state;
  const scroller = useRef<HTMLElement>(null);
  const followsStart = useRef(true);
  const asked = useRef(-1);
  const virtualizer = useVirtualizer({
    count: entries.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    getItemKey: (index) => entries[index]?.seq ?? index,
    paddingStart: 8,
    paddingEnd: 24,
    overscan: 6,
  });
  const newest = entries[0]?.seq;
  useLayoutEffect(() => {
    if (followsStart.current) virtualizer.scrollToOffset(0);
  }, [virtualizer, newest]);
  const askForOlder = (): void => {
    const element = scroller.current;
    if (element === null || !hasOlder || asked.current === entries.length) return;
    if (element.scrollHeight - element.scrollTop - element.clientHeight > NEAR_END) return;
    asked.current = entries.length;
    post({ type: 'load_older' });
  };
  useEffect(askForOlder, [entries.length, hasOlder]);
  return (
    <section
      ref={scroller}
      class="receipts-scroll"
      aria-label={strings.listLabel}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the list scrolls and has to be reached by keyboard
      tabIndex={0}
      onScroll={(event) => {
        followsStart.current = event.currentTarget.scrollTop < AT_START;
        askForOlder();
      }}
    >
      <div class="receipts-size" style={{ height: `${virtualizer.getTotalSize()}px` }}>
        <Rows entries={entries} virtualizer={virtualizer} strings={strings} post={post} />
      </div>
    </section>
  );
}

type RowsProps = Omit<Props, 'state'> & {
  readonly entries: readonly ReceiptEntry[];
  readonly virtualizer: Virtualizer<HTMLElement, HTMLElement>;
};

function Rows({ entries, virtualizer, strings, post }: RowsProps): JSX.Element {
  const rows = virtualizer.getVirtualItems();
  return (
    <ol class="receipts-rows" style={{ transform: `translateY(${rows[0]?.start ?? 0}px)` }}>
      {rows.map(({ index, key }) => {
        const entry = entries[index];
        return (
          entry !== undefined && (
            <li
              key={key}
              ref={virtualizer.measureElement}
              data-index={index}
              data-seq={entry.seq}
              aria-setsize={entries.length}
              aria-posinset={index + 1}
            >
              {isNewDay(entry, entries[index - 1]) && <h2 class="receipts-day">{dayOf(entry)}</h2>}
              <ReceiptRow entry={entry} strings={strings} post={post} />
            </li>
          )
        );
      })}
    </ol>
  );
}

function isNewDay(entry: ReceiptEntry, above: ReceiptEntry | undefined): boolean {
  return above === undefined || dayOf(entry) !== dayOf(above);
}

function dayOf({ at }: ReceiptEntry): string {
  return new Date(at).toLocaleDateString(undefined, {
    weekday: 'long',
    year: 'numeric',
    month: 'long',
    day: 'numeric',
  });
}
