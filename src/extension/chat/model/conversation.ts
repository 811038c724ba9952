import { messageOf } from '../../../base/errors.ts';
import type { ContentBlock, SessionUpdate } from '../../../protocol/acp.ts';
import type { ChatItem, ToChat } from '../../../protocol/chat.ts';
import type { HistoryPage } from '../../../protocol/pilothouse.ts';
import { checkpointOf, controlItem, injectOf, userMessageOf } from './control-items.ts';
import { DelegateCalls } from './delegate-calls.ts';
import { fixedItem } from './fixed-items.ts';
import { marksOf, type UpdateMarks } from './marks.ts';
import { OutputLog } from './output-log.ts';
import { addBlock, promptView } from './prompt-view.ts';
import {
  appendText,
  continuedName,
  endsWithTurnEnd,
  fixedIn,
  itemOf,
  mergeRow,
  ROW_LIMITS,
  type Row,
  type RowBody,
  type RowLimits,
  settleRow,
  type UserMarks,
} from './rows.ts';
import { appendOutput, patchTool, type ToolPatch, type ToolState } from './tool-state.ts';
import {
  answerItem,
  type GateEvent,
  gateEventOf,
  type RunningTurn,
  secondsBetween,
  type TurnEnd,
  type TurnEvent,
  turnEndItem,
  turnEventOf,
} from './turn-items.ts';
import { TurnPrompts } from './turn-prompts.ts';

/** What changed for whoever shows the conversation. */
export type ChatChange = Extract<ToChat, { type: 'upsert' | 'append' | 'prepend' | 'remove' }>;

/**
 * The conversation of one session: a window of its history plus what is live. Updates are merged by message id, tool
 * call id and offset, so that a repeat changes nothing and a late update of an ended turn stays under that turn.
 */
export class Conversation {
  readonly #rows = new Map<string, Row>();
  readonly #outputs = new Map<string, OutputLog>();
  #hasBefore = false;
  #oldestEvent: number | null = null;
  #lastEvent = 0;
  /** Up to here the loaded page is complete: live repeats of it are dropped. */
  #loadedEvent = 0;
  #anonymous = 0;
  #turn: RunningTurn | null = null;
  /** Prompts whose turn ended by its mark and whose answer is still to come. */
  readonly #endedPrompts = new Set<string>();
  readonly #gateTitles = new Map<string, string>();
  readonly #prompts = new TurnPrompts();
  readonly #delegates = new DelegateCalls();
  readonly #onUnknown: (what: string) => void;
  readonly #limits: RowLimits;

  constructor(onUnknown: (what: string) => void = () => undefined, limits: RowLimits = ROW_LIMITS) {
    this.#onUnknown = onUnknown;
    this.#limits = limits;
  }

  items(): ChatItem[] {
    return [...this.#rows.values()].map(itemOf);
  }

  get hasBefore(): boolean {
    return this.#hasBefore;
  }

  /** Where the next older page ends; null if nothing of the history is loaded. */
  get oldestEvent(): number | null {
    return this.#oldestEvent;
  }

  /** The newest history event taken in. */
  get lastEvent(): number {
    return this.#lastEvent;
  }

  /** The state of a tool call, for its full output and its diffs. */
  tool(id: string): ToolState | null {
    const row = this.#rows.get(id);
    return row?.body.kind === 'tool' ? row.body.tool : null;
  }

  /** All of a call's live output since it was first seen, also what its card has let go. */
  liveOutput(id: string): string {
    return this.#outputs.get(id)?.text() ?? '';
  }

  /** The row that a history event belongs to, as far as it is loaded. */
  rowAt(eventId: number): string | null {
    const rows = [...this.#rows.values()];
    return rows.findLast(({ event }) => event !== null && event <= eventId)?.id ?? null;
  }

  /** Takes the newest page in, once, into an empty conversation. `activeTurn` runs and may have begun before it. */
  start(page: HistoryPage, activeTurn: string | null = null): void {
    if (activeTurn !== null) this.#turn = { turnId: activeTurn, commandId: activeTurn, at: null };
    for (const entry of page.entries) this.#applyEntry(entry);
    this.#endedPrompts.clear();
    this.#hasBefore = page.hasBefore;
    this.#oldestEvent = page.entries[0]?.eventId ?? null;
    this.#loadedEvent = page.lastEventId;
    this.#lastEvent = Math.max(this.#lastEvent, page.lastEventId);
  }

  /** Takes an older page in. */
  prepend(page: HistoryPage): ChatChange[] {
    const older = new Conversation(this.#onUnknown);
    older.start(page);
    older.settle();
    const fresh: Row[] = [];
    const merged: Row[] = [];
    for (const row of older.#rows.values()) {
      const known = this.#rows.get(row.id);
      if (known) {
        mergeRow(known, row);
        merged.push(known);
      } else fresh.push(row);
    }
    const current = [...this.#rows];
    this.#rows.clear();
    for (const row of fresh) this.#rows.set(row.id, row);
    for (const [id, row] of current) this.#rows.set(id, row);
    merged.push(...this.#prompts.joinOlder(older.#prompts, this.#rows));
    this.#hasBefore = page.hasBefore;
    this.#oldestEvent = page.entries[0]?.eventId ?? this.#oldestEvent;
    return [
      { type: 'prepend', items: fresh.map(itemOf), hasBefore: page.hasBefore },
      ...(merged.length > 0 ? [{ type: 'upsert' as const, items: merged.map(itemOf) }] : []),
    ];
  }

  /** A live update. One that the loaded history already holds changes nothing. */
  apply(update: SessionUpdate, frameMeta: unknown, at: number): ChatChange[] {
    const marks = marksOf(update._meta, frameMeta);
    if (marks.eventId !== undefined && marks.offset === undefined) {
      if (marks.eventId <= this.#loadedEvent) return [];
      this.#lastEvent = Math.max(this.#lastEvent, marks.eventId);
    }
    const changes = this.#apply(update, marks, at);
    return [...changes, ...this.#trim()];
  }

  #applyEntry(entry: HistoryPage['entries'][number]): void {
    const at = Date.parse(entry.at);
    for (const update of entry.updates) {
      const marks = marksOf(update._meta);
      this.#apply(update, { ...marks, eventId: entry.eventId }, at);
    }
  }

  #apply(update: SessionUpdate, marks: UpdateMarks, at: number): ChatChange[] {
    try {
      return this.#dispatch(update, marks, at);
    } catch (error) {
      // One bad update must not end the view of all others.
      this.#onUnknown(`${update.sessionUpdate}: ${messageOf(error)}`);
      return [];
    }
  }

  #dispatch(update: SessionUpdate, marks: UpdateMarks, at: number): ChatChange[] {
    const marked = this.#marked(marks, at);
    if (marked) return marked;
    const whole = userMessageOf(update);
    if (whole)
      return whole.content.flatMap((block) => this.#userChunk(block, whole.messageId, marks, at));
    switch (update.sessionUpdate) {
      case 'user_message_chunk':
        return this.#userChunk(update.content, update.messageId ?? null, marks, at);
      case 'agent_message_chunk':
        return this.#textChunk('assistant', update.content, update.messageId ?? null, marks);
      case 'agent_thought_chunk':
        return this.#textChunk('thought', update.content, update.messageId ?? null, marks);
      case 'tool_call':
      case 'tool_call_update':
        return this.#toolUpdate(update, marks);
      default:
        return this.#fixed(update, marks);
    }
  }

  /** What an update says by its marks alone; null if it has to be read itself. */
  #marked(marks: UpdateMarks, at: number): ChatChange[] | null {
    const event = marks.eventId ?? null;
    const turn = turnEventOf(marks.extra);
    if (turn) return this.#turnMark(turn, event, at);
    const gate = gateEventOf(marks.extra);
    if (gate) return this.#gateMark(gate, event);
    const left = checkpointOf(marks.extra);
    if (left) return this.#markPrompt(this.#prompts.left(left.turnId, left.checkpoint));
    const back = this.#delegates.handBack(marks, this.#rows, () => this.#newRowId(marks));
    if (back) return [...this.#putFixed(back.item, event), ...back.calls.map(this.#upsert)];
    const control = controlItem(marks.extra, () => this.#newRowId(marks));
    return control && this.#putFixed(control, event);
  }

  /** Shows a prompt that was sent from here: the agent repeats it in the history only. */
  beginPrompt(commandId: string, blocks: readonly ContentBlock[], at: number): ChatChange[] {
    const id = promptId(commandId);
    if (this.#rows.has(id)) return [];
    return this.#begin(id, { kind: 'user', at, view: promptView(blocks), marks: {} }, null);
  }

  /** Takes a prompt out again that the agent did not take. */
  withdrawPrompt(commandId: string): ChatChange[] {
    const id = promptId(commandId);
    return this.#rows.delete(id) ? [{ type: 'remove', ids: [id] }] : [];
  }

  #userChunk(
    block: ContentBlock,
    messageId: string | null,
    marks: UpdateMarks,
    at: number,
  ): ChatChange[] {
    const id = `user:${messageId ?? continuedName(this.#rows, 'user') ?? this.#nextAnonymous()}`;
    const row = this.#rows.get(id);
    if (row?.body.kind === 'user') {
      addBlock(row.body.view, block);
      return [this.#upsert(row)];
    }
    const inject = injectOf(marks.extra);
    const said: UserMarks = {
      ...(inject ? { inject } : {}),
      ...(messageId === null ? {} : { messageId }),
    };
    const body: RowBody = { kind: 'user', at, view: promptView([block]), marks: said };
    return this.#begin(id, body, marks.eventId ?? null);
  }

  /** A prompt's row as more of it gets known. */
  #markPrompt(known: { readonly rowId: string; readonly marks: UserMarks } | null): ChatChange[] {
    const row = known ? this.#rows.get(known.rowId) : undefined;
    if (!known || row?.body.kind !== 'user') return [];
    row.body = { ...row.body, marks: { ...row.body.marks, ...known.marks } };
    return [this.#upsert(row)];
  }

  #textChunk(
    kind: 'assistant' | 'thought',
    block: ContentBlock,
    messageId: string | null,
    marks: UpdateMarks,
  ): ChatChange[] {
    const text =
      block.type === 'text' ? block.text : block.type === 'resource_link' ? block.uri : '';
    const name = messageId ?? continuedName(this.#rows, kind) ?? this.#nextAnonymous();
    const id = `${kind}:${name}`;
    const row = this.#rows.get(id);
    if (!row) {
      const body = { kind, start: marks.offset ?? 0, text, streaming: true };
      return text === '' ? [] : this.#begin(id, body, marks.eventId ?? null);
    }
    if (row.body.kind !== 'assistant' && row.body.kind !== 'thought') return [];
    const fresh = appendText(row.body, marks.offset, text);
    return fresh ? [{ type: 'append', id, field: 'text', ...fresh }] : [];
  }

  #toolUpdate(patch: ToolPatch, marks: UpdateMarks): ChatChange[] {
    const id = patch.toolCallId;
    const known = this.#rows.get(id);
    const tool = known?.body.kind === 'tool' ? known.body.tool : { id };
    const delta = marks.extra['output'];
    if (typeof delta === 'string' && known) {
      const log = this.#outputs.get(id) ?? new OutputLog();
      this.#outputs.set(id, log);
      log.add(delta);
      const isFirst = tool.live === undefined;
      const piece = appendOutput(tool, delta);
      return isFirst ? [this.#upsert(known)] : [{ type: 'append', id, field: 'output', ...piece }];
    }
    patchTool(tool, patch, marks.extra);
    this.#delegates.learn(tool, this.#rows);
    if (!known) return this.#begin(id, { kind: 'tool', tool }, marks.eventId ?? null);
    return [this.#upsert(known)];
  }

  #fixed(update: SessionUpdate, marks: UpdateMarks): ChatChange[] {
    const item = fixedItem(update, marks, {
      newId: () => this.#newRowId(marks),
      turnId: this.#turn?.turnId ?? 'current',
      known: (id) => fixedIn(this.#rows.get(id)),
    });
    if (item === 'unknown') this.#onUnknown(update.sessionUpdate);
    if (item === null || item === 'unknown') return [];
    return this.#putFixed(item, marks.eventId ?? null);
  }

  #newRowId(marks: UpdateMarks): string {
    return `row:${marks.eventId ?? this.#nextAnonymous()}`;
  }

  #putFixed(item: ChatItem, event: number | null): ChatChange[] {
    const known = this.#rows.get(item.id);
    if (!known) return this.#begin(item.id, { kind: 'fixed', item }, event);
    known.body = { kind: 'fixed', item };
    return [this.#upsert(known)];
  }

  #turnMark(mark: TurnEvent, event: number | null, at: number): ChatChange[] {
    if (mark.state === 'started') {
      this.#turn = { turnId: mark.turnId, commandId: mark.commandId, at };
      const own = promptId(mark.commandId);
      const rowId = this.#rows.has(own) ? own : `user:${mark.messageId ?? ''}`;
      return this.#markPrompt(this.#prompts.began(mark.turnId, rowId, mark.messageId));
    }
    const running = this.#turn?.turnId === mark.end.turnId ? this.#turn : null;
    this.#turn = null;
    if (running) this.#endedPrompts.add(running.commandId);
    const seconds = running && running.at !== null ? secondsBetween(running.at, at) : null;
    return this.endTurn({ ...mark.end, seconds }, event);
  }

  #gateMark(mark: GateEvent, event: number | null): ChatChange[] {
    if (mark.state === 'opened') {
      this.#gateTitles.set(mark.gateId, mark.title);
      return [];
    }
    const title = this.#gateTitles.get(mark.gateId) ?? '';
    this.#gateTitles.delete(mark.gateId);
    return this.#putFixed(answerItem(mark.gateId, title, mark.answer), event);
  }

  /** The turn that runs as far as the updates tell. */
  get runningTurn(): { readonly turnId: string; readonly commandId: string } | null {
    return this.#turn;
  }

  /** A prompt was answered: ends its turn, unless the history's own mark has done so already. */
  promptEnded(commandId: string, end: Omit<TurnEnd, 'seconds'>): ChatChange[] {
    if (this.#endedPrompts.delete(commandId) || endsWithTurnEnd(this.#rows)) return [];
    const running = this.#turn?.commandId === commandId ? this.#turn : null;
    if (running) this.#turn = null;
    const turnId = running?.turnId ?? end.turnId;
    return this.endTurn({ ...end, turnId, seconds: null }, null);
  }

  /** The running turn's process is gone: it counts as running no more, and says nothing yet of how it ended. */
  turnLost(): ChatChange[] {
    this.#turn = null;
    return this.settle();
  }

  /** The turn is over: what was streaming is complete, and calls without an end got none. */
  endTurn(end: TurnEnd, event: number | null): ChatChange[] {
    const isKnown = end.stopReason === 'cancelled' && end.terminal !== 'runtime_error';
    const closed = this.settle(isKnown ? 'cancelled' : 'outcome_unknown');
    return [...closed, ...this.#putFixed(turnEndItem(end), event)];
  }

  /** Nothing is running (any more): no row streams. */
  settle(openCalls: 'cancelled' | 'outcome_unknown' | null = null): ChatChange[] {
    const changed: Row[] = [];
    for (const row of this.#rows.values()) if (settleRow(row, openCalls)) changed.push(row);
    return changed.length > 0 ? [{ type: 'upsert', items: changed.map(itemOf) }] : [];
  }

  #begin(id: string, body: RowBody, event: number | null): ChatChange[] {
    const closed = body.kind === 'fixed' ? [] : this.settle();
    const row: Row = { id, event, body };
    this.#rows.set(id, row);
    return [...closed, this.#upsert(row)];
  }

  #upsert = (row: Row): ChatChange => ({ type: 'upsert', items: [itemOf(row)] });

  #nextAnonymous(): string {
    this.#anonymous += 1;
    return `anonymous-${this.#anonymous}`;
  }

  #trim(): ChatChange[] {
    if (this.#rows.size <= this.#limits.most) return [];
    const ids = [...this.#rows.keys()].slice(0, this.#rows.size - this.#limits.kept);
    for (const id of ids) {
      this.#rows.delete(id);
      this.#outputs.delete(id);
    }
    const first = [...this.#rows.values()].find((row) => row.event !== null);
    this.#oldestEvent = first?.event ?? this.#lastEvent + 1;
    this.#hasBefore = true;
    return [{ type: 'remove', ids }];
  }
}

function promptId(commandId: string): string {
  return `prompt:${commandId}`;
}
