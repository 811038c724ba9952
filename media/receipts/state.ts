import type {
  ReceiptStringKey,
  ReceiptsState,
  ToReceipts,
} from '../../src/protocol/receipts-view.ts';

/** What the page draws; null until the extension has said something. */
export type View = {
  readonly state: ReceiptsState;
  readonly strings: Readonly<Record<ReceiptStringKey, string>>;
} | null;

export const INITIAL: View = null;

/** The next view. Pure. */
export function reduce(view: View, message: ToReceipts): View {
  if (message.type === 'state') return { state: message.state, strings: message.strings };
  if (view === null) return view;
  const { newer, older, state } = message;
  const { entries } = view.state;
  const known = new Set(entries.map(({ seq }) => seq));
  const unknown = <T extends { readonly seq: number }>(list: readonly T[]): readonly T[] =>
    list.filter(({ seq }) => !known.has(seq));
  return {
    ...view,
    state: { ...state, entries: [...unknown(newer), ...entries, ...unknown(older)] },
  };
}
