import type { JsonObject } from '../../../src/base/json.ts';
import type {
  Model,
  ModelCatalog,
  ModelEvent,
  ModelRequest,
} from '../../../src/core/session/model.ts';
import type { ToolCallId } from '../../../src/core/session/words.ts';

/** What the model does for one request: events in order, waits, or a throw. */
export type Reply = (request: ModelRequest, signal: AbortSignal) => AsyncIterable<ModelEvent>;

/** A model that plays a list of replies and keeps every request it was sent. */
export class ScriptedModel implements Model, ModelCatalog {
  readonly info = {
    id: 'scripted/one',
    name: 'Scripted',
    images: true,
    available: true,
    contextTokens: 1_000,
  };
  readonly requests: ModelRequest[] = [];
  readonly #replies: Reply[];

  constructor(...replies: Reply[]) {
    this.#replies = replies;
  }

  add(...replies: Reply[]): void {
    this.#replies.push(...replies);
  }

  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent> {
    this.requests.push(request);
    const reply = this.#replies.shift();
    if (reply === undefined) throw new Error('The script has no reply left');
    return reply(request, signal);
  }

  async list() {
    return [this.info];
  }

  async resolve(): Promise<Model> {
    return this;
  }

  onDidChange() {
    return { dispose: () => undefined };
  }
}

const USAGE = { inputTokens: 10, outputTokens: 5 };

/** A final answer. */
export function says(...chunks: string[]): Reply {
  return async function* () {
    for (const text of chunks) yield { type: 'text', text };
    yield { type: 'finish', reason: 'stop', usage: USAGE };
  };
}

/** One reply with tool calls; ids are `name#index` with the request's number in front. */
export function calls(...list: readonly [name: string, input: JsonObject][]): Reply {
  return async function* (request) {
    for (const [index, [name, input]] of list.entries()) {
      yield {
        type: 'tool_call',
        call: { toolCallId: `${request.messages.length}.${index}` as ToolCallId, name, input },
      };
    }
    yield { type: 'finish', reason: 'tool_calls', usage: USAGE };
  };
}

/** Streams text and then waits for the abort. */
export function streamsForever(text: string, started: () => void): Reply {
  return async function* (_request, signal) {
    yield { type: 'text', text };
    started();
    await new Promise<void>((resolve) =>
      signal.addEventListener('abort', () => resolve(), { once: true }),
    );
  };
}

/** Fails the request. */
export function fails(error: Error, ...before: ModelEvent[]): Reply {
  return async function* () {
    yield* before;
    throw error;
  };
}
