import type { JSX, RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ChatSendMode } from '../../../../src/protocol/chat.ts';
import { sendKeys } from '../../state/send-modes.ts';
import type { ViewState } from '../../state/view-state.ts';
import { format } from '../../strings.ts';
import { IconButton } from '../shared/buttons.tsx';
import { useServices, useStrings } from '../shared/context.ts';
import { Decisions } from '../waiting/decisions.tsx';
import { NextTurns } from '../waiting/next-turns.tsx';
import { PendingList } from '../waiting/pending-list.tsx';
import { Chips } from './chips.tsx';
import { EscapeHint } from './escape-hint.tsx';
import { Options } from './options.tsx';
import { canSend } from './placeholder.ts';
import { Queued } from './queued.tsx';
import { SendButton } from './send-button.tsx';
import { TextInput } from './text-input.tsx';
import { UsageMeter } from './usage-meter.tsx';
import { isBlank, useDraft } from './use-draft.ts';
import { useFiles } from './use-files.ts';

/** Where a message is written: text, context, pictures, the session's pickers, Send. */
export function Composer({ view }: { readonly view: ViewState }): JSX.Element {
  const strings = useStrings();
  const { store } = useServices();
  const input = useRef<HTMLTextAreaElement>(null);
  const { draft, change, send } = useDraft(view);
  const files = useFiles(draft, change);
  const allowed = canSend(view.status);
  const [isDue, setIsDue] = useState(false);
  const submit = (mode: ChatSendMode): void => {
    files.forget();
    if (allowed) send(mode);
    else if (view.status.activity === 'starting' && !isBlank(draft)) setIsDue(true);
  };
  // Enter while everything starts is not lost: it counts as soon as it can.
  useEffect(() => {
    if (!isDue || !allowed || isBlank(draft)) return;
    setIsDue(false);
    send(sendKeys(view.status).enter);
  }, [isDue, allowed, draft]);
  useEffect(() => {
    if (view.compose?.focus === true) input.current?.focus();
  }, [view.compose?.seq]);
  const errors =
    view.send.error === null ? files.problems : [format(strings.sendFailed, view.send.error)];
  return (
    <section
      class="composer"
      aria-label={strings.composerLabel}
      onPaste={files.onPaste}
      onDragOver={(event) => event.preventDefault()}
      onDrop={files.onDrop}
    >
      <Decisions status={view.status} />
      <PendingList pending={view.status.pending} items={view.items} />
      <NextTurns status={view.status} />
      <Queued queued={view.status.queued} />
      <EscapeHint />
      {errors.map((error) => (
        <p key={error} class="composer-error" role="alert">
          {error}
        </p>
      ))}
      <div class="composer-box">
        <Chips draft={draft} onChange={change} />
        <TextInput
          input={input}
          view={view}
          draft={draft}
          onChange={(part) => {
            if (view.send.error !== null) store.dispatch({ type: 'local_send_error_seen' });
            setIsDue(false);
            change(part);
          }}
          onSend={(key) => submit(sendKeys(view.status)[key])}
        />
        <Bar view={view} input={input} ready={allowed && !isBlank(draft)} onSend={submit} />
      </div>
    </section>
  );
}

type BarProps = {
  readonly view: ViewState;
  readonly input: RefObject<HTMLTextAreaElement | null>;
  readonly ready: boolean;
  readonly onSend: (mode: ChatSendMode) => void;
};

function Bar({ view, input, ready, onSend }: BarProps): JSX.Element {
  const strings = useStrings();
  return (
    <div class="composer-bar">
      <span class="composer-start">
        <IconButton
          icon="mention"
          label={strings.mentionAdd}
          onClick={() => startMention(input.current)}
        />
        <Options status={view.status} />
      </span>
      <span class="composer-end">
        <UsageMeter status={view.status} />
        <SendButton
          view={view}
          ready={ready}
          onSend={onSend}
          onLeaveMenu={() => input.current?.focus()}
        />
      </span>
    </div>
  );
}

/** Types an `@` at the caret, as the person would. */
function startMention(input: HTMLTextAreaElement | null): void {
  if (input === null) return;
  input.focus();
  const before = input.value.slice(0, input.selectionStart);
  const gap = before === '' || /\s$/.test(before) ? '' : ' ';
  input.setRangeText(`${gap}@`, input.selectionStart, input.selectionEnd, 'end');
  input.dispatchEvent(new InputEvent('input', { bubbles: true }));
}
