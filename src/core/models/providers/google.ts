import { createGoogleGenerativeAI } from '@ai-sdk/google';
import type { ModelRequest } from '../../session/model.ts';
import type { ProviderAdapter } from './adapter.ts';

type GoogleOptions = NonNullable<ReturnType<ProviderAdapter['options']>['google']>;

/** Google by its Gemini API. Thought signatures are sent back as they came. */
export const adapter: ProviderAdapter = {
  create: ({ provider, model, key, fetch }) =>
    createGoogleGenerativeAI({
      baseURL: provider.baseUrl,
      apiKey: key ?? '',
      headers: { ...provider.headers },
      fetch,
    }).languageModel(model),
  options: (request) => ({ google: thinking(request) }),
  audio: true,
  imagesInToolResults: true,
};

const BUDGETS = { low: 1_024, medium: 8_192, high: 24_576 } as const;

/** Gemini 2.5 takes a budget of tokens, later ones a level; earlier ones do not think. */
function thinking({ model, thoughtLevel }: ModelRequest): GoogleOptions {
  if (model.startsWith('gemini-2.5')) {
    if (thoughtLevel === 'auto') return { thinkingConfig: { includeThoughts: true } };
    // Gemini 2.5 Pro can't stop thinking; 128 is the least that it takes.
    if (thoughtLevel === 'off') {
      return { thinkingConfig: { thinkingBudget: model.includes('pro') ? 128 : 0 } };
    }
    return { thinkingConfig: { includeThoughts: true, thinkingBudget: BUDGETS[thoughtLevel] } };
  }
  if (!/^gemini-(?:[3-9]|pro-latest|flash-latest|flash-lite-latest)/.test(model)) return {};
  if (thoughtLevel === 'auto') return { thinkingConfig: { includeThoughts: true } };
  if (thoughtLevel === 'off') return { thinkingConfig: { thinkingLevel: 'low' } };
  return { thinkingConfig: { includeThoughts: true, thinkingLevel: thoughtLevel } };
}
