import type { ProviderKind } from '../config/provider-config.ts';
import type { ProviderAdapter } from './adapter.ts';

/** Loads a provider's library, which is large, when a model of its kind first streams. */
export async function loadAdapter(kind: ProviderKind): Promise<ProviderAdapter> {
  switch (kind) {
    case 'openai-compatible':
      return (await import('./openai-compatible.ts')).adapter;
    case 'openai':
      return (await import('./openai.ts')).adapter;
    case 'anthropic':
      return (await import('./anthropic.ts')).adapter;
    case 'google':
      return (await import('./google.ts')).adapter;
  }
}
