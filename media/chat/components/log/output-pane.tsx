import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { format } from '../../strings.ts';
import { useStrings } from '../shared/context.ts';
import { ScrollPane } from '../shared/scroll-pane.tsx';
import { useVirtualizer } from '../shared/virtualizer.ts';
import { OutputLines } from './output-lines.ts';

/** The height of a line, as the style sheet sets it. */
const LINE_HEIGHT = 18;
const LINES_SHOWN = 12;
const FULL_HEIGHT = LINES_SHOWN * LINE_HEIGHT + 8;
/** Up to this many lines and characters long lines are broken; more of them stay on one line each and scroll. */
const WRAPPED_LINES = 200;
const WRAPPED_CHARACTERS = 40_000;

/** A command's output, line by line; only the lines in sight are in the page. Follows the end until scrolled away. */
export function OutputPane({ output }: { readonly output: string }): JSX.Element {
  const strings = useStrings();
  const scroller = useRef<HTMLDivElement>(null);
  const [splitter] = useState(() => new OutputLines());
  const [following, setFollowing] = useState(true);
  const lines = splitter.update(output.endsWith('\n') ? output.slice(0, -1) : output);
  const wrapped = lines.length <= WRAPPED_LINES && output.length <= WRAPPED_CHARACTERS;
  const virtualizer = useVirtualizer({
    count: wrapped ? 0 : lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => LINE_HEIGHT,
    overscan: 10,
  });
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element !== null && following) element.scrollTop = element.scrollHeight;
  }, [lines, following]);
  useEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    const onScroll = (): void => {
      setFollowing(element.scrollHeight - element.scrollTop - element.clientHeight < LINE_HEIGHT);
    };
    element.addEventListener('scroll', onScroll, { passive: true });
    return () => element.removeEventListener('scroll', onScroll);
  }, []);
  const rows = virtualizer.getVirtualItems();
  return (
    <ScrollPane
      pane={scroller}
      class="output"
      label={
        lines.length === 1 ? strings.toolOutputOne : format(strings.toolOutputLines, lines.length)
      }
      style={wrapped ? { maxHeight: `${FULL_HEIGHT}px` } : { height: `${FULL_HEIGHT}px` }}
    >
      {wrapped ? (
        <WrappedLines lines={lines} />
      ) : (
        <div class="output-size" style={{ height: `${virtualizer.getTotalSize()}px` }}>
          <div
            class="output-lines"
            style={{ transform: `translateY(${rows[0]?.start ?? 0}px)` }}
            dir="auto"
          >
            {rows.map((row) => (
              <div key={row.key} class="output-line">
                {lines[row.index] || ' '}
              </div>
            ))}
          </div>
        </div>
      )}
    </ScrollPane>
  );
}

function WrappedLines({ lines }: { readonly lines: readonly string[] }): JSX.Element {
  return (
    <div class="output-wrapped" dir="auto">
      {lines.map((line, position) => (
        // Lines of an output have no identity but their place.
        <div key={position} class="output-line">
          {line || ' '}
        </div>
      ))}
    </div>
  );
}
