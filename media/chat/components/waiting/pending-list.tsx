import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { ChatItem } from '../../../../src/protocol/chat.ts';
import type { ChatPending } from '../../../../src/protocol/chat-pending.ts';
import type { Strings } from '../../strings.ts';
import { IconButton } from '../shared/buttons.tsx';
import { useServices, useStrings } from '../shared/context.ts';
import { Icon } from '../shared/icon.tsx';
import { EditBox } from './edit-box.tsx';
import { WaitingText } from './waiting-text.tsx';

/** Messages on their way into the running turn, in the order of their arrival; then those that came back. */
export function PendingList({
  pending,
  items,
}: {
  readonly pending: readonly ChatPending[];
  readonly items: readonly ChatItem[];
}): JSX.Element | null {
  const strings = useStrings();
  if (pending.length === 0) return null;
  const stepRuns = items.some((item) => item.kind === 'tool' && item.status === 'in_progress');
  return (
    <ul class="waiting pending" aria-label={strings.pendingLabel}>
      {pending.map((message) => (
        <PendingRow key={message.id} message={message} stepRuns={stepRuns} />
      ))}
    </ul>
  );
}

type RowProps = {
  readonly message: ChatPending;
  /** A tool call is under way: what was dispatched with it runs before anything is delivered. */
  readonly stepRuns: boolean;
};

function PendingRow({ message, stepRuns }: RowProps): JSX.Element {
  const strings = useStrings();
  const { post } = useServices();
  const [editing, setEditing] = useState(false);
  const { id, text, state } = message;
  const { icon, word } = modeLook(message.mode, strings);
  return (
    <li class={`waiting-row pending-${state}`}>
      <div class="waiting-head">
        <Icon name={state === 'given_back' ? 'warning' : icon} />
        <span class="waiting-mode">{word}</span>
        <span class="waiting-state quiet">{stateWords(message, stepRuns, strings)}</span>
        <span class="waiting-actions">
          {state === 'given_back' ? (
            <>
              <IconButton
                icon="arrow-down"
                label={strings.pendingRecompose}
                onClick={() => post({ type: 'pending_recompose', id })}
              />
              <IconButton
                icon="close"
                label={strings.pendingDismiss}
                onClick={() => post({ type: 'pending_revoke', id })}
              />
            </>
          ) : (
            message.editable && (
              <>
                <IconButton icon="edit" label={strings.edit} onClick={() => setEditing(true)} />
                <IconButton
                  icon="close"
                  label={strings.pendingRevoke}
                  onClick={() => post({ type: 'pending_revoke', id })}
                />
              </>
            )
          )}
        </span>
      </div>
      {editing ? (
        <EditBox
          text={text}
          onCancel={() => setEditing(false)}
          onSave={(changed) => {
            post({ type: 'pending_edit', id, text: changed });
            setEditing(false);
          }}
        />
      ) : (
        <WaitingText text={text} attached={message.attached} />
      )}
    </li>
  );
}

function modeLook(mode: ChatPending['mode'], strings: Strings): { icon: string; word: string } {
  switch (mode) {
    case 'steer':
      return { icon: 'compass', word: strings.modeSteer };
    case 'interrupt_immediate':
      return { icon: 'zap', word: strings.modeInterrupt };
    case 'queue':
      return { icon: 'note', word: strings.modeNote };
    case 'prompt':
      return { icon: 'send', word: strings.modePrompt };
  }
}

function stateWords({ mode, state }: ChatPending, stepRuns: boolean, strings: Strings): string {
  if (mode === 'prompt') return strings.pendingUnsent;
  if (state === 'given_back') return strings.pendingBack;
  if (mode === 'queue') return strings.pendingUnread;
  if (mode === 'interrupt_immediate')
    return stepRuns ? strings.pendingAfterSteps : strings.pendingAtOnce;
  return state === 'behind_approval' ? strings.pendingBehind : strings.pendingAfterStep;
}
