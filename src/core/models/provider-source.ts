import type { Clock } from '../../base/clock.ts';
import type { ModelInfo } from '../session/model.ts';
import type { ConfiguredModel, ProviderConfig } from './config/provider-config.ts';
import { type ResolvedProvider, withBuiltInProviders } from './config/resolve.ts';
import { loadAdapter } from './providers/load.ts';
import { DEFAULT_DEADLINES, type Deadlines } from './sdk/deadlines.ts';
import { keyVariables, type SecretSource } from './secrets.ts';
import type { ModelSource } from './source.ts';

/** What all provider sources share. */
export type ProviderSourceOptions = {
  readonly secrets: SecretSource;
  readonly clock: Clock;
  readonly deadlines?: Partial<Deadlines>;
};

/** A source for each built-in vendor and each configured provider; no network until a model streams. */
export function createProviderSources(
  configured: readonly ProviderConfig[],
  options: ProviderSourceOptions,
): readonly ModelSource[] {
  return withBuiltInProviders(configured).map((provider) => providerSource(provider, options));
}

function providerSource(provider: ResolvedProvider, options: ProviderSourceOptions): ModelSource {
  const { secrets, clock } = options;
  const deadlines = { ...DEFAULT_DEADLINES, ...options.deadlines };
  const infoOf = (model: ConfiguredModel): ModelInfo => toInfo(provider, model, secrets);
  return {
    id: provider.id,
    list: async () => provider.models.map(infoOf),
    // A name that is not listed may exist all the same; the provider knows.
    resolve: async (name) => {
      const model = provider.models.find((one) => one.name === name) ?? { name };
      const load = () => loadAdapter(provider.kind);
      const { SdkModel } = await import('./sdk/sdk-model.ts');
      return new SdkModel({
        info: infoOf(model),
        provider,
        model,
        secrets,
        clock,
        deadlines,
        load,
      });
    },
    onDidChange: (listener) =>
      secrets.onDidChange((source) => {
        if (source === provider.id) listener();
      }),
  };
}

function toInfo(
  provider: ResolvedProvider,
  model: ConfiguredModel,
  secrets: SecretSource,
): ModelInfo {
  const available = !provider.requiresKey || secrets.get(provider.id) !== undefined;
  return {
    id: `${provider.id}/${model.name}`,
    name: model.displayName ?? model.name,
    description: provider.name,
    ...(model.contextTokens === undefined ? {} : { contextTokens: model.contextTokens }),
    images: model.images ?? provider.kind !== 'openai-compatible',
    available,
    ...(available
      ? {}
      : {
          unavailableReason: `Add a key for ${provider.name}, or set ${keyVariables(provider.id).at(-1)}.`,
        }),
  };
}
