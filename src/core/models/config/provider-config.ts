import { z } from 'zod';
import { KNOWN_ENDPOINTS } from './known-endpoints.ts';

/** US dollars per million tokens. */
export type ModelPrice = {
  readonly inputPerMillion: number;
  readonly outputPerMillion: number;
  /** For input that the provider had cached; as `inputPerMillion` when missing. */
  readonly cachedInputPerMillion?: number | undefined;
};

/** A model as a configuration names it. */
export type ConfiguredModel = {
  /** As the provider calls it. */
  readonly name: string;
  readonly displayName?: string | undefined;
  readonly contextTokens?: number | undefined;
  readonly images?: boolean | undefined;
  readonly price?: ModelPrice | undefined;
};

/** How a provider is spoken to. */
export type ProviderKind = 'openai-compatible' | 'openai' | 'anthropic' | 'google';

/** One configured provider; it becomes the model source of the same id. */
export type ProviderConfig = {
  readonly id: string;
  readonly kind: ProviderKind;
  readonly baseUrl?: string | undefined;
  readonly name?: string | undefined;
  readonly models?: readonly ConfiguredModel[] | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly requiresKey?: boolean | undefined;
};

const RESERVED = new Set(['rehearsal', 'vscode-lm']);

const dollars = z.number().min(0).max(1_000_000);

const price = z.strictObject({
  inputPerMillion: dollars,
  outputPerMillion: dollars,
  cachedInputPerMillion: dollars.optional(),
});

const model = z.strictObject({
  name: z.string().min(1).max(200),
  displayName: z.string().min(1).max(200).optional(),
  contextTokens: z.number().int().positive().optional(),
  images: z.boolean().optional(),
  price: price.optional(),
});

const baseUrl = z.url({ protocol: /^https?$/ }).refine((url) => !hasCredentials(url), {
  message: 'must not hold a user name or password; set a key instead',
});

const provider = z
  .strictObject({
    id: z
      .string()
      .regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, 'use a-z, 0-9, ".", "_" and "-", at most 64')
      .refine((id) => !RESERVED.has(id), { message: 'is the name of a built-in source' }),
    kind: z.enum(['openai-compatible', 'openai', 'anthropic', 'google']),
    baseUrl: baseUrl.optional(),
    name: z.string().min(1).max(100).optional(),
    models: z.array(model).max(1_000).optional(),
    headers: z
      .record(
        z.string().regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, 'is not a header name'),
        z.string().regex(/^[\t\x20-\x7e]*$/, 'must be printable ASCII'),
      )
      .optional(),
    requiresKey: z.boolean().optional(),
  })
  .refine(
    (one) =>
      one.kind !== 'openai-compatible' ||
      one.baseUrl !== undefined ||
      Object.hasOwn(KNOWN_ENDPOINTS, one.id),
    { path: ['baseUrl'], message: 'is needed for an endpoint that is not well known' },
  );

function hasCredentials(url: string): boolean {
  const parsed = URL.parse(url);
  return parsed !== null && (parsed.username !== '' || parsed.password !== '');
}

function pathOf(segments: readonly PropertyKey[]): string {
  return segments
    .map((segment) => (typeof segment === 'number' ? `[${segment}]` : `.${String(segment)}`))
    .join('');
}

/**
 * Reads provider configurations. What is wrong is left out and named, with the path of the field and never with
 * its value: `providers[0].baseUrl: …`.
 */
export function parseProviderConfigs(input: unknown): {
  readonly providers: readonly ProviderConfig[];
  readonly problems: readonly string[];
} {
  if (!Array.isArray(input)) return { providers: [], problems: ['providers: must be a list'] };
  const providers = new Map<string, ProviderConfig>();
  const problems: string[] = [];
  for (const [index, entry] of input.entries()) {
    const parsed = provider.safeParse(entry);
    if (!parsed.success) {
      for (const issue of parsed.error.issues) {
        problems.push(`providers[${index}]${pathOf(issue.path)}: ${issue.message}`);
      }
    } else if (providers.has(parsed.data.id)) {
      problems.push(`providers[${index}].id: is used twice`);
    } else {
      providers.set(parsed.data.id, parsed.data);
    }
  }
  return { providers: [...providers.values()], problems };
}
