import * as l10n from '@vscode/l10n';
import type { ControlOutcome } from '../../protocol/controls.ts';
import type { ReceiptList } from '../../protocol/receipt-shapes.ts';
import type { ReceiptEntry } from '../../protocol/receipts-view.ts';
import { controlWords, factWords, modeWords, outcomeWords, reasonWords } from './receipt-words.ts';

/** A receipt as it is listed. */
export type ListedReceipt = ReceiptList['receipts'][number];

/** The client id of this window's own connection. Source: `core/handshake.ts`. */
const OWN_CLIENT = 'pilothouse-vscode';
/** How the agent itself came by, for what no client asked for. Source: `core/session/state/gates.ts`. */
const ITSELF = 'host';

/** A receipt as the page shows it. */
export function receiptEntry({ seq, at, hash, receipt }: ListedReceipt): ReceiptEntry {
  const { method, outcome, status, actor, reason } = receipt;
  return {
    seq,
    hash,
    at: Date.parse(at),
    controlId: receipt.control_id,
    method,
    asked: askedWords(receipt),
    status,
    outcome,
    happened: status === 'rejected' ? l10n.t('refused') : outcomeWords(outcome),
    refusal: reason === undefined ? null : { words: reasonWords(reason), reason },
    who: actor.source === ITSELF ? itselfWords(outcome) : whoWords(actor.clientId),
    role: actor.source === ITSELF ? null : roleWords(actor.role),
    door: actor.source,
    facts: factsOf(receipt),
  };
}

/** What was asked for, with the kind of a message and the value of an option where the receipt tells. */
function askedWords({ method, metadata, target }: ControlOutcome): string {
  const { configId, value } = target;
  if (method === 'session/set_config_option' && configId !== undefined)
    return l10n.t('Change {0} to {1}', configId, value ?? '');
  if (method !== 'session/inject') return controlWords(method);
  const mode = metadata['mode'];
  return typeof mode === 'string' && mode !== '' ? modeWords(mode) : controlWords(method);
}

function itselfWords(outcome: string): string {
  return outcome === 'given_back'
    ? l10n.t('Pilothouse: given back because its turn ended')
    : l10n.t('Pilothouse');
}

function whoWords(clientId: string): string {
  return clientId === OWN_CLIENT || clientId.startsWith(`${OWN_CLIENT}:`)
    ? l10n.t('VS Code')
    : clientId;
}

function roleWords(role: ControlOutcome['actor']['role']): string {
  return role === 'host_owner' ? l10n.t('owner') : l10n.t('observer');
}

/** In plain words with the wire's own word behind them. */
function modeFact(mode: string): string {
  const words = modeWords(mode);
  return words === mode ? mode : `${words} (${mode})`;
}

function factsOf({ target, metadata, session_id }: ControlOutcome): ReceiptEntry['facts'] {
  const named = Object.entries(target).filter(
    ([key, value]) => key !== 'sessionId' || value !== session_id,
  );
  return [
    { label: factWords('session_id'), value: session_id },
    ...named.map(([name, value]) => ({ label: factWords(name), value })),
    ...Object.entries(metadata).map(([name, value]) => ({
      label: factWords(name),
      value: name === 'mode' ? modeFact(String(value)) : String(value),
    })),
  ];
}
