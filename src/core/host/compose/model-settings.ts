import type { Clock } from '../../../base/clock.ts';
import { SourceCatalog } from '../../models/catalog.ts';
import type { ProviderConfig } from '../../models/config/provider-config.ts';
import { createProviderSources } from '../../models/provider-source.ts';
import { createRehearsalSource } from '../../models/rehearsal/rehearsal-source.ts';
import { environmentSecrets, firstSecret, SecretStore } from '../../models/secrets.ts';
import type { ModelSource } from '../../models/source.ts';
import { createEditorSource } from '../../models/vscode-lm/editor-source.ts';
import type { ModelCatalog } from '../../session/model.ts';
import type { Log } from '../../session/ports.ts';
import type { EditorBridge } from './editor-bridge.ts';

/** The model that needs nothing: no key, no network. */
export const REHEARSAL = 'rehearsal/script';

/** Which models there are and which one a new session gets; clients may change both while the process runs. */
export class ModelSettings {
  readonly secrets = new SecretStore();
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
    const secrets = firstSecret(this.secrets, environmentSecrets(environment));
    const listInstant = environment['PILOTHOUSE_BENCH'] === '1';
    this.#fixedDefault = options.defaultModel;
    this.#makeSources = (configured) => [
      createRehearsalSource({ clock, listInstant }),
      createEditorSource({ editor, clock }),
      ...createProviderSources(configured, { secrets, clock }),
    ];
    this.#catalog = new SourceCatalog({ sources: this.#makeSources([]), clock, log });
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
