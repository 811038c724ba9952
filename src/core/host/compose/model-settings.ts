import type { Clock } from '../../../base/clock.ts';
import { SourceCatalog } from '../../models/catalog.ts';
import type { ProviderConfig } from '../../models/config/provider-config.ts';
import { createProviderSources } from '../../models/provider-source.ts';
import { createRehearsalSource } from '../../models/rehearsal/rehearsal-source.ts';
import {
  environmentSecrets,
  firstSecret,
  isKeyVariable,
  type SecretSource,
  SecretStore,
} from '../../models/secrets.ts';
import type { ModelSource } from '../../models/source.ts';
import { createEditorSource } from '../../models/vscode-lm/editor-source.ts';
import type { ModelCatalog } from '../../session/model.ts';
import type { Log } from '../../session/ports.ts';
import type { EditorBridge } from './editor-bridge.ts';

/** The model that needs nothing: no key, no network. */
export const REHEARSAL = 'rehearsal/script';

/** How many clients' keys are kept. */
const MOST_CLIENT_KEYS = 16;

function firstOf(sources: readonly SecretSource[], source: string): string | undefined {
  return sources
    .toReversed()
    .map((secrets) => secrets.get(source))
    .find((key) => key !== undefined);
}

/** Which models there are and which one a new session gets; clients may change both while the process runs. */
export class ModelSettings {
  readonly secrets = new SecretStore();
  /** Keys in the environments of clients that came later. */
  readonly #clients: SecretSource[] = [];
  readonly #catalog: SourceCatalog;
  readonly #makeSources: (configured: readonly ProviderConfig[]) => readonly ModelSource[];
  readonly #fixedDefault: string | null;
  #configuredDefault: string | null = null;

  constructor(options: {
    environment: NodeJS.ProcessEnv;
    defaultModel: string | null;
    editor: EditorBridge;
    clock: Clock;
    log: Log;
  }) {
    const { environment, editor, clock, log } = options;
    const ofClients: SecretSource = {
      get: (source) => firstOf(this.#clients, source),
      onDidChange: () => ({ dispose: () => undefined }),
    };
    const own = environmentSecrets(environment);
    const secrets = firstSecret(this.secrets, own, ofClients);
    const listInstant = environment['PILOTHOUSE_BENCH'] === '1';
    this.#fixedDefault = options.defaultModel;
    this.#makeSources = (configured) => [
      createRehearsalSource({ clock, listInstant }),
      createEditorSource({ editor, clock }),
      ...createProviderSources(configured, { secrets, clock }),
    ];
    this.#catalog = new SourceCatalog({ sources: this.#makeSources([]), clock, log });
  }

  /** A client on this machine came: keys in its environment count where nobody gave one before. */
  addEnvironment(environment: NodeJS.ProcessEnv): void {
    const names = Object.keys(environment).filter(isKeyVariable);
    if (names.length === 0) return;
    const keys = Object.fromEntries(names.map((name) => [name, environment[name]]));
    this.#clients.push(environmentSecrets(keys));
    // Windows come and go; the newest keys are the ones that are meant.
    if (this.#clients.length > MOST_CLIENT_KEYS) this.#clients.shift();
  }

  get catalog(): ModelCatalog {
    return this.#catalog;
  }

  /** The command line wins over what a client configured; without either it is the rehearsal. */
  defaultModel(): string {
    return this.#fixedDefault ?? this.#configuredDefault ?? REHEARSAL;
  }

  /** Takes new providers; what is wrong with them is answered in sentences, and the rest is used. */
  async configure(
    providers: unknown,
    defaultModel: string | undefined,
  ): Promise<readonly string[]> {
    this.#configuredDefault =
      defaultModel === undefined || defaultModel.trim() === '' ? null : defaultModel.trim();
    const { parseProviderConfigs } = await import('../../models/config/provider-config.ts');
    const parsed = parseProviderConfigs(providers);
    this.#catalog.replaceSources(this.#makeSources(parsed.providers));
    return parsed.problems;
  }
}
