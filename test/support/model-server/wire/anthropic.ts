import {
  argumentsOf,
  type ContentStep,
  DEFAULT_USAGE,
  event,
  finishOf,
  pieces,
  type ReplyScenario,
  type Wire,
} from '../scenario.ts';

const REASONS = {
  stop: 'end_turn',
  tool_calls: 'tool_use',
  length: 'max_tokens',
  refusal: 'refusal',
  pause: 'pause_turn',
  other: 'reason_of_its_own',
} as const;

const TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  529: 'overloaded_error',
};

/** Anthropic messages, streamed. Source: docs.anthropic.com/en/docs/build-with-claude/streaming */
export class AnthropicWire implements Wire {
  readonly #usage: NonNullable<ReplyScenario['usage']>;
  #index = 0;

  constructor(usage: ReplyScenario['usage']) {
    this.#usage = usage ?? DEFAULT_USAGE;
  }

  begin(): readonly string[] {
    const cached = this.#usage.cached ?? 0;
    return [
      event('message_start', {
        type: 'message_start',
        message: {
          id: 'msg_1',
          type: 'message',
          role: 'assistant',
          model: 'm',
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: {
            input_tokens: this.#usage.input - cached,
            cache_creation_input_tokens: 0,
            cache_read_input_tokens: cached,
            output_tokens: 1,
          },
        },
      }),
      event('ping', { type: 'ping' }),
    ];
  }

  content(step: ContentStep): readonly string[] {
    switch (step.type) {
      case 'text':
        return this.#block({ type: 'text', text: '' }, [
          ...pieces(step.text).map((text) => ({ type: 'text_delta', text })),
        ]);
      case 'thought':
        return this.#block({ type: 'thinking', thinking: '', signature: '' }, [
          ...pieces(step.text).map((thinking) => ({ type: 'thinking_delta', thinking })),
          { type: 'signature_delta', signature: step.signature ?? 'sig' },
        ]);
      case 'call':
        return this.#block({ type: 'tool_use', id: step.id, name: step.name, input: {} }, [
          { type: 'input_json_delta', partial_json: '' },
          ...pieces(argumentsOf(step)).map((partial_json) => ({
            type: 'input_json_delta',
            partial_json,
          })),
        ]);
    }
  }

  finish(scenario: ReplyScenario): readonly string[] {
    return [
      event('message_delta', {
        type: 'message_delta',
        delta: { stop_reason: REASONS[finishOf(scenario)], stop_sequence: null },
        usage: { output_tokens: this.#usage.output },
      }),
      event('message_stop', { type: 'message_stop' }),
    ];
  }

  malformed(): readonly string[] {
    return ['event: content_block_delta\ndata: {"type":"content_block_del\n\n'];
  }

  streamError(status: number, message: string): readonly string[] {
    return [event('error', this.errorBody(status, message, undefined))];
  }

  errorBody(status: number, message: string, code: string | undefined): object {
    return { type: 'error', error: { type: code ?? TYPES[status] ?? 'api_error', message } };
  }

  #block(content_block: object, deltas: readonly object[]): string[] {
    const index = this.#index;
    this.#index += 1;
    return [
      event('content_block_start', { type: 'content_block_start', index, content_block }),
      ...deltas.map((delta) =>
        event('content_block_delta', { type: 'content_block_delta', index, delta }),
      ),
      event('content_block_stop', { type: 'content_block_stop', index }),
    ];
  }
}
