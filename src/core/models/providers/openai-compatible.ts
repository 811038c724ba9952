import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { ProviderAdapter } from './adapter.ts';

/** Any endpoint that speaks OpenAI's chat completions: Ollama, LM Studio, vLLM, OpenRouter and others. */
export const adapter: ProviderAdapter = {
  create: ({ provider, model, key, fetch }) =>
    createOpenAICompatible({
      name: 'openai-compatible',
      baseURL: provider.baseUrl,
      headers: { ...provider.headers },
      includeUsage: true,
      fetch,
      ...(key === undefined ? {} : { apiKey: key }),
    }).chatModel(model),
  options: ({ thoughtLevel }) =>
    // Many servers refuse the parameter, so it is sent only when a person chose a level.
    thoughtLevel === 'auto' || thoughtLevel === 'off'
      ? {}
      : { openaiCompatible: { reasoningEffort: thoughtLevel } },
  audio: false,
  imagesInToolResults: false,
};
