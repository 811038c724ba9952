import type { Clock } from '../../../../../src/base/clock.ts';
import type { ProviderConfig } from '../../../../../src/core/models/config/provider-config.ts';
import { createProviderSources } from '../../../../../src/core/models/provider-source.ts';
import type { Deadlines } from '../../../../../src/core/models/sdk/deadlines.ts';
import { SecretStore } from '../../../../../src/core/models/secrets.ts';
import type { Model, ModelMessage } from '../../../../../src/core/session/model.ts';
import type { MessageId } from '../../../../../src/core/session/words.ts';
import type { ModelServer, WireKind } from '../../../../support/model-server/model-server.ts';
import { session, wallClock } from '../fakes.ts';
import type { Reply } from '../rehearsal/drive.ts';

export const KINDS: readonly WireKind[] = ['openai-compatible', 'openai', 'anthropic', 'google'];

/** A model name that reasons, for each kind. */
export const MODEL: Readonly<Record<WireKind, string>> = {
  'openai-compatible': 'qwen3-coder',
  openai: 'gpt-5.5',
  anthropic: 'claude-opus-5',
  google: 'gemini-3.5-flash',
};

export const KEY = 'sk-very-secret-0123456789';

export async function modelOf(
  server: ModelServer,
  kind: WireKind,
  options: {
    readonly config?: Partial<ProviderConfig>;
    readonly clock?: Clock;
    readonly deadlines?: Partial<Deadlines>;
    readonly key?: string | null;
    readonly model?: string;
  } = {},
): Promise<Model> {
  const secrets = new SecretStore();
  if (options.key !== null) secrets.set('test', options.key ?? KEY);
  const sources = createProviderSources(
    [{ id: 'test', kind, baseUrl: server.baseUrl(kind), requiresKey: true, ...options.config }],
    {
      secrets,
      clock: options.clock ?? wallClock,
      ...(options.deadlines === undefined ? {} : { deadlines: options.deadlines }),
    },
  );
  const source = sources.find((one) => one.id === 'test');
  const model = await source?.resolve(options.model ?? MODEL[kind], session);
  if (model === null || model === undefined) throw new TypeError('no model');
  return model;
}

/** A reply as the engine appends it, with what the provider needs back. */
export function said(
  reply: Reply & { readonly providerState?: unknown },
  index: number,
): ModelMessage {
  return {
    role: 'assistant',
    messageId: `assistant-${index}` as MessageId,
    text: reply.text,
    thought: reply.thought,
    calls: reply.calls,
    ...(reply.providerState === undefined
      ? {}
      : { providerState: JSON.parse(JSON.stringify(reply.providerState)) }),
  };
}
