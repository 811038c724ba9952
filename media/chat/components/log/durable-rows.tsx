import type { JSX } from 'preact';
import type { ChatItem } from '../../../../src/protocol/chat.ts';
import { isClosed, turnEndText } from '../../state/turn-end.ts';
import { format, type Strings } from '../../strings.ts';
import { Button } from '../shared/buttons.tsx';
import { useServices, useStrings } from '../shared/context.ts';
import { useFold } from '../shared/folds.ts';
import { Icon } from '../shared/icon.tsx';
import { Markdown } from '../shared/markdown.tsx';

type Compaction = Extract<ChatItem, { kind: 'compaction' }>;

type InterruptedProps = {
  readonly item: Extract<ChatItem, { kind: 'turn_end' }>;
  /** Nothing has followed: the turn can be gone on with. */
  readonly offers: boolean;
  readonly unknown: number;
};

/** A turn whose process ended or whose window was closed: what is left of it, what has to be looked at, and the way on. */
export function InterruptedRow({ item, offers, unknown }: InterruptedProps): JSX.Element {
  const strings = useStrings();
  const { post } = useServices();
  return (
    <div class={`interrupted ${offers ? 'interrupted-open' : ''}`}>
      <p class="interrupted-title">
        <Icon name={isClosed(item) ? 'debug-pause' : 'debug-disconnect'} />
        <span>{turnEndText(item, strings)}</span>
      </p>
      {offers && (
        <>
          <p>{strings.interruptedKept}</p>
          {unknown > 0 && (
            <p class="interrupted-unknown">
              <Icon name="warning" />
              <span>{unknownWords(unknown, strings)}</span>
            </p>
          )}
          <div class="interrupted-actions">
            <Button onClick={() => post({ type: 'command', name: 'continue' })}>
              {strings.interruptedContinue}
            </Button>
            <Button secondary onClick={() => post({ type: 'command', name: 'show_transcript' })}>
              {strings.interruptedShow}
            </Button>
          </div>
        </>
      )}
    </div>
  );
}

function unknownWords(count: number, strings: Strings): string {
  return count === 1 ? strings.interruptedUnknownOne : format(strings.interruptedUnknown, count);
}

/** The conversation being condensed, and what came of it; opened, it shows the summary. */
export function CompactionRow({ item }: { readonly item: Compaction }): JSX.Element {
  const strings = useStrings();
  const [open, toggle] = useFold(item.id, false);
  const text = compactionText(item, strings);
  if (item.summary === '')
    return (
      <p class={`compaction compaction-${item.state} quiet`}>
        <Icon name={ICONS[item.state]} spin={item.state === 'running'} />
        <span>{text}</span>
      </p>
    );
  return (
    <div class={`compaction compaction-${item.state}`}>
      <button type="button" class="fold-button" aria-expanded={open} onClick={toggle}>
        <Icon name={open ? 'chevron-down' : 'chevron-right'} />
        <Icon name={ICONS[item.state]} />
        <span>{text}</span>
      </button>
      {open && (
        <section class="compaction-summary" aria-label={strings.compactSummary}>
          <h3>{strings.compactSummary}</h3>
          <Markdown id={item.id} text={item.summary} streaming={false} />
        </section>
      )}
    </div>
  );
}

const ICONS = { running: 'loading', done: 'fold', failed: 'warning' } as const;

function compactionText({ state, before, after, reason }: Compaction, strings: Strings): string {
  switch (state) {
    case 'running':
      return strings.compacting;
    case 'done':
      return before === null || after === null
        ? strings.compacted
        : format(strings.compactedCounts, before, after);
    case 'failed':
      return reason === '' ? strings.compactFailed : format(strings.compactFailedWhy, reason);
  }
}
