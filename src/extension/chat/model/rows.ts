import type { ChatItem } from '../../../protocol/chat.ts';
import type { PromptView } from './prompt-view.ts';
import { mergeOlder, type ToolState, toolItem } from './tool-state.ts';

/** A row as the model keeps it; `item` is what the webview gets. */
export type Row = {
  readonly id: string;
  /** The oldest history event that the row was seen in; null while only live. */
  event: number | null;
  body: RowBody;
};

/** The parts of a row that change. */
export type RowBody =
  | {
      readonly kind: 'user';
      readonly at: number;
      readonly view: PromptView;
      readonly marks: UserMarks;
    }
  | {
      readonly kind: 'assistant' | 'thought';
      /** Where `text` begins within the whole message: more than 0 while an older page is not loaded. */
      start: number;
      text: string;
      streaming: boolean;
    }
  | { readonly kind: 'tool'; readonly tool: ToolState }
  | { readonly kind: 'fixed'; readonly item: ChatItem };

/** What is known of a message besides what it says; parts come one by one. */
export type UserMarks = Pick<UserItem, 'inject' | 'messageId' | 'checkpoint'>;

type UserItem = Extract<ChatItem, { kind: 'user' }>;

/** The row as the webview shows it. */
export function itemOf(row: Row): ChatItem {
  const { body, id } = row;
  switch (body.kind) {
    case 'user':
      return {
        kind: 'user',
        id,
        at: body.at,
        text: body.view.text,
        attachments: [...body.view.attachments],
        ...(body.view.images.length > 0 ? { images: [...body.view.images] } : {}),
        ...body.marks,
      };
    case 'assistant':
    case 'thought':
      return { kind: body.kind, id, text: body.text, streaming: body.streaming };
    case 'tool':
      return toolItem(body.tool);
    case 'fixed':
      return body.item;
  }
}

/** Completes a row with what an older page of the history knows of the same row. */
export function mergeRow(newer: Row, older: Row): void {
  newer.event = older.event ?? newer.event;
  if (newer.body.kind === 'tool' && older.body.kind === 'tool') {
    mergeOlder(newer.body.tool, older.body.tool);
    return;
  }
  if (newer.body.kind === 'user' && older.body.kind === 'user') {
    newer.body = { ...older.body, marks: { ...older.body.marks, ...newer.body.marks } };
    return;
  }
  if (!isText(newer.body) || !isText(older.body)) return;
  const missing = newer.body.start - older.body.start;
  if (missing <= 0) return;
  newer.body.text = older.body.text.slice(0, missing) + newer.body.text;
  newer.body.start = older.body.start;
}

function isText(body: RowBody): body is Extract<RowBody, { kind: 'assistant' | 'thought' }> {
  return body.kind === 'assistant' || body.kind === 'thought';
}

/** Adds streamed text at `offset` of its message; returns what was new, or null for a repeat. */
export function appendText(
  body: Extract<RowBody, { kind: 'assistant' | 'thought' }>,
  offset: number | undefined,
  text: string,
): { offset: number; text: string } | null {
  const end = body.start + body.text.length;
  const from = offset ?? end;
  const known = end - from;
  // A gap can only come from a lost frame: the text still belongs at the end.
  const fresh = known > 0 ? text.slice(known) : text;
  if (fresh === '') return null;
  body.text += fresh;
  return { offset: end - body.start, text: fresh };
}

/** Nothing adds to the row any more; a call without an end gets that one, if one is given. True if that changed it. */
export function settleRow(row: Row, openCalls: 'cancelled' | 'outcome_unknown' | null): boolean {
  const { body } = row;
  if ((body.kind === 'assistant' || body.kind === 'thought') && body.streaming) {
    body.streaming = false;
    return true;
  }
  if (body.kind !== 'tool' || openCalls === null) return false;
  const { status } = body.tool;
  if (status !== undefined && status !== 'pending' && status !== 'in_progress') return false;
  body.tool.status = openCalls;
  return true;
}

/** What a row shows that is whole in itself; null for every other row. */
export function fixedIn(row: Row | undefined): ChatItem | null {
  return row?.body.kind === 'fixed' ? row.body.item : null;
}

/** With more rows than `most` the oldest are let go until `kept` are left; they come back with `history/page`. */
export type RowLimits = { readonly most: number; readonly kept: number };

/** Those of a session's own conversation. */
export const ROW_LIMITS: RowLimits = { most: 3_000, kept: 2_000 };

type Rows = ReadonlyMap<string, Row>;

/** A turn that was cancelled before it began has an end but no beginning to know its prompt by. */
export function endsWithTurnEnd(rows: Rows): boolean {
  const last = [...rows.values()].at(-1);
  return last?.body.kind === 'fixed' && last.body.item.kind === 'turn_end';
}

/** The name of the last row if a chunk without a message id goes on with it. */
export function continuedName(rows: Rows, kind: 'user' | 'assistant' | 'thought'): string | null {
  const last = [...rows.values()].at(-1);
  const prefix = `${kind}:anonymous-`;
  return last?.id.startsWith(prefix) ? last.id.slice(kind.length + 1) : null;
}
