import { CodedError } from '../../base/errors.ts';
import type { Json, JsonObject, JsonSchema } from '../../base/json.ts';
import type { MessageId, SessionId, ThoughtLevel, ToolCallId, TurnId, Usage } from './words.ts';

/** A piece of a message as a model sees it. `data` is base64. */
export type ModelPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image'; readonly mimeType: string; readonly data: string }
  | { readonly type: 'audio'; readonly mimeType: string; readonly data: string };

/** A tool call as the model asked for it. */
export type ModelToolCall = {
  readonly toolCallId: ToolCallId;
  readonly name: string;
  /** The parsed arguments; when they did not parse, an empty object with `inputError` telling why. */
  readonly input: JsonObject;
  readonly inputError?: string;
};

/** The result of a tool call as the model reads it. */
export type ModelToolResult = {
  readonly toolCallId: ToolCallId;
  readonly name: string;
  readonly status:
    | 'completed'
    | 'failed'
    | 'denied'
    | 'cancelled'
    | 'interrupted'
    | 'outcome_unknown';
  readonly parts: readonly ModelPart[];
};

/**
 * The conversation as it is sent, oldest first. Append-only: the list of request N+1 begins with the list of
 * request N, element by element (design §4.7).
 */
export type ModelMessage =
  | {
      readonly role: 'user';
      readonly messageId: MessageId;
      /**
       * Where it came from: the turn's prompt, a delivered inject, the machine (a process ended), an envelope of
       * directives, or the summary that stands for what was compacted.
       */
      readonly origin: 'prompt' | 'steer' | 'interrupt' | 'machine' | 'directives' | 'summary';
      readonly parts: readonly ModelPart[];
    }
  | {
      readonly role: 'assistant';
      readonly messageId: MessageId;
      readonly text: string;
      readonly thought: string;
      readonly calls: readonly ModelToolCall[];
      /** What the provider needs back unchanged (signatures, encrypted reasoning); opaque to the engine. */
      readonly providerState?: Json;
    }
  | { readonly role: 'tool'; readonly results: readonly ModelToolResult[] };

/** A tool as a model sees it. */
export type ToolDefinition = {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
};

/** One request to a model. */
export type ModelRequest = {
  readonly sessionId: SessionId;
  readonly turnId: TurnId;
  /** The name within its source, for example `gpt-5` of `openai/gpt-5`. */
  readonly model: string;
  readonly system: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ToolDefinition[];
  readonly thoughtLevel: ThoughtLevel;
  /** 1 for the first try of this request, 2 for its first retry, and so on. */
  readonly attempt: number;
};

/**
 * Why a reply ended. `pause` means that the model wants to be called again without new input (as Anthropic's
 * `pause_turn`): the loop goes on with the next iteration.
 */
export type FinishReason = 'stop' | 'pause' | 'tool_calls' | 'length' | 'refusal' | 'other';

/** One step of a streamed reply. Exactly one `finish` comes last; an error is thrown instead of it. */
export type ModelEvent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thought'; readonly text: string }
  | { readonly type: 'tool_call'; readonly call: ModelToolCall }
  | {
      readonly type: 'finish';
      readonly reason: FinishReason;
      readonly usage: Usage;
      readonly providerState?: Json;
    };

/** Facts about a model. */
export type ModelInfo = {
  /** `source/name`. */
  readonly id: string;
  readonly name: string;
  readonly description?: string;
  /** Tokens of context, when known. */
  readonly contextTokens?: number;
  readonly images: boolean;
  /** False when it can't be used now; `unavailableReason` says what to do about it. */
  readonly available: boolean;
  readonly unavailableReason?: string;
};

/** A resolved model. `stream` must not buffer, must stop within 100 ms of an abort, and throws only `ModelError`. */
export interface Model {
  readonly info: ModelInfo;
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>;
}

/** What can go wrong with a model. */
export type ModelErrorCode =
  | 'model.unknown'
  | 'model.key_missing'
  | 'model.key_refused'
  | 'model.rate_limited'
  | 'model.overloaded'
  | 'model.bad_request'
  | 'model.context_exceeded'
  | 'model.stream_cut'
  | 'model.unreachable'
  | 'model.timeout'
  | 'model.cancelled'
  | 'model.failed';

/** Who a request waits for. `arrived` resolves when they are there, and rejects soon after `signal` aborts. */
export type ModelArrival = {
  readonly waitsFor: 'editor';
  readonly arrived: (signal: AbortSignal) => Promise<void>;
};

/** A failed model request. `retryable` says that the same request may succeed later. */
export class ModelError extends CodedError<ModelErrorCode> {
  /** The source's name, for the sign-in that `model.key_missing` and `model.key_refused` ask for. */
  readonly source: string;
  /** HTTP status, when there was one. */
  readonly status?: number;
  /** How long the provider asked to wait, in milliseconds. */
  readonly retryAfterMs?: number;
  /** Set where the request needs only somebody who is not there yet: the step waits for them instead of failing. */
  readonly arrival?: ModelArrival;

  constructor(
    code: ModelErrorCode,
    message: string,
    options: {
      source: string;
      retryable?: boolean;
      status?: number | undefined;
      retryAfterMs?: number | undefined;
      arrival?: ModelArrival | undefined;
      cause?: unknown;
    },
  ) {
    super(code, message, { cause: options.cause, retryable: options.retryable ?? false });
    this.source = options.source;
    if (options.status !== undefined) this.status = options.status;
    if (options.retryAfterMs !== undefined) this.retryAfterMs = options.retryAfterMs;
    if (options.arrival !== undefined) this.arrival = options.arrival;
  }
}

/** Finds models. Listing must be quick and must not need the network; a source that can't list says what it knows. */
export interface ModelCatalog {
  list(): Promise<readonly ModelInfo[]>;
  /** Throws `ModelError` `model.unknown` for an id that no source claims. */
  resolve(id: string, session: { readonly sessionId: SessionId }): Promise<Model>;
  /** Fires when the list may have changed (a key was set, the editor's models changed). */
  onDidChange(listener: () => void): { dispose(): void };
}
