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

const INCOMPLETE: Readonly<Record<string, string>> = {
  length: 'max_output_tokens',
  refusal: 'content_filter',
  other: 'reason_of_its_own',
};

/** OpenAI Responses, streamed. Source: platform.openai.com/docs/api-reference/responses-streaming */
export class OpenAiResponsesWire implements Wire {
  #sequence = 0;
  #index = 0;

  begin(): readonly string[] {
    const response = { ...this.#response(), status: 'in_progress' };
    return [
      this.#event('response.created', { response }),
      this.#event('response.in_progress', { response }),
    ];
  }

  content(step: ContentStep): readonly string[] {
    const index = this.#index;
    this.#index += 1;
    switch (step.type) {
      case 'text':
        return this.#text(index, step.text);
      case 'thought':
        return this.#thought(index, step.text, step.signature);
      case 'call':
        return this.#call(index, step);
    }
  }

  finish(scenario: ReplyScenario): readonly string[] {
    const finish = finishOf(scenario);
    const usage = scenario.usage ?? DEFAULT_USAGE;
    const reason = INCOMPLETE[finish];
    const incomplete = reason !== undefined;
    const response = {
      ...this.#response(),
      status: incomplete ? 'incomplete' : 'completed',
      incomplete_details: incomplete ? { reason } : null,
      usage: {
        input_tokens: usage.input,
        input_tokens_details: { cached_tokens: usage.cached ?? 0 },
        output_tokens: usage.output,
        output_tokens_details: { reasoning_tokens: usage.thought ?? 0 },
        total_tokens: usage.input + usage.output,
      },
    };
    return [this.#event(incomplete ? 'response.incomplete' : 'response.completed', { response })];
  }

  malformed(): readonly string[] {
    return ['event: response.output_text.delta\ndata: {"type":"response.outp\n\n'];
  }

  streamError(status: number, message: string): readonly string[] {
    const code = status === 429 ? 'rate_limit_exceeded' : 'server_error';
    return [this.#event('error', { code, message, param: null })];
  }

  errorBody(_status: number, message: string, code: string | undefined): object {
    return { error: { message, type: 'invalid_request_error', param: null, code: code ?? null } };
  }

  #text(index: number, text: string): string[] {
    const id = `msg_${index}`;
    const place = { item_id: id, output_index: index, content_index: 0 };
    const item = { id, type: 'message', role: 'assistant' };
    const part = { type: 'output_text', text, annotations: [], logprobs: [] };
    return [
      this.#item('added', index, { ...item, status: 'in_progress', content: [] }),
      this.#event('response.content_part.added', { ...place, part: { ...part, text: '' } }),
      ...pieces(text).map((delta) =>
        this.#event('response.output_text.delta', { ...place, delta, logprobs: [] }),
      ),
      this.#event('response.output_text.done', { ...place, text, logprobs: [] }),
      this.#event('response.content_part.done', { ...place, part }),
      this.#item('done', index, { ...item, status: 'completed', content: [part] }),
    ];
  }

  #thought(index: number, text: string, signature: string | undefined): string[] {
    const id = `rs_${index}`;
    const place = { item_id: id, output_index: index, summary_index: 0 };
    const item = { id, type: 'reasoning', encrypted_content: signature ?? null };
    const part = { type: 'summary_text', text };
    return [
      this.#item('added', index, { ...item, encrypted_content: null, summary: [] }),
      this.#event('response.reasoning_summary_part.added', {
        ...place,
        part: { ...part, text: '' },
      }),
      ...pieces(text).map((delta) =>
        this.#event('response.reasoning_summary_text.delta', { ...place, delta }),
      ),
      this.#event('response.reasoning_summary_text.done', { ...place, text }),
      this.#event('response.reasoning_summary_part.done', { ...place, part }),
      this.#item('done', index, { ...item, summary: [part] }),
    ];
  }

  #call(index: number, step: Extract<ContentStep, { type: 'call' }>): string[] {
    const id = `fc_${index}`;
    const item = { id, type: 'function_call', call_id: step.id, name: step.name };
    const place = { item_id: id, output_index: index };
    const text = argumentsOf(step);
    return [
      this.#item('added', index, { ...item, status: 'in_progress', arguments: '' }),
      ...pieces(text).map((delta) =>
        this.#event('response.function_call_arguments.delta', { ...place, delta }),
      ),
      this.#event('response.function_call_arguments.done', { ...place, arguments: text }),
      this.#item('done', index, { ...item, status: 'completed', arguments: text }),
    ];
  }

  #item(what: 'added' | 'done', index: number, item: object): string {
    return this.#event(`response.output_item.${what}`, { output_index: index, item });
  }

  #response(): object {
    return {
      id: 'resp_1',
      object: 'response',
      created_at: 1_700_000_000,
      model: 'm',
      output: [],
      error: null,
      incomplete_details: null,
    };
  }

  #event(type: string, fields: object): string {
    const sequence_number = this.#sequence;
    this.#sequence += 1;
    return event(type, { type, sequence_number, ...fields });
  }
}
