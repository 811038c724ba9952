import type { LanguageModelV3, SharedV3ProviderOptions } from '@ai-sdk/provider';
import type { ModelRequest } from '../../session/model.ts';
import type { ResolvedProvider } from '../config/resolve.ts';

/** What differs between the providers' libraries. */
export type ProviderAdapter = {
  /** Makes the library's model. Nothing is taken from the environment. */
  create(settings: AdapterSettings): LanguageModelV3;
  /** The provider's own settings of a request. */
  options(request: ModelRequest): SharedV3ProviderOptions;
  /** A limit to send where the library's own would be too low; undefined leaves it to the library. */
  maxOutputTokens?(model: string): number | undefined;
  readonly audio: boolean;
  readonly imagesInToolResults: boolean;
};

export type AdapterSettings = {
  readonly provider: ResolvedProvider;
  readonly model: string;
  /** Undefined only where the provider needs none. */
  readonly key: string | undefined;
  readonly fetch: typeof globalThis.fetch;
};
