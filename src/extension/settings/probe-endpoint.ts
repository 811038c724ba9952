import * as z from 'zod/mini';
import type { EndpointKind } from './endpoints.ts';

/** What asking an endpoint for its models told. */
export type ProbeResult =
  | { readonly kind: 'models'; readonly names: readonly string[] }
  | { readonly kind: 'key_refused' }
  | { readonly kind: 'answered'; readonly status: number }
  | { readonly kind: 'unreachable'; readonly reason: string };

const TIMEOUT_MS = 10_000;

const LIST = z.looseObject({
  data: z.optional(z.array(z.looseObject({ id: z.string() }))),
  models: z.optional(z.array(z.looseObject({ name: z.string() }))),
});

/** Asks an endpoint which models it has. Never rejects. */
export async function probeEndpoint(
  kind: EndpointKind['kind'],
  baseUrl: string,
  key: string,
  fetchFrom: typeof fetch = fetch,
): Promise<ProbeResult> {
  try {
    const response = await fetchFrom(`${baseUrl.replace(/\/+$/, '')}/models`, {
      headers: authHeaders(kind, key),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (response.status === 401 || response.status === 403) return { kind: 'key_refused' };
    if (!response.ok) return { kind: 'answered', status: response.status };
    const list = z.safeParse(LIST, await response.json());
    if (!list.success) return { kind: 'answered', status: response.status };
    const { data = [], models = [] } = list.data;
    const names = [
      ...data.map((model) => model.id),
      ...models.map((model) => model.name.replace(/^models\//, '')),
    ];
    return { kind: 'models', names };
  } catch (error) {
    return { kind: 'unreachable', reason: reasonOf(error) };
  }
}

function authHeaders(kind: EndpointKind['kind'], key: string): Record<string, string> {
  if (key === '') return {};
  if (kind === 'anthropic') return { 'x-api-key': key, 'anthropic-version': '2023-06-01' };
  if (kind === 'google') return { 'x-goog-api-key': key };
  return { authorization: `Bearer ${key}` };
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}
