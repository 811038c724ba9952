import { createOpenAI } from '@ai-sdk/openai';
import type { ModelRequest } from '../../session/model.ts';
import type { ProviderAdapter } from './adapter.ts';

/**
 * OpenAI by its Responses API, the only one that streams reasoning and takes it back between tool calls. Nothing is
 * stored there: reasoning comes encrypted and is sent back as it came.
 */
export const adapter: ProviderAdapter = {
  create: ({ provider, model, key, fetch }) =>
    createOpenAI({
      baseURL: provider.baseUrl,
      apiKey: key ?? '',
      headers: { ...provider.headers },
      fetch,
    }).responses(model),
  options: (request) => ({
    openai: { store: false, promptCacheKey: request.sessionId.slice(0, 64), ...reasoning(request) },
  }),
  audio: false,
  imagesInToolResults: true,
};

function reasoning({ model, thoughtLevel }: ModelRequest): Record<string, string> {
  switch (thoughtLevel) {
    case 'auto':
      return {};
    case 'off':
      return { reasoningEffort: lowestEffort(model) };
    case 'low':
    case 'medium':
    case 'high':
      // Summaries need a verified organisation, so they are asked for only with an explicit level.
      return { reasoningEffort: thoughtLevel, reasoningSummary: 'auto' };
  }
}

function lowestEffort(model: string): string {
  if (/^o\d/.test(model)) return 'low';
  return /^gpt-5(?:-|$)/.test(model) ? 'minimal' : 'none';
}
