import { createHash } from 'node:crypto';
import type { ModelRequest } from '../../session/model.ts';
import type { ToolCallId } from '../../session/words.ts';

/** An id that every provider accepts: unchanged where it is one already, else its hash. */
export function wireCallId(id: string): string {
  return /^[a-zA-Z0-9_-]{1,64}$/.test(id)
    ? id
    : createHash('sha256').update(id).digest('hex').slice(0, 40);
}

/**
 * Gives the calls of one reply ids that are unique within the conversation: some servers leave them empty or
 * count from zero in every reply.
 */
export class CallIds {
  readonly #used: Set<string>;
  readonly #request: ModelRequest;

  constructor(request: ModelRequest) {
    this.#request = request;
    this.#used = new Set(
      request.messages.flatMap((message) =>
        message.role === 'assistant' ? message.calls.map((call) => call.toolCallId) : [],
      ),
    );
  }

  take(id: string): ToolCallId {
    let unique = id;
    for (let count = 1; unique === '' || this.#used.has(unique); count += 1) {
      unique = `call_${this.#request.turnId}_${this.#request.messages.length}_${count}`;
    }
    this.#used.add(unique);
    return unique as ToolCallId;
  }
}
