import type { ChatItem } from '../../../src/protocol/chat.ts';
import type { DelegateToChat } from '../../../src/protocol/chat-delegates.ts';
import { appendToRow, rowsOf, upsertRows } from './rows.ts';

/** How many rows of a delegate are drawn at most. */
export const ROWS_SHOWN = 60;

/** What is known of a delegate whose rows were asked for. */
export type DelegateView =
  | {
      readonly kind: 'rows';
      readonly items: readonly ChatItem[];
      readonly index: ReadonlyMap<string, number>;
      /** There are older ones, in its transcript. */
      readonly more: boolean;
      /** A streamed piece is missing: they have to be asked for again. */
      readonly stale: boolean;
    }
  | { readonly kind: 'closed'; readonly error: string | null };

/** By loop. */
export type DelegateViews = ReadonlyMap<string, DelegateView>;

/** The views after a message about one of them; one that nobody asked for changes nothing. */
export function withDelegate(views: DelegateViews, message: DelegateToChat): DelegateViews {
  const { loopId } = message;
  if (message.type === 'delegate_closed')
    return new Map(views).set(loopId, { kind: 'closed', error: message.error ?? null });
  if (message.type === 'delegate_rows') {
    const rows = rowsOf(message.items);
    return new Map(views).set(loopId, { kind: 'rows', ...rows, more: message.more, stale: false });
  }
  const view = views.get(loopId);
  if (view?.kind !== 'rows') return views;
  if (message.type === 'delegate_upsert')
    return new Map(views).set(loopId, bounded({ ...view, ...upsertRows(view, message.items) }));
  // A row that was let go is not drawn any more.
  if (!view.index.has(message.id)) return views;
  const { gap, ...rows } = appendToRow(view, { ...message, type: 'append' });
  return new Map(views).set(loopId, { ...view, ...rows, stale: view.stale || gap });
}

/** Without the view of that delegate: it was folded. */
export function withoutDelegate(views: DelegateViews, loopId: string): DelegateViews {
  if (!views.has(loopId)) return views;
  const left = new Map(views);
  left.delete(loopId);
  return left;
}

function bounded(view: Extract<DelegateView, { kind: 'rows' }>): DelegateView {
  if (view.items.length <= ROWS_SHOWN) return view;
  return { ...view, ...rowsOf(view.items.slice(-ROWS_SHOWN)), more: true };
}
