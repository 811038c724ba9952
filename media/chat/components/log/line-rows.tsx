import type { JSX } from 'preact';
import type { ChatItem } from '../../../../src/protocol/chat.ts';
import { turnEndText, turnOutcome } from '../../state/turn-end.ts';
import { format, type Strings } from '../../strings.ts';
import { Button } from '../shared/buttons.tsx';
import { useServices, useStrings } from '../shared/context.ts';
import { Icon } from '../shared/icon.tsx';

type ItemOf<K extends ChatItem['kind']> = Extract<ChatItem, { kind: K }>;

const PLAN_ICONS = {
  pending: 'circle-large-outline',
  in_progress: 'circle-large-filled',
  completed: 'pass-filled',
} as const;

function planWord(status: keyof typeof PLAN_ICONS, strings: Strings): string {
  if (status === 'completed') return strings.planCompleted;
  return status === 'pending' ? strings.planPending : strings.planInProgress;
}

/** The agent's plan as a list to tick off. */
export function PlanRow({ item }: { readonly item: ItemOf<'plan'> }): JSX.Element {
  const strings = useStrings();
  const done = item.entries.filter((entry) => entry.status === 'completed').length;
  const progress = format(strings.planProgress, done, item.entries.length);
  return (
    <section class="plan" aria-label={strings.plan}>
      <header class="plan-head">
        <Icon name="checklist" />
        <span class="plan-title">{strings.plan}</span>
        <progress
          class="bar"
          value={done}
          max={Math.max(item.entries.length, 1)}
          aria-label={progress}
        />
        <span class="quiet">{progress}</span>
      </header>
      <ol class="plan-entries">
        {item.entries.map((entry, position) => (
          // Steps of a plan have no identity but their place.
          <li key={position} class={`plan-entry ${entry.status}`}>
            <Icon name={PLAN_ICONS[entry.status]} />
            <span class="sr-only">{planWord(entry.status, strings)}: </span>
            <span dir="auto">{entry.text}</span>
          </li>
        ))}
      </ol>
    </section>
  );
}

const NOTICE_ICONS = { info: 'info', warning: 'warning', error: 'error' } as const;

/** Something the person should know. */
export function NoticeRow({ item }: { readonly item: ItemOf<'notice'> }): JSX.Element {
  const strings = useStrings();
  const words = {
    info: strings.severityInfo,
    warning: strings.severityWarning,
    error: strings.severityError,
  };
  return (
    <div class={`notice notice-${item.severity}`}>
      <Icon name={NOTICE_ICONS[item.severity]} />
      <div>
        <span class="sr-only">{words[item.severity]}: </span>
        <strong>{item.title}</strong>
        {item.description !== '' && <p>{item.description}</p>}
      </div>
    </div>
  );
}

/** A gate that was answered. */
export function AnswerRow({ item }: { readonly item: ItemOf<'answer'> }): JSX.Element {
  return (
    <p class="answer quiet">
      <Icon name={item.allowed ? 'check' : 'circle-slash'} />
      <span>{item.text}</span>
    </p>
  );
}

const OUTCOME_ICONS = {
  done: 'check',
  stopped: 'debug-stop',
  limited: 'watch',
  failed: 'error',
  other: 'circle-outline',
} as const;

type TurnEndProps = { readonly item: ItemOf<'turn_end'>; readonly mayRetry: boolean };

/** How a turn ended, with Retry where it failed and nothing has followed. */
export function TurnEndRow({ item, mayRetry }: TurnEndProps): JSX.Element {
  const strings = useStrings();
  const { post } = useServices();
  const outcome = turnOutcome(item);
  return (
    <div class={`turn-end turn-${outcome}`}>
      <Icon name={OUTCOME_ICONS[outcome]} />
      <span class="turn-text">{turnEndText(item, strings)}</span>
      {mayRetry && outcome === 'failed' && (
        <Button secondary onClick={() => post({ type: 'retry', turnEndId: item.id })}>
          {strings.retry}
        </Button>
      )}
    </div>
  );
}
