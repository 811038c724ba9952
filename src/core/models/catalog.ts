import type { Clock } from '../../base/clock.ts';
import { type Disposable, DisposableStore } from '../../base/disposables.ts';
import { Emitter } from '../../base/emitter.ts';
import { messageOf } from '../../base/errors.ts';
import { type Model, type ModelCatalog, ModelError, type ModelInfo } from '../session/model.ts';
import type { Log } from '../session/ports.ts';
import type { SessionId } from '../session/words.ts';
import type { ModelSource } from './source.ts';

/** How long one source may take to list before the others are shown without it, in milliseconds. */
const LIST_DEADLINE_MS = 1_000;

/** What a catalog needs. */
export type CatalogOptions = {
  readonly sources: readonly ModelSource[];
  readonly clock: Clock;
  readonly log: Log;
};

/** A catalog whose sources can be replaced while it is in use (the settings changed). */
export class SourceCatalog implements ModelCatalog, Disposable {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #changed = new Emitter<void>();
  #sources: ReadonlyMap<string, ModelSource> = new Map();
  #subscriptions = new DisposableStore();

  constructor(options: CatalogOptions) {
    this.#clock = options.clock;
    this.#log = options.log;
    this.#adopt(options.sources);
  }

  /** Uses these sources from now on. Models that were resolved before stay usable. */
  replaceSources(sources: readonly ModelSource[]): void {
    this.#adopt(sources);
    this.#changed.fire();
  }

  async list(): Promise<readonly ModelInfo[]> {
    const lists = await Promise.all([...this.#sources.values()].map((one) => this.#listOne(one)));
    return lists.flat();
  }

  async resolve(id: string, session: { readonly sessionId: SessionId }): Promise<Model> {
    const slash = id.indexOf('/');
    const sourceId = slash === -1 ? id : id.slice(0, slash);
    const name = slash === -1 ? '' : id.slice(slash + 1);
    const source = this.#sources.get(sourceId);
    const model = name === '' ? null : await source?.resolve(name, session);
    if (model !== null && model !== undefined) return model;
    throw new ModelError(
      'model.unknown',
      source === undefined
        ? `There is no model source "${sourceId}". Choose one of: ${[...this.#sources.keys()].join(', ')}.`
        : `The model source "${sourceId}" has no model "${name}". Choose another model.`,
      { source: sourceId },
    );
  }

  onDidChange(listener: () => void): Disposable {
    return this.#changed.event(listener);
  }

  dispose(): void {
    this.#subscriptions.dispose();
    this.#changed.dispose();
  }

  #adopt(sources: readonly ModelSource[]): void {
    const byId = new Map(sources.map((source) => [source.id, source]));
    if (byId.size !== sources.length) throw new TypeError('Two model sources have the same id.');
    this.#subscriptions.dispose();
    this.#subscriptions = new DisposableStore();
    this.#sources = byId;
    for (const source of sources) {
      const subscription = source.onDidChange?.(() => this.#changed.fire());
      if (subscription !== undefined) this.#subscriptions.add(subscription);
    }
  }

  async #listOne(source: ModelSource): Promise<readonly ModelInfo[]> {
    const done = new AbortController();
    const late = this.#clock.sleep(LIST_DEADLINE_MS, done.signal).then(
      () => 'late' as const,
      () => 'late' as const,
    );
    try {
      const list = await Promise.race([source.list(), late]);
      if (list !== 'late') return list;
      this.#log.warn('A model source did not list its models in time.', { source: source.id });
    } catch (error) {
      this.#log.warn('A model source could not list its models.', {
        source: source.id,
        error: messageOf(error),
      });
    } finally {
      done.abort();
    }
    return [];
  }
}

/** Composes model sources into the catalog that the engine asks; throws TypeError on two sources of one id. */
export function createModelCatalog(options: CatalogOptions): SourceCatalog {
  return new SourceCatalog(options);
}
