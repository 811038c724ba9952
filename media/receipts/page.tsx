import type { JSX } from 'preact';
import type {
  FromReceipts,
  ReceiptEntry,
  ReceiptFilter,
  ReceiptsState,
} from '../../src/protocol/receipts-view.ts';
import { Icon } from '../chat/components/shared/icon.tsx';
import { format } from '../chat/strings.ts';
import { ReceiptList, type Texts } from './receipt-list.tsx';
import type { View } from './state.ts';

type Post = (message: FromReceipts) => void;
type Props = { readonly state: ReceiptsState; readonly strings: Texts; readonly post: Post };

/** The whole page: what is shown of which receipts, whether they are whole, and the timeline. */
export function Page({ view, post }: { readonly view: View; readonly post: Post }): JSX.Element {
  if (view === null) return <main class="receipts" aria-busy="true" />;
  const { state, strings } = view;
  const props = { state, strings, post };
  return (
    <main class="receipts" aria-busy={state.loading}>
      <Toolbar {...props} />
      <Verification {...props} />
      {state.problem !== null && <Problem {...props} problem={state.problem} />}
      {state.entries.length === 0 && state.problem === null ? (
        <Nothing {...props} />
      ) : (
        <ReceiptList state={state} strings={strings} post={post} />
      )}
    </main>
  );
}

function Toolbar({ state, strings, post }: Props): JSX.Element {
  const isVerifying = state.verify.kind === 'running';
  return (
    <header class="receipts-bar">
      {state.hasSession && (
        <Picker
          icon="history"
          label={strings.streamLabel}
          value={state.stream}
          choices={[
            { value: 'session', label: strings.streamSession },
            { value: 'host', label: strings.streamHost },
          ]}
          onChoose={(value) =>
            post({ type: 'stream', stream: value === 'host' ? 'host' : 'session' })
          }
        />
      )}
      <Picker
        icon="filter"
        label={strings.filterControl}
        value={state.filter.method ?? ''}
        choices={[{ value: '', label: strings.filterAll }, ...state.methods]}
        onChoose={(value) =>
          post({ type: 'filter', filter: { ...state.filter, method: value === '' ? null : value } })
        }
      />
      <Picker
        icon="pass"
        label={strings.filterStatus}
        value={state.filter.status ?? ''}
        choices={[
          { value: '', label: strings.statusAny },
          { value: 'accepted', label: strings.statusAccepted },
          { value: 'idempotent', label: strings.statusIdempotent },
          { value: 'rejected', label: strings.statusRejected },
        ]}
        onChoose={(value) =>
          post({ type: 'filter', filter: { ...state.filter, status: statusOf(value) } })
        }
      />
      <span class="receipts-actions">
        <Action
          icon={isVerifying ? 'loading' : 'verified'}
          spin={isVerifying}
          label={isVerifying ? strings.verifying : strings.verify}
          onClick={() => post({ type: 'verify' })}
        />
        <Action icon="save-as" label={strings.export} onClick={() => post({ type: 'export' })} />
        <Action icon="refresh" label={strings.refresh} onClick={() => post({ type: 'refresh' })} />
      </span>
    </header>
  );
}

function statusOf(value: string): ReceiptEntry['status'] | null {
  return value === 'accepted' || value === 'idempotent' || value === 'rejected' ? value : null;
}

type ActionProps = {
  readonly icon: string;
  readonly label: string;
  readonly spin?: boolean;
  readonly onClick: () => void;
};

function Action({ icon, label, spin = false, onClick }: ActionProps): JSX.Element {
  return (
    <button type="button" class="receipts-action" aria-disabled={spin} onClick={onClick}>
      <Icon name={icon} spin={spin} />
      {label}
    </button>
  );
}

type PickerProps = {
  readonly icon: string;
  readonly label: string;
  readonly value: string;
  readonly choices: readonly { readonly value: string; readonly label: string }[];
  readonly onChoose: (value: string) => void;
};

function Picker({ icon, label, value, choices, onChoose }: PickerProps): JSX.Element {
  return (
    <span class="receipts-picker" title={label}>
      <Icon name={icon} />
      <select
        aria-label={label}
        value={value}
        onChange={(event) => onChoose(event.currentTarget.value)}
      >
        {choices.map((choice) => (
          <option key={choice.value} value={choice.value} selected={choice.value === value}>
            {choice.label}
          </option>
        ))}
      </select>
      <Icon name="chevron-down" />
    </span>
  );
}

function Verification({ state, strings }: Props): JSX.Element {
  const { verify } = state;
  if (verify.kind !== 'done') return <div role="status" />;
  const isWhole = verify.chains.every(({ ok }) => ok);
  const at = new Date(verify.at).toLocaleTimeString();
  return (
    <div class={`verified ${isWhole ? 'verified-whole' : 'verified-broken'}`} role="status">
      <Icon name={isWhole ? 'verified-filled' : 'error'} />
      <ul>
        {verify.chains.map(({ name, ok, text }) => (
          <li key={name} class={ok ? '' : 'broken'}>
            <strong>{name}</strong>: {text}
          </li>
        ))}
      </ul>
      <span class="quiet">{format(strings.verifiedAt, at)}</span>
    </div>
  );
}

function Problem({ problem, strings, post }: Props & { readonly problem: string }): JSX.Element {
  return (
    <div class="receipts-problem" role="alert">
      <Icon name="error" />
      <span>{problem}</span>
      <button type="button" class="link-button" onClick={() => post({ type: 'refresh' })}>
        {strings.retry}
      </button>
    </div>
  );
}

const NO_FILTER: ReceiptFilter = { method: null, status: null };

function Nothing({ state, strings, post }: Props): JSX.Element {
  if (state.loading) return <p class="receipts-empty quiet">{strings.loading}</p>;
  const isFiltered = state.filter.method !== null || state.filter.status !== null;
  return (
    <div class="receipts-empty">
      <Icon name="checklist" />
      <h2>{isFiltered ? strings.emptyFiltered : strings.emptyTitle}</h2>
      {isFiltered ? (
        <button
          type="button"
          class="link-button"
          onClick={() => post({ type: 'filter', filter: NO_FILTER })}
        >
          {strings.clearFilter}
        </button>
      ) : (
        <p class="quiet">{strings.emptyBody}</p>
      )}
    </div>
  );
}
