import type { LanguageModelV3StreamPart } from '@ai-sdk/provider';
import type { Clock } from '../../../base/clock.ts';
import {
  type Model,
  ModelError,
  type ModelEvent,
  type ModelInfo,
  type ModelRequest,
} from '../../session/model.ts';
import type { ConfiguredModel } from '../config/provider-config.ts';
import type { ResolvedProvider } from '../config/resolve.ts';
import type { ProviderAdapter } from '../providers/adapter.ts';
import type { SecretSource } from '../secrets.ts';
import { type Deadlines, verdictError, Watchdog } from './deadlines.ts';
import { StreamFault, streamCut, toModelError } from './failure.ts';
import { toPrompt, toTools } from './prompt.ts';
import { providerFetch } from './provider-fetch.ts';
import { CUT, ReplyReader } from './reply-reader.ts';

/** What a model of a provider needs. */
export type SdkModelOptions = {
  readonly info: ModelInfo;
  readonly provider: ResolvedProvider;
  readonly model: ConfiguredModel;
  readonly secrets: SecretSource;
  readonly clock: Clock;
  readonly deadlines: Deadlines;
  readonly load: () => Promise<ProviderAdapter>;
};

const PREAMBLE: ReadonlySet<LanguageModelV3StreamPart['type']> = new Set([
  'stream-start',
  'response-metadata',
  'raw',
]);

/** A model that is reached through a provider library. It sends one HTTP request a stream and retries nothing. */
export class SdkModel implements Model {
  readonly info: ModelInfo;
  readonly #options: SdkModelOptions;

  constructor(options: SdkModelOptions) {
    this.info = options.info;
    this.#options = options;
  }

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    const { provider, secrets, clock, deadlines } = this.#options;
    const key = secrets.get(provider.id);
    if (key === undefined && provider.requiresKey) throw keyMissing(provider);
    const watchdog = new Watchdog(clock, deadlines, signal);
    let streaming = false;
    try {
      const call = await watchdog.race(this.#open(request, key, watchdog));
      streaming = true;
      yield* this.#read(call.stream, request, watchdog);
    } catch (error) {
      if (watchdog.verdict !== null) {
        const who = { source: provider.id, name: provider.name };
        throw verdictError(watchdog.verdict, who, deadlines);
      }
      throw toModelError(error, {
        source: provider.id,
        now: clock.now(),
        streaming,
        secrets: [...(key === undefined ? [] : [key]), ...Object.values(provider.headers)],
      });
    } finally {
      watchdog.close();
    }
  }

  async #open(
    request: ModelRequest,
    key: string | undefined,
    watchdog: Watchdog,
  ): Promise<{ stream: ReadableStream<LanguageModelV3StreamPart> }> {
    const { provider, info, load } = this.#options;
    const adapter = await load();
    const model = adapter.create({
      provider,
      model: this.#options.model.name,
      key,
      fetch: providerFetch(provider.id),
    });
    watchdog.signal.throwIfAborted();
    const limit = adapter.maxOutputTokens?.(this.#options.model.name);
    return model.doStream({
      prompt: toPrompt(request, this.#owner, {
        images: info.images,
        audio: adapter.audio,
        imagesInToolResults: adapter.imagesInToolResults,
      }),
      ...(request.tools.length === 0 ? {} : { tools: toTools(request.tools) }),
      ...(limit === undefined ? {} : { maxOutputTokens: limit }),
      abortSignal: watchdog.signal,
      providerOptions: adapter.options({ ...request, model: this.#options.model.name }),
    });
  }

  get #owner(): { source: string; model: string } {
    return { source: this.#options.provider.id, model: this.#options.model.name };
  }

  async *#read(
    stream: ReadableStream<LanguageModelV3StreamPart>,
    request: ModelRequest,
    watchdog: Watchdog,
  ): AsyncGenerator<ModelEvent> {
    const reader = stream.getReader();
    const stop = (): void => void reader.cancel().catch(() => undefined);
    if (watchdog.signal.aborted) stop();
    else watchdog.signal.addEventListener('abort', stop, { once: true });
    const reply = new ReplyReader(request, this.#owner, this.#options.model.price);
    for (;;) {
      watchdog.waiting();
      const { value: part, done } = await reader.read();
      watchdog.signal.throwIfAborted();
      if (done) throw streamCut({ source: this.#owner.source });
      if (!PREAMBLE.has(part.type)) watchdog.received();
      if (part.type === 'error') throw new StreamFault(part.error);
      if (part.type === 'finish') {
        const events = reply.finish(part);
        if (events === CUT) throw streamCut({ source: this.#owner.source });
        yield* events;
        return;
      }
      const event = reply.read(part);
      if (event !== null) yield event;
      watchdog.signal.throwIfAborted();
    }
  }
}

function keyMissing(provider: ResolvedProvider): ModelError {
  return new ModelError(
    'model.key_missing',
    `${provider.name} needs a key. Add one for the model source "${provider.id}" and try again.`,
    { source: provider.id },
  );
}
