/** One thing that a scripted reply does, in order. */
export type ReplyStep =
  | { readonly type: 'text'; readonly text: string }
  /** `signature` is what the provider wants back: Anthropic's signature, OpenAI's encrypted content, Google's thought signature. */
  | { readonly type: 'thought'; readonly text: string; readonly signature?: string }
  /** `input` is sent as JSON; `rawInput` as it stands, for arguments that do not parse. */
  | {
      readonly type: 'call';
      readonly id: string;
      readonly name: string;
      readonly input?: object;
      readonly rawInput?: string;
      readonly signature?: string;
    }
  /** Waits for the promise before it goes on. */
  | { readonly type: 'hold'; readonly until: Promise<unknown> }
  /** A frame that is not JSON. */
  | { readonly type: 'malformed' }
  /** A frame that reports an error, in the provider's own shape. */
  | { readonly type: 'error'; readonly status: number; readonly message: string }
  /** Closes the connection at once, in the middle of the stream. */
  | { readonly type: 'cut' }
  /** Ends the body properly, but without the frames that finish a reply. */
  | { readonly type: 'end' };

export type ScriptedUsage = {
  readonly input: number;
  readonly output: number;
  readonly cached?: number;
  readonly thought?: number;
};

/** A streamed reply. */
export type ReplyScenario = {
  readonly kind: 'reply';
  readonly steps: readonly ReplyStep[];
  /** `tool_calls` if it holds calls, else `stop`. `other` is a word that no client knows. */
  readonly finish?: 'stop' | 'tool_calls' | 'length' | 'refusal' | 'pause' | 'other';
  readonly usage?: ScriptedUsage;
};

/** What the server does with one request. */
export type Scenario =
  | ReplyScenario
  /** An HTTP error with a body in the provider's shape; `code` is its machine-readable name. */
  | {
      readonly kind: 'error';
      readonly status: number;
      readonly message?: string;
      readonly code?: string;
      readonly headers?: Readonly<Record<string, string>>;
      /** Sent instead of the provider's shape. */
      readonly body?: string;
    }
  /** Takes the request and never answers. */
  | { readonly kind: 'silence' }
  | { readonly kind: 'redirect'; readonly location: string };

export const DEFAULT_USAGE: ScriptedUsage = { input: 100, output: 20 };

/** A text cut into pieces of a few characters, as providers stream it. */
export function pieces(text: string, size = 5): string[] {
  const characters = [...text];
  const result: string[] = [];
  for (let index = 0; index < characters.length; index += size) {
    result.push(characters.slice(index, index + size).join(''));
  }
  return result;
}

/** The steps that a wire writes as content. */
export type ContentStep = Extract<ReplyStep, { type: 'text' | 'thought' | 'call' }>;

/** How one provider's wire looks. Frames are whole server-sent events. */
export interface Wire {
  begin(): readonly string[];
  content(step: ContentStep): readonly string[];
  finish(scenario: ReplyScenario): readonly string[];
  malformed(): readonly string[];
  streamError(status: number, message: string): readonly string[];
  errorBody(status: number, message: string, code: string | undefined): object;
}

export function argumentsOf(step: Extract<ContentStep, { type: 'call' }>): string {
  return step.rawInput ?? JSON.stringify(step.input ?? {});
}

export function data(value: object): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

export function event(name: string, value: object): string {
  return `event: ${name}\ndata: ${JSON.stringify(value)}\n\n`;
}

export function finishOf(scenario: ReplyScenario): NonNullable<ReplyScenario['finish']> {
  const calls = scenario.steps.some((step) => step.type === 'call');
  return scenario.finish ?? (calls ? 'tool_calls' : 'stop');
}
