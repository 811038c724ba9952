import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { FromReceipts, ReceiptEntry } from '../../src/protocol/receipts-view.ts';
import { useFold } from '../chat/components/shared/folds.ts';
import { Icon } from '../chat/components/shared/icon.tsx';
import { format } from '../chat/strings.ts';
import type { Texts } from './receipt-list.tsx';

type Props = {
  readonly entry: ReceiptEntry;
  readonly strings: Texts;
  readonly post: (message: FromReceipts) => void;
};

const COPIED_MS = 1_500;

/** One receipt: what was asked, what happened, by whom and when; opened, everything it states. */
export function ReceiptRow({ entry, strings, post }: Props): JSX.Element {
  const [open, toggle] = useFold(`receipt:${entry.seq}:${entry.controlId}`, false);
  const time = new Date(entry.at);
  return (
    <article class={`receipt receipt-${entry.status}`}>
      <span class="receipt-mark">
        <Icon name={STATUS_ICONS[entry.status]} />
      </span>
      <div class="receipt-main">
        <button type="button" class="receipt-head" aria-expanded={open} onClick={toggle}>
          <span class="receipt-line">
            <span class="receipt-asked">{entry.asked}</span>
            <span class="receipt-happened">{entry.happened}</span>
            <span class="sr-only">({statusWord(entry.status, strings)})</span>
            <time class="receipt-time" dateTime={time.toISOString()} title={time.toLocaleString()}>
              {time.toLocaleTimeString()}
            </time>
            <Icon name={open ? 'chevron-up' : 'chevron-down'} />
          </span>
          <span class="receipt-line quiet">
            <span class="receipt-who">
              {entry.role === null
                ? format(strings.byItself, entry.who)
                : format(strings.by, entry.who, entry.role)}
            </span>
            {entry.refusal !== null && <span class="receipt-refusal">{entry.refusal.words}</span>}
          </span>
        </button>
        {open && <Details entry={entry} strings={strings} post={post} />}
      </div>
    </article>
  );
}

const STATUS_ICONS = {
  accepted: 'pass',
  idempotent: 'circle-slash',
  rejected: 'error',
} as const;

function statusWord(status: ReceiptEntry['status'], strings: Texts): string {
  if (status === 'accepted') return strings.statusAccepted;
  return status === 'rejected' ? strings.statusRejected : strings.statusIdempotent;
}

function Details({ entry, strings, post }: Props): JSX.Element {
  const facts = [
    { label: strings.wireName, value: entry.method },
    { label: strings.wireOutcome, value: `${entry.outcome} (${entry.status})` },
    ...(entry.refusal === null ? [] : [{ label: strings.wireReason, value: entry.refusal.reason }]),
    { label: strings.door, value: entry.door },
    { label: strings.time, value: new Date(entry.at).toISOString() },
    ...entry.facts,
    { label: strings.controlId, value: entry.controlId },
    { label: strings.place, value: String(entry.seq) },
    { label: strings.hash, value: entry.hash },
  ];
  return (
    <div class="receipt-details">
      <dl>
        {facts.map(({ label, value }, position) => (
          // Two facts may have one name.
          <div key={position} class="receipt-fact">
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <CopyButton strings={strings} onCopy={() => post({ type: 'copy', seq: entry.seq })} />
    </div>
  );
}

type CopyProps = { readonly strings: Texts; readonly onCopy: () => void };

function CopyButton({ strings, onCopy }: CopyProps): JSX.Element {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return undefined;
    const timer = setTimeout(() => setCopied(false), COPIED_MS);
    return () => clearTimeout(timer);
  }, [copied]);
  return (
    <button
      type="button"
      class="receipts-action"
      onClick={() => {
        onCopy();
        setCopied(true);
      }}
    >
      <Icon name={copied ? 'check' : 'copy'} />
      {copied ? strings.copied : strings.copy}
    </button>
  );
}
