import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { ContentBlock, SessionUpdate } from '../../protocol/acp.ts';
import type { DelegateToChat } from '../../protocol/chat-delegates.ts';
import type { HistoryPage } from '../../protocol/pilothouse.ts';
import { marksOf } from '../chat/model/marks.ts';
import type { ToolState } from '../chat/model/tool-state.ts';
import { gateEventOf, turnEventOf } from '../chat/model/turn-items.ts';
import type { AgentConnection } from '../core/connection.ts';
import { controlError } from '../sessions/control/refused.ts';
import { DelegateList } from './delegate-list.ts';
import { DelegateRows, EVENTS_READ } from './delegate-rows.ts';
import { delegateMarkOf, type LoopNews, loopNewsOf } from './loop-news.ts';
import { RecentText } from './recent-text.ts';

/** How many delegates' rows are kept up at once. */
const MOST_OPEN = 24;
/** Several changes at once ask for the list once, in milliseconds. */
const FETCH_DELAY_MS = 150;
/** How long a message may take to be on its way, in milliseconds. */
const SENT_WITHIN_MS = 2_000;

/** What a session's delegates work with. */
export type DelegatePorts = {
  readonly sessionId: string;
  readonly clock: Clock;
  readonly newId: () => string;
  readonly connect: () => Promise<AgentConnection>;
  /** The connection while the session is attached to one. */
  readonly connection: () => AgentConnection | null;
  /** The list, or what one of them does, changed. */
  readonly changed: () => void;
  /** Rows that somebody looks at changed. */
  readonly told: (message: DelegateToChat) => void;
  readonly log: (message: string) => void;
};

/** The delegates of one session: who they are, what they do, and the rows of those that are unfolded in the chat. */
export class SessionDelegates {
  readonly list: DelegateList;
  readonly #ports: DelegatePorts;
  readonly #lifetime: AbortSignal;
  /** In the order of their opening, the last one newest. */
  readonly #open = new Map<string, DelegateRows>();
  readonly #recent = new Map<string, RecentText>();
  #isFetching = false;

  constructor(ports: DelegatePorts, lifetime: AbortSignal) {
    this.#ports = ports;
    this.#lifetime = lifetime;
    this.list = new DelegateList(ports.sessionId);
  }

  /** Takes what an update says of delegates. True if it is about nothing else. */
  take(update: SessionUpdate, frameMeta: unknown): boolean {
    const { extra } = marksOf(update._meta, frameMeta);
    const news = loopNewsOf(extra);
    if (news) {
      this.#news(news);
      return true;
    }
    this.#marks(update, extra, this.#ports.sessionId);
    return 'loop' in extra;
  }

  /** What a page of the session's history says of them. */
  absorb(page: HistoryPage): void {
    for (const { updates } of page.entries)
      for (const update of updates)
        this.#marks(update, marksOf(update._meta).extra, this.#ports.sessionId);
  }

  #marks(update: SessionUpdate, extra: Readonly<Record<string, unknown>>, loopId: string): void {
    const mark = delegateMarkOf(extra);
    if (!mark) return;
    const callId = update.sessionUpdate === 'tool_call_update' ? update.toolCallId : null;
    if (this.list.mark(mark, loopId, callId)) this.#ports.changed();
    this.fetchSoon();
  }

  #news(news: LoopNews): void {
    const { loopId, update } = news;
    const { extra } = marksOf(update._meta);
    if (this.list.meet(news)) this.fetchSoon();
    this.#marks(update, extra, loopId);
    const turn = turnEventOf(extra);
    const gate = gateEventOf(extra);
    const isChanged =
      (turn !== null && this.list.setBusy(loopId, turn.state === 'started' ? 'running' : null)) ||
      (gate !== null && this.list.setBusy(loopId, gate.state === 'opened' ? 'waiting' : 'running'));
    if (isChanged) this.#ports.changed();
    if (turn !== null) this.fetchSoon();
    this.#keep(news, turn?.state === 'ended');
    for (const message of this.#open.get(loopId)?.take(news, this.#ports.clock.now()) ?? [])
      this.#ports.told(message);
  }

  #keep(news: LoopNews, isOver: boolean): void {
    if (isOver) {
      this.#recent.delete(news.loopId);
      return;
    }
    const recent = this.#recent.get(news.loopId) ?? new RecentText();
    this.#recent.set(news.loopId, recent);
    recent.add(news);
  }

  /** Asks for the list a little later; it is the truth about who there is, in which order, and what each does. */
  fetchSoon(): void {
    if (this.#isFetching || this.#lifetime.aborted) return;
    this.#isFetching = true;
    this.#ports.clock.sleep(FETCH_DELAY_MS, this.#lifetime).then(
      async () => {
        this.#isFetching = false;
        const connection = this.#ports.connection();
        if (connection) await this.fetch(connection);
      },
      () => {
        this.#isFetching = false;
      },
    );
  }

  /** Reads the list. Never rejects. */
  async fetch(connection: AgentConnection): Promise<void> {
    const { sessionId, changed, log } = this.#ports;
    try {
      this.list.set(await connection.request('_pilothouse/loops/list', { sessionId }));
      changed();
    } catch (error) {
      log(`session ${sessionId}: its delegates could not be listed: ${messageOf(error)}`);
    }
  }

  /** Nothing is followed any more; rows have to be asked for anew. */
  detach(): void {
    this.list.lost();
    this.#recent.clear();
    this.forgetRows();
  }

  /** The chat lays its page anew: it asks again for what it unfolds. */
  forgetRows(): void {
    this.#open.clear();
  }

  /** Reads the rows of a delegate and keeps them up; `told` has them. Never rejects. */
  async openRows(loopId: string): Promise<void> {
    const { connect, told, log, clock } = this.#ports;
    const early = this.#recent.get(loopId)?.pieces ?? [];
    const rows = new DelegateRows(loopId, early, (what) => log(`delegate ${loopId}: ${what}`));
    this.#open.delete(loopId);
    this.#open.set(loopId, rows);
    this.#closeOldest();
    try {
      const connection = await connect();
      const params = { sessionId: loopId, limit: EVENTS_READ };
      const page = await connection.request('_pilothouse/history/page', params);
      if (this.#open.get(loopId) === rows) told(rows.start(page, clock.now()));
    } catch (error) {
      if (this.#open.get(loopId) !== rows) return;
      this.#open.delete(loopId);
      told({ type: 'delegate_closed', loopId, error: messageOf(error) });
    }
  }

  #closeOldest(): void {
    const oldest = this.#open.size > MOST_OPEN ? this.#open.keys().next().value : undefined;
    if (oldest === undefined) return;
    this.#open.delete(oldest);
    this.#ports.told({ type: 'delegate_closed', loopId: oldest });
  }

  closeRows(loopId: string): void {
    this.#open.delete(loopId);
  }

  /** A call of a delegate whose rows are open, and whose it is. */
  call(toolCallId: string): { readonly rows: DelegateRows; readonly tool: ToolState } | null {
    for (const rows of this.#open.values()) {
      const tool = rows.tool(toolCallId);
      if (tool) return { rows, tool };
    }
    return null;
  }

  /** Ends one delegate; false if it did nothing. Rejects with a `ControlError` if that was refused. */
  async stop(loopId: string): Promise<boolean> {
    const { sessionId } = this.#ports;
    const { status } = await this.#ask((connection) =>
      connection.request('_pilothouse/delegates/stop', { sessionId, loopId }),
    );
    return status === 'stopped';
  }

  /** Messages go to this loop from here on; the session's own id names the main agent. */
  async activate(loopId: string): Promise<void> {
    const { sessionId } = this.#ports;
    const connection = await this.#ask(async (one) => {
      await one.request('_pilothouse/loops/activate', { sessionId, loopId });
      return one;
    });
    await this.fetch(connection);
  }

  /** Writes to a delegate: it reads it at its next step, or works on it as its next task for its parent. */
  async message(loopId: string, text: string): Promise<void> {
    const { sessionId } = this.#ports;
    await this.#ask((connection) =>
      connection.request('_pilothouse/delegates/message', { sessionId, loopId, text }),
    );
    this.fetchSoon();
  }

  /**
   * Sends what a person says to a delegate: into its work if it is at work, else as a turn of their own, of which its
   * parent reads nothing. Rejects if it was refused within a moment; what comes of it later is in its rows.
   */
  async say(loopId: string, blocks: readonly ContentBlock[], text: string): Promise<void> {
    const isTextOnly = blocks.every(({ type }) => type === 'text');
    const state = this.list.get(loopId)?.state;
    if (isTextOnly && (state === 'running' || state === 'waiting')) {
      await this.message(loopId, text);
      return;
    }
    const { sessionId, newId, log, clock } = this.#ports;
    const _meta = { pilothouse: { commandId: newId(), loopId } };
    const answered = this.#ask((connection) =>
      connection.request(
        'session/prompt',
        { sessionId, prompt: [...blocks], _meta },
        { timeoutMs: null },
      ),
    );
    answered.then(undefined, (error: unknown) =>
      log(`delegate ${loopId}: a prompt ended with ${messageOf(error)}`),
    );
    await Promise.race([answered, clock.sleep(SENT_WITHIN_MS, this.#lifetime)]);
    this.fetchSoon();
  }

  async #ask<T>(send: (connection: AgentConnection) => Promise<T>): Promise<T> {
    const connection = await this.#ports.connect();
    try {
      return await send(connection);
    } catch (error) {
      throw controlError(error);
    }
  }
}
