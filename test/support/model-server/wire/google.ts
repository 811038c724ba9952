import {
  type ContentStep,
  DEFAULT_USAGE,
  data,
  finishOf,
  pieces,
  type ReplyScenario,
  type Wire,
} from '../scenario.ts';

const REASONS = {
  stop: 'STOP',
  tool_calls: 'STOP',
  length: 'MAX_TOKENS',
  refusal: 'SAFETY',
  pause: 'STOP',
  other: 'OTHER',
} as const;

const STATUSES: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
};

/** Google `streamGenerateContent` with `alt=sse`. Source: ai.google.dev/api/generate-content */
export class GoogleWire implements Wire {
  begin(): readonly string[] {
    return [];
  }

  content(step: ContentStep): readonly string[] {
    switch (step.type) {
      case 'text':
        return pieces(step.text).map((text) => this.#chunk([{ text }]));
      case 'thought':
        return [
          ...pieces(step.text).map((text) => this.#chunk([{ text, thought: true }])),
          ...(step.signature === undefined
            ? []
            : [this.#chunk([{ text: '', thought: true, thoughtSignature: step.signature }])]),
        ];
      case 'call': {
        // Google sends arguments as a value; ones that do not parse can't occur.
        const functionCall = { id: step.id, name: step.name, args: step.input ?? {} };
        const signature = step.signature === undefined ? {} : { thoughtSignature: step.signature };
        return [this.#chunk([{ functionCall, ...signature }])];
      }
    }
  }

  finish(scenario: ReplyScenario): readonly string[] {
    const usage = scenario.usage ?? DEFAULT_USAGE;
    const thought = usage.thought ?? 0;
    return [
      data({
        candidates: [
          {
            content: { parts: [{ text: '' }], role: 'model' },
            finishReason: REASONS[finishOf(scenario)],
            index: 0,
          },
        ],
        usageMetadata: {
          promptTokenCount: usage.input,
          cachedContentTokenCount: usage.cached ?? 0,
          candidatesTokenCount: usage.output - thought,
          thoughtsTokenCount: thought,
          totalTokenCount: usage.input + usage.output,
        },
        modelVersion: 'm',
      }),
    ];
  }

  malformed(): readonly string[] {
    return ['data: {"candidates":[{"content":{"par\n\n'];
  }

  streamError(status: number, message: string): readonly string[] {
    return [data(this.errorBody(status, message, undefined))];
  }

  errorBody(status: number, message: string, code: string | undefined): object {
    const details =
      code === undefined
        ? []
        : [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: code }];
    return { error: { code: status, message, status: STATUSES[status] ?? 'INTERNAL', details } };
  }

  #chunk(parts: readonly object[]): string {
    return data({ candidates: [{ content: { parts, role: 'model' }, index: 0 }] });
  }
}
