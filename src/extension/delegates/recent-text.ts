import type { LoopNews } from './loop-news.ts';

/** How much streamed text of one delegate is kept, in characters: more than the agent holds back before it stores it. */
const MOST_CHARS = 64 * 1024;

/**
 * The newest streamed pieces of a delegate whose rows nobody shows. What the agent has not stored yet is in no page of
 * the history: who unfolds the rows in the middle of a message gets the end of it from here.
 */
export class RecentText {
  #pieces: LoopNews[] = [];
  #chars = 0;

  add(news: LoopNews): void {
    const length = textLength(news);
    if (length === null) return;
    this.#pieces.push(news);
    this.#chars += length;
    while (this.#chars > MOST_CHARS && this.#pieces.length > 1) {
      const [oldest] = this.#pieces.splice(0, 1);
      this.#chars -= oldest ? (textLength(oldest) ?? 0) : 0;
    }
  }

  get pieces(): readonly LoopNews[] {
    return this.#pieces;
  }

  /** Everything said so far is stored. */
  clear(): void {
    this.#pieces = [];
    this.#chars = 0;
  }
}

function textLength({ update }: LoopNews): number | null {
  if (
    update.sessionUpdate !== 'agent_message_chunk' &&
    update.sessionUpdate !== 'agent_thought_chunk'
  )
    return null;
  return update.content.type === 'text' ? update.content.text.length : null;
}
