import { createAnthropic } from '@ai-sdk/anthropic';
import type { ModelRequest } from '../../session/model.ts';
import type { ProviderAdapter } from './adapter.ts';

type AnthropicOptions = NonNullable<ReturnType<ProviderAdapter['options']>['anthropic']>;

/** Anthropic by its Messages API. Signed thinking is sent back as it came; the prompt's prefix is cached there. */
export const adapter: ProviderAdapter = {
  create: ({ provider, model, key, fetch }) =>
    createAnthropic({
      baseURL: provider.baseUrl,
      apiKey: key ?? '',
      headers: { ...provider.headers },
      fetch,
    }).languageModel(model),
  options: (request) => ({
    anthropic: { cacheControl: { type: 'ephemeral' }, ...thinking(request) },
  }),
  // For names it does not know, the library allows only 4,096.
  maxOutputTokens: (model) => (model.includes('claude-') ? undefined : 16_384),
  audio: false,
  imagesInToolResults: true,
};

const BUDGETS = { low: 4_096, medium: 12_288, high: 24_576 } as const;

/** Newer models decide themselves how long to think and take an effort; older ones take a budget of tokens. */
function thinking({ model, thoughtLevel }: ModelRequest): AnthropicOptions {
  const adaptive = /claude-(?:(?:opus|sonnet)-4-[6-9]|[a-z]+-[5-9])/.test(model);
  if (adaptive) {
    const shown: AnthropicOptions = { thinking: { type: 'adaptive', display: 'summarized' } };
    if (thoughtLevel === 'auto') return shown;
    if (thoughtLevel === 'off') return { thinking: { type: 'disabled' } };
    return { ...shown, effort: thoughtLevel };
  }
  const budgeted = /claude-(?:3-7|[a-z]+-4)/.test(model);
  if (!budgeted || thoughtLevel === 'auto' || thoughtLevel === 'off') return {};
  return { thinking: { type: 'enabled', budgetTokens: BUDGETS[thoughtLevel] } };
}
