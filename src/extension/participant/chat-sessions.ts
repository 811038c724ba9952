/** A turn of a chat with our participant, as far as it matters here. */
export type OwnTurn = {
  readonly prompt: string;
  /** The session that its result names; null where it has none, as after a cancel. */
  readonly sessionId: string | null;
};

const MAX_REMEMBERED = 50;

/**
 * Which session a chat talks to. The results of its turns say so; the editor drops the result of a cancelled turn, so
 * what was begun is remembered here too, by the prompts that the chat has seen.
 */
export class ChatSessions {
  readonly #begun = new Map<string, string>();

  /** The session of a chat with these turns, oldest first; null if it has none yet. */
  of(turns: readonly OwnTurn[]): string | null {
    for (let end = turns.length; end > 0; end -= 1) {
      const named = turns[end - 1]?.sessionId ?? this.#begun.get(keyOf(turns.slice(0, end)));
      if (named !== undefined) return named;
    }
    return null;
  }

  /** After these turns the chat sent `prompt` to the session. */
  begin(turns: readonly OwnTurn[], prompt: string, sessionId: string): void {
    this.#begun.set(keyOf([...turns, { prompt, sessionId }]), sessionId);
    const [oldest] = this.#begun.keys();
    if (this.#begun.size > MAX_REMEMBERED && oldest !== undefined) this.#begun.delete(oldest);
  }
}

function keyOf(turns: readonly OwnTurn[]): string {
  return JSON.stringify(turns.map(({ prompt }) => prompt));
}
