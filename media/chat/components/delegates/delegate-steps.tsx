import type { JSX } from 'preact';
import { useContext, useEffect } from 'preact/hooks';
import type { ChatDelegate } from '../../../../src/protocol/chat-delegates.ts';
import type { DelegateView } from '../../state/delegate-rows.ts';
import { format } from '../../strings.ts';
import { LinkButton } from '../shared/buttons.tsx';
import { useServices, useStrings } from '../shared/context.ts';
import { DelegatesContext, LoopContext, NestedContext } from '../shared/delegate-context.ts';
import { useFold } from '../shared/folds.ts';
import { Icon } from '../shared/icon.tsx';

type Props = { readonly delegate: ChatDelegate; readonly isAtWork: boolean };

/** What a delegate says and does, foldable: unfolded by itself while it works or is spoken to, read only when unfolded. */
export function DelegateSteps({ delegate, isAtWork }: Props): JSX.Element {
  const strings = useStrings();
  const { loopId, name } = delegate;
  const isSpokenTo = useContext(DelegatesContext).talksTo === loopId;
  const [open, toggle] = useFold(`${loopId}/steps`, isAtWork || isSpokenTo);
  const view = useRows(loopId, open);
  return (
    <div class="delegate-steps">
      <button type="button" class="fold-button quiet" aria-expanded={open} onClick={toggle}>
        <Icon name={open ? 'chevron-down' : 'chevron-right'} />
        {strings.delegateSteps}
      </button>
      {open && (
        // biome-ignore lint/a11y/useSemanticElements: a fieldset is for form controls
        <div
          class="delegate-rows"
          role="group"
          aria-label={format(strings.delegateStepsLabel, name)}
        >
          <NestedContext.Provider value={true}>
            <LoopContext.Provider value={loopId}>
              <Rows view={view} delegate={delegate} isAtWork={isAtWork} />
            </LoopContext.Provider>
          </NestedContext.Provider>
        </div>
      )}
    </div>
  );
}

/** Asks for the rows when they are unfolded, and gives them up when they are folded. */
function useRows(loopId: string, open: boolean): DelegateView | null {
  const { views, resets } = useContext(DelegatesContext);
  const { post, store } = useServices();
  const view = views.get(loopId) ?? null;
  const isStale = view?.kind === 'rows' && view.stale;
  useEffect(() => {
    const known = store.get().delegates.get(loopId);
    if (open && (known?.kind !== 'rows' || known.stale)) post({ type: 'delegate_open', loopId });
    if (open || known === undefined) return;
    store.dispatch({ type: 'local_delegate_close', loopId });
    post({ type: 'delegate_close', loopId });
  }, [open, loopId, resets, isStale]);
  return view;
}

type RowsProps = {
  readonly view: DelegateView | null;
  readonly delegate: ChatDelegate;
  readonly isAtWork: boolean;
};

function Rows({ view, delegate, isAtWork }: RowsProps): JSX.Element {
  const strings = useStrings();
  const { post } = useServices();
  const { Row } = useContext(DelegatesContext);
  const { loopId, prompt } = delegate;
  const transcript = (): void => post({ type: 'delegate_transcript', loopId });
  if (view === null) return <p class="quiet">{strings.delegateLoading}</p>;
  if (view.kind === 'closed')
    return (
      <p class={view.error === null ? 'quiet' : 'composer-error'}>
        {view.error === null ? '' : format(strings.delegateNotRead, view.error)}{' '}
        <LinkButton onClick={() => post({ type: 'delegate_open', loopId })}>
          {strings.delegateReadAgain}
        </LinkButton>
      </p>
    );
  // The card shows its task already.
  const items = view.items.filter((item) => item.kind !== 'user' || item.text !== prompt);
  return (
    <>
      {view.more && (
        <p class="quiet">
          {strings.delegateMore}{' '}
          <LinkButton onClick={transcript}>{strings.delegateShowAll}</LinkButton>
        </p>
      )}
      {items.length === 0 && (
        <p class="quiet">{isAtWork ? strings.delegateNothingYet : strings.delegateNothing}</p>
      )}
      {items.map((item) => (
        <div key={item.id} class={`row row-${item.kind}`}>
          {Row !== null && <Row item={item} mayRetry={false} unknown={0} />}
        </div>
      ))}
    </>
  );
}
