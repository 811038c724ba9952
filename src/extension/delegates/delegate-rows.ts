import type { ChatItem } from '../../protocol/chat.ts';
import type { DelegateToChat } from '../../protocol/chat-delegates.ts';
import type { HistoryPage } from '../../protocol/pilothouse.ts';
import { type ChatChange, Conversation } from '../chat/model/conversation.ts';
import type { ToolState } from '../chat/model/tool-state.ts';
import { frameMetaOf, type LoopNews } from './loop-news.ts';

/** How many rows of a delegate the chat shows; the others are in its transcript. */
export const ROWS_SHOWN = 60;
/** How many history events are read for them. */
export const EVENTS_READ = 200;

/** What a delegate said and did lately, while somebody looks at it: a small window on its history, kept up live. */
export class DelegateRows {
  readonly loopId: string;
  readonly #conversation: Conversation;
  /** What came before the page did; null from then on. */
  #early: LoopNews[] | null;

  constructor(loopId: string, early: readonly LoopNews[], onUnknown: (what: string) => void) {
    this.loopId = loopId;
    this.#early = [...early];
    this.#conversation = new Conversation(onUnknown, { most: 2 * ROWS_SHOWN, kept: ROWS_SHOWN });
  }

  tool(toolCallId: string): ToolState | null {
    return this.#conversation.tool(toolCallId);
  }

  liveOutput(toolCallId: string): string {
    return this.#conversation.liveOutput(toolCallId);
  }

  /** Takes the newest page of its history in, and what came meanwhile. */
  start(page: HistoryPage, now: number): DelegateToChat {
    const early = this.#early ?? [];
    this.#early = null;
    this.#conversation.start(page);
    for (const news of early) this.#conversation.apply(news.update, frameMetaOf(news), now);
    if (this.#conversation.runningTurn === null) this.#conversation.settle();
    const all = this.#conversation.items().filter(isOwn);
    return {
      type: 'delegate_rows',
      loopId: this.loopId,
      items: all.slice(-ROWS_SHOWN),
      more: page.hasBefore || all.length > ROWS_SHOWN,
    };
  }

  take(news: LoopNews, now: number): readonly DelegateToChat[] {
    if (this.#early !== null) {
      this.#early.push(news);
      return [];
    }
    const changes = this.#conversation.apply(news.update, frameMetaOf(news), now);
    return changes.flatMap((change) => this.#told(change));
  }

  #told(change: ChatChange): readonly DelegateToChat[] {
    const { loopId } = this;
    if (change.type === 'append') return [{ ...change, type: 'delegate_append', loopId }];
    if (change.type !== 'upsert') return [];
    const items = change.items.filter(isOwn);
    return items.length === 0 ? [] : [{ type: 'delegate_upsert', loopId, items }];
  }
}

/** How a turn ended is said by the card itself, unless there is a reason to read. */
function isOwn(item: ChatItem): boolean {
  return item.kind !== 'turn_end' || item.terminal !== 'natural';
}
