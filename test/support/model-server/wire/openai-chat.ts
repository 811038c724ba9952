import {
  argumentsOf,
  type ContentStep,
  DEFAULT_USAGE,
  data,
  finishOf,
  pieces,
  type ReplyScenario,
  type Wire,
} from '../scenario.ts';

const REASONS = {
  stop: 'stop',
  tool_calls: 'tool_calls',
  length: 'length',
  refusal: 'content_filter',
  pause: 'stop',
  other: 'reason_of_its_own',
} as const;

/** OpenAI chat completions, streamed. Source: platform.openai.com/docs/api-reference/chat-streaming */
export class OpenAiChatWire implements Wire {
  #calls = 0;

  begin(): readonly string[] {
    return [': keep-alive\n\n', this.#chunk({ role: 'assistant', content: '' })];
  }

  content(step: ContentStep): readonly string[] {
    switch (step.type) {
      case 'text':
        return pieces(step.text).map((content) => this.#chunk({ content }));
      case 'thought':
        return pieces(step.text).map((reasoning_content) => this.#chunk({ reasoning_content }));
      case 'call': {
        const index = this.#calls;
        this.#calls += 1;
        const head = {
          id: step.id,
          type: 'function',
          function: { name: step.name, arguments: '' },
        };
        return [
          this.#chunk({ tool_calls: [{ index, ...head }] }),
          ...pieces(argumentsOf(step)).map((text) =>
            this.#chunk({ tool_calls: [{ index, function: { arguments: text } }] }),
          ),
        ];
      }
    }
  }

  finish(scenario: ReplyScenario): readonly string[] {
    const usage = scenario.usage ?? DEFAULT_USAGE;
    return [
      this.#chunk({}, REASONS[finishOf(scenario)]),
      data({
        ...this.#head(),
        choices: [],
        usage: {
          prompt_tokens: usage.input,
          completion_tokens: usage.output,
          total_tokens: usage.input + usage.output,
          prompt_tokens_details: { cached_tokens: usage.cached ?? 0 },
          completion_tokens_details: { reasoning_tokens: usage.thought ?? 0 },
        },
      }),
      'data: [DONE]\n\n',
    ];
  }

  malformed(): readonly string[] {
    return ['data: {"id":"chatcmpl-1","choices":[{"delta":{"con\n\n'];
  }

  streamError(status: number, message: string): readonly string[] {
    return [data({ error: { message, code: status } })];
  }

  errorBody(status: number, message: string, code: string | undefined): object {
    return {
      error: { message, type: status === 429 ? 'requests' : 'api_error', code: code ?? null },
    };
  }

  #head(): object {
    return {
      id: 'chatcmpl-1',
      object: 'chat.completion.chunk',
      created: 1_700_000_000,
      model: 'm',
    };
  }

  #chunk(delta: object, finishReason: string | null = null): string {
    return data({
      ...this.#head(),
      choices: [{ index: 0, delta, finish_reason: finishReason }],
    });
  }
}
