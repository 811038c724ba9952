import type { JSX } from 'preact';
import type { ChatDiff } from '../../../../src/protocol/chat.ts';
import { format } from '../../strings.ts';
import { LinkButton } from '../shared/buttons.tsx';
import { useServices, useStrings } from '../shared/context.ts';
import { useFold } from '../shared/folds.ts';
import { Icon } from '../shared/icon.tsx';
import { ScrollPane } from '../shared/scroll-pane.tsx';
import { PathText } from './path-text.tsx';

const MARK_CLASSES = { ' ': 'same', '+': 'added', '-': 'removed', '@': 'hunk' } as const;
const OPEN_BELOW = 60;

type Props = { readonly diff: ChatDiff; readonly toolCallId: string; readonly foldId: string };

/** A change to one file: its counts, its lines, and the way to the diff editor. */
export function DiffView({ diff, toolCallId, foldId }: Props): JSX.Element {
  const strings = useStrings();
  const { post } = useServices();
  const [open, toggle] = useFold(`${foldId}/${diff.path}`, diff.lines.length <= OPEN_BELOW);
  const openDiff = (): void => post({ type: 'open_diff', toolCallId, path: diff.path });
  return (
    <div class="diff">
      <div class="diff-head">
        <button type="button" class="fold-button" aria-expanded={open} onClick={toggle}>
          <Icon name={open ? 'chevron-down' : 'chevron-right'} />
          <PathText path={diff.path} />
        </button>
        <DiffCounts diff={diff} />
        <button
          type="button"
          class="icon-button"
          title={strings.openDiff}
          aria-label={format(strings.openDiffOf, diff.path)}
          onClick={openDiff}
        >
          <Icon name="diff" />
        </button>
      </div>
      {open && (
        <ScrollPane class="diff-lines" label={diff.path}>
          {diff.lines.map((line, position) => (
            // Lines of a diff have no identity but their place.
            <div key={position} class={`diff-line ${MARK_CLASSES[line.mark]}`}>
              <span class="diff-mark">{line.mark === '@' ? '' : line.mark}</span>
              <span class="diff-text">{line.text}</span>
            </div>
          ))}
        </ScrollPane>
      )}
      {open && diff.cut && (
        <p class="quiet">
          {strings.diffCut} <LinkButton onClick={openDiff}>{strings.openDiff}</LinkButton>
        </p>
      )}
    </div>
  );
}

/** `+3 −1`, said in words to screen readers. */
function DiffCounts({ diff }: { readonly diff: ChatDiff }): JSX.Element {
  const strings = useStrings();
  return (
    <span class="diff-counts">
      {diff.isNew && <span class="quiet">{strings.diffNewFile}</span>}
      <span
        class="diff-plus"
        role="img"
        aria-label={diff.added === 1 ? strings.diffAddedOne : format(strings.diffAdded, diff.added)}
      >
        +{diff.added}
      </span>
      <span
        class="diff-minus"
        role="img"
        aria-label={
          diff.removed === 1 ? strings.diffRemovedOne : format(strings.diffRemoved, diff.removed)
        }
      >
        −{diff.removed}
      </span>
    </span>
  );
}
