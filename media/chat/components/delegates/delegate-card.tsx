import type { JSX } from 'preact';
import { useContext } from 'preact/hooks';
import type { ChatTool } from '../../../../src/protocol/chat.ts';
import type { ChatDelegate } from '../../../../src/protocol/chat-delegates.ts';
import { format } from '../../strings.ts';
import { statusLook } from '../log/tool-words.ts';
import { IconButton, LinkButton } from '../shared/buttons.tsx';
import { useServices, useStrings } from '../shared/context.ts';
import { DelegatesContext, NestedContext } from '../shared/delegate-context.ts';
import { useFold } from '../shared/folds.ts';
import { Icon } from '../shared/icon.tsx';
import { Markdown } from '../shared/markdown.tsx';
import { ScrollPane } from '../shared/scroll-pane.tsx';
import { DelegateSteps } from './delegate-steps.tsx';

type Props = { readonly tool: ChatTool; readonly delegate: ChatDelegate };

/** A call that gave a task to a delegate: who it is, how it stands, what it does, and its result. */
export function DelegateCard({ tool, delegate }: Props): JSX.Element {
  const strings = useStrings();
  const [open, toggle] = useFold(tool.id, true);
  const { asking, atWork } = useContext(DelegatesContext);
  const status = atWork.has(delegate.loopId) ? 'in_progress' : statusOf(tool, delegate);
  const isAtWork = status === 'in_progress';
  const asks = asking.has(delegate.loopId);
  const look =
    asks && isAtWork
      ? { icon: 'bell-dot', spin: false, word: strings.activityWaiting }
      : statusLook(status, strings);
  const task = delegate.prompt.split('\n', 1)[0] ?? '';
  return (
    <div class={`tool delegate tool-${status}`}>
      <div class="tool-line">
        <button type="button" class="tool-head" aria-expanded={open} onClick={toggle}>
          <Icon name="type-hierarchy-sub" />
          <span class="tool-title" title={tool.title}>
            <strong>{delegate.name || strings.delegate}</strong> {task || tool.title}
          </span>
          {delegate.background && <span class="badge">{strings.delegateBackground}</span>}
          <span class="tool-status">
            <Icon name={look.icon} spin={look.spin} />
            {look.word}
          </span>
          <Icon name={open ? 'chevron-up' : 'chevron-down'} />
        </button>
        {isAtWork && <StopDelegate delegate={delegate} />}
      </div>
      {open && <Body tool={tool} delegate={delegate} isAtWork={isAtWork} />}
    </div>
  );
}

/** A call that was cut off knows better than its delegate's last word. */
function statusOf({ status }: ChatTool, { state, background }: ChatDelegate): ChatTool['status'] {
  const isCutOff = !background && !['pending', 'in_progress', 'completed'].includes(status);
  if (state === 'running') return isCutOff ? status : 'in_progress';
  return state;
}

function StopDelegate({ delegate }: { readonly delegate: ChatDelegate }): JSX.Element {
  const strings = useStrings();
  const { post } = useServices();
  return (
    <IconButton
      icon="debug-stop"
      title={strings.delegateStop}
      label={format(strings.delegateStopLabel, delegate.name)}
      onClick={() => post({ type: 'delegate_stop', loopId: delegate.loopId })}
    />
  );
}

function Body({ tool, delegate, isAtWork }: Props & { readonly isAtWork: boolean }): JSX.Element {
  const strings = useStrings();
  const { post } = useServices();
  const { loopId, prompt, background } = delegate;
  const isSpokenTo = useContext(DelegatesContext).talksTo === loopId;
  const hasResult = !background && !isAtWork && tool.output !== '';
  return (
    <div class="tool-body">
      {prompt.includes('\n') && (
        <ScrollPane class="delegate-task" label={strings.delegateTask}>
          {prompt}
        </ScrollPane>
      )}
      <DelegateSteps delegate={delegate} isAtWork={isAtWork} />
      {background && <InBackground delegate={delegate} isAtWork={isAtWork} />}
      {hasResult && (
        // biome-ignore lint/a11y/useSemanticElements: a fieldset is for form controls
        <div class="delegate-result" role="group" aria-label={strings.delegateResult}>
          <p class="quiet">{strings.delegateResult}</p>
          <Markdown id={`${tool.id}/result`} text={tool.output} streaming={false} />
        </div>
      )}
      <p class="tool-actions">
        <LinkButton
          label={format(strings.delegateTranscriptLabel, delegate.name)}
          onClick={() => post({ type: 'delegate_transcript', loopId })}
        >
          {strings.delegateTranscript}
        </LinkButton>
        {!isSpokenTo && (
          <LinkButton
            label={format(strings.delegateTalkLabel, delegate.name)}
            onClick={() => post({ type: 'talk_to', loopId })}
          >
            {strings.delegateTalk}
          </LinkButton>
        )}
      </p>
    </div>
  );
}

type BackgroundProps = { readonly delegate: ChatDelegate; readonly isAtWork: boolean };

/** That it goes on, or where its result came in. */
function InBackground({ delegate, isAtWork }: BackgroundProps): JSX.Element | null {
  const strings = useStrings();
  const { store } = useServices();
  const isNested = useContext(NestedContext);
  const { resultRow } = delegate;
  if (isAtWork) return <p class="quiet">{strings.delegateGoesOn}</p>;
  if (resultRow === undefined) return null;
  return (
    <p class="quiet">
      {strings.delegateHandedBack}{' '}
      {!isNested && (
        <LinkButton onClick={() => store.dispatch({ type: 'reveal', id: resultRow })}>
          {strings.delegateShowResult}
        </LinkButton>
      )}
    </p>
  );
}
