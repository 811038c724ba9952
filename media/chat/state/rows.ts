import type { ChatItem, ToChat } from '../../../src/protocol/chat.ts';
import { boundItem, boundOutput } from './bounded-output.ts';
import type { ViewState } from './view-state.ts';

type Rows = Pick<ViewState, 'items' | 'index'>;
type Append = Extract<ToChat, { type: 'append' }>;

function indexOf(items: readonly ChatItem[]): ReadonlyMap<string, number> {
  return new Map(items.map((item, position) => [item.id, position]));
}

/** A list of rows in the order given; of two with one id the later content wins, at the earlier place. */
export function rowsOf(given: readonly ChatItem[]): Rows {
  const byId = new Map<string, ChatItem>();
  for (const item of given) byId.set(item.id, boundItem(item));
  const items = [...byId.values()];
  return { items, index: indexOf(items) };
}

/** New rows go to the end, known ones are replaced where they stand. */
export function upsertRows(rows: Rows, given: readonly ChatItem[]): Rows {
  const items = [...rows.items];
  const added = new Map<string, number>();
  for (const item of given) {
    const position = rows.index.get(item.id) ?? added.get(item.id);
    if (position === undefined) {
      added.set(item.id, items.length);
      items.push(boundItem(item));
    } else {
      items[position] = boundItem(item);
    }
  }
  return { items, index: added.size === 0 ? rows.index : indexOf(items) };
}

/** Older rows go in front; those already known stay as they are. */
export function prependRows(rows: Rows, given: readonly ChatItem[]): Rows {
  const fresh = given.filter((item) => !rows.index.has(item.id));
  if (fresh.length === 0) return rows;
  const items = [...rowsOf(fresh).items, ...rows.items];
  return { items, index: indexOf(items) };
}

/** Without the rows of these ids. */
export function removeRows(rows: Rows, ids: readonly string[]): Rows {
  const gone = new Set(ids);
  const items = rows.items.filter((item) => !gone.has(item.id));
  return items.length === rows.items.length ? rows : { items, index: indexOf(items) };
}

/** The rows with streamed text added; `gap` when a piece before it never came. A repeat changes nothing. */
export function appendToRow(rows: Rows, piece: Append): Rows & { readonly gap: boolean } {
  const position = rows.index.get(piece.id);
  const item = position === undefined ? undefined : rows.items[position];
  if (position === undefined || item === undefined) return { ...rows, gap: true };
  const grown = grow(item, piece);
  if (grown === 'gap') return { ...rows, gap: true };
  if (grown === item) return { ...rows, gap: false };
  const items = [...rows.items];
  items[position] = grown;
  return { items, index: rows.index, gap: false };
}

function grow(item: ChatItem, piece: Append): ChatItem | 'gap' {
  if (piece.field === 'output' && item.kind === 'tool') {
    const end = item.outputCut + item.output.length;
    const added = unseen(piece, end);
    return added === null
      ? 'gap'
      : grown(item, added, () => ({ ...item, output: item.output + added }));
  }
  if (piece.field === 'text' && (item.kind === 'assistant' || item.kind === 'thought')) {
    const added = unseen(piece, item.text.length);
    return added === null
      ? 'gap'
      : grown(item, added, () => ({ ...item, text: item.text + added }));
  }
  return item;
}

function grown(item: ChatItem, added: string, next: () => ChatItem): ChatItem {
  if (added === '') return item;
  const result = next();
  return result.kind === 'tool' ? boundOutput(result) : result;
}

/** The part of a piece that lies past `end`, or null where something between is missing. */
function unseen(piece: Append, end: number): string | null {
  return piece.offset > end ? null : piece.text.slice(end - piece.offset);
}
