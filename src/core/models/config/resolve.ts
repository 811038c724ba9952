import { KNOWN_ENDPOINTS } from './known-endpoints.ts';
import type { ConfiguredModel, ProviderConfig, ProviderKind } from './provider-config.ts';

/** A provider with every default filled in. */
export type ResolvedProvider = {
  readonly id: string;
  readonly kind: ProviderKind;
  readonly baseUrl: string;
  readonly name: string;
  readonly models: readonly ConfiguredModel[];
  readonly headers: Readonly<Record<string, string>>;
  readonly requiresKey: boolean;
};

type KindDefaults = { readonly name: string; readonly baseUrl: string };

const KINDS: Readonly<Record<Exclude<ProviderKind, 'openai-compatible'>, KindDefaults>> = {
  openai: { name: 'OpenAI', baseUrl: 'https://api.openai.com/v1' },
  anthropic: { name: 'Anthropic', baseUrl: 'https://api.anthropic.com/v1' },
  google: { name: 'Google', baseUrl: 'https://generativelanguage.googleapis.com/v1beta' },
};

/** Names that the vendors' libraries list; any other name works too when it is typed or configured. */
const BUILT_IN: readonly (ProviderConfig & { readonly models: readonly ConfiguredModel[] })[] = [
  {
    id: 'openai',
    kind: 'openai',
    models: [
      { name: 'gpt-5.5', displayName: 'GPT-5.5' },
      { name: 'gpt-5.4-mini', displayName: 'GPT-5.4 mini' },
      { name: 'gpt-5.3-codex', displayName: 'GPT-5.3 Codex' },
    ],
  },
  {
    id: 'anthropic',
    kind: 'anthropic',
    models: [
      { name: 'claude-opus-5', displayName: 'Claude Opus 5' },
      { name: 'claude-sonnet-5', displayName: 'Claude Sonnet 5' },
      { name: 'claude-haiku-4-5', displayName: 'Claude Haiku 4.5' },
    ],
  },
  {
    id: 'google',
    kind: 'google',
    models: [
      { name: 'gemini-pro-latest', displayName: 'Gemini Pro (latest)' },
      { name: 'gemini-flash-latest', displayName: 'Gemini Flash (latest)' },
    ],
  },
];

type Defaults = KindDefaults & { readonly requiresKey: boolean };

function defaultsOf({ id, kind }: ProviderConfig): Defaults {
  if (kind !== 'openai-compatible') {
    const { name, baseUrl } = KINDS[kind];
    return { name: id === kind ? name : id, baseUrl, requiresKey: true };
  }
  const known = Object.hasOwn(KNOWN_ENDPOINTS, id) ? KNOWN_ENDPOINTS[id] : undefined;
  return known ?? { name: id, baseUrl: '', requiresKey: false };
}

/** Fills in the defaults of one provider; a base URL has no slash at its end. */
export function resolveProvider(config: ProviderConfig): ResolvedProvider {
  const defaults = defaultsOf(config);
  return {
    id: config.id,
    kind: config.kind,
    baseUrl: (config.baseUrl ?? defaults.baseUrl).replace(/\/+$/, ''),
    name: config.name ?? defaults.name,
    models: config.models ?? [],
    headers: config.headers ?? {},
    requiresKey: config.requiresKey ?? defaults.requiresKey,
  };
}

/**
 * The built-in vendors first, then what was configured. A configuration with a vendor's id takes its place; its
 * models, if it names any, are listed instead of the vendor's.
 */
export function withBuiltInProviders(
  configured: readonly ProviderConfig[],
): readonly ResolvedProvider[] {
  const own = new Map(configured.map((config) => [config.id, config]));
  const vendors = BUILT_IN.map((vendor) => {
    const config = own.get(vendor.id);
    if (config === undefined) return vendor;
    return config.kind === vendor.kind
      ? { ...config, models: config.models ?? vendor.models }
      : config;
  });
  const others = configured.filter((config) => !BUILT_IN.some((one) => one.id === config.id));
  return [...vendors, ...others].map(resolveProvider);
}
