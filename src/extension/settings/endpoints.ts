import type { Json, JsonObject } from '../../base/json.ts';

/** A kind of model source that the guided set-up offers. */
export type EndpointKind = {
  /** The source's id: the part of a model's name before the slash. */
  readonly id: string;
  readonly label: string;
  readonly kind: 'openai-compatible' | 'openai' | 'anthropic' | 'google';
  readonly baseUrl: string;
  readonly key: 'needed' | 'optional' | 'none';
};

/** What the guided set-up offers, in this order. `custom` is any endpoint that speaks OpenAI's format. */
export const ENDPOINTS: readonly EndpointKind[] = [
  endpoint('ollama', 'Ollama', 'openai-compatible', 'http://127.0.0.1:11434/v1', 'none'),
  endpoint('lmstudio', 'LM Studio', 'openai-compatible', 'http://127.0.0.1:1234/v1', 'none'),
  endpoint('vllm', 'vLLM', 'openai-compatible', 'http://127.0.0.1:8000/v1', 'optional'),
  endpoint(
    'openrouter',
    'OpenRouter',
    'openai-compatible',
    'https://openrouter.ai/api/v1',
    'needed',
  ),
  endpoint('openai', 'OpenAI', 'openai', 'https://api.openai.com/v1', 'needed'),
  endpoint('anthropic', 'Anthropic', 'anthropic', 'https://api.anthropic.com/v1', 'needed'),
  endpoint(
    'google',
    'Google',
    'google',
    'https://generativelanguage.googleapis.com/v1beta',
    'needed',
  ),
  endpoint('custom', '', 'openai-compatible', '', 'optional'),
];

function endpoint(
  id: string,
  label: string,
  kind: EndpointKind['kind'],
  baseUrl: string,
  key: EndpointKind['key'],
): EndpointKind {
  return { id, label, kind, baseUrl, key };
}

/** The entry of `pilothouse.models.providers` for a source with one more model. */
export function providerEntry(
  existing: JsonObject | undefined,
  source: { readonly id: string; readonly kind: string; readonly baseUrl: string },
  model: string,
): JsonObject {
  const others = listOf(existing?.['models']).filter((one) => nameOf(one) !== model);
  return {
    ...existing,
    id: source.id,
    kind: source.kind,
    baseUrl: source.baseUrl,
    models: [...others, { name: model }],
  };
}

function listOf(value: Json | undefined): readonly Json[] {
  return isList(value) ? value : [];
}

function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

function nameOf(model: unknown): unknown {
  return typeof model === 'object' && model !== null && 'name' in model ? model.name : undefined;
}

/** An id for a source of one's own, from its address: letters, digits and dots. */
export function idFromUrl(url: string): string {
  const host = URL.canParse(url) ? new URL(url).host : url;
  const id = host
    .toLowerCase()
    .replace(/[^a-z0-9.]+/g, '-')
    .replace(/^[-.]+/, '');
  return id === '' ? 'custom' : id;
}
