import { type Disposable, DisposableStore } from '../../base/disposables.ts';
import { Emitter } from '../../base/emitter.ts';

/** Where keys of model sources come from. Keys stay in memory; nothing here writes or logs them. */
export interface SecretSource {
  /** The key of a model source by the source's id, if there is one. */
  get(source: string): string | undefined;
  /** Fires with the source's id after its key was set, changed or removed. */
  onDidChange(listener: (source: string) => void): Disposable;
}

/** Keys that a client hands over by pipe; they live as long as this process. */
export class SecretStore implements SecretSource, Disposable {
  readonly #keys = new Map<string, string>();
  readonly #changed = new Emitter<string>();

  readonly onDidChange = this.#changed.event;

  get(source: string): string | undefined {
    return this.#keys.get(source);
  }

  /** Blank keys count as none. Setting the same key again still fires: someone just signed in. */
  set(source: string, key: string): void {
    const trimmed = key.trim();
    if (trimmed === '') this.delete(source);
    else {
      this.#keys.set(source, trimmed);
      this.#changed.fire(source);
    }
  }

  delete(source: string): void {
    if (this.#keys.delete(source)) this.#changed.fire(source);
  }

  dispose(): void {
    this.#keys.clear();
    this.#changed.dispose();
  }
}

const VENDOR_VARIABLES: Readonly<Record<string, readonly string[]>> = {
  openai: ['OPENAI_API_KEY'],
  anthropic: ['ANTHROPIC_API_KEY'],
  google: ['GOOGLE_GENERATIVE_AI_API_KEY', 'GEMINI_API_KEY'],
};

/** The environment variables that may hold a source's key, the first one that is set wins. */
export function keyVariables(source: string): readonly string[] {
  const own = `PILOTHOUSE_KEY_${source.toUpperCase().replace(/[^A-Z0-9]+/g, '_')}`;
  const vendor = Object.hasOwn(VENDOR_VARIABLES, source) ? VENDOR_VARIABLES[source] : undefined;
  return [own, ...(vendor ?? [])];
}

/** True for the name of a variable that may hold the key of some source. */
export function isKeyVariable(name: string): boolean {
  return (
    name.startsWith('PILOTHOUSE_KEY_') || Object.values(VENDOR_VARIABLES).flat().includes(name)
  );
}

/** Keys from environment variables, read once. */
export function environmentSecrets(
  environment: Readonly<Record<string, string | undefined>>,
): SecretSource {
  const snapshot = { ...environment };
  return {
    get: (source) =>
      keyVariables(source)
        .map((name) => snapshot[name]?.trim())
        .find((key) => key !== undefined && key !== ''),
    onDidChange: () => ({ dispose: () => undefined }),
  };
}

/** Asks each source in turn; the first key wins. */
export function firstSecret(...sources: readonly SecretSource[]): SecretSource {
  return {
    get: (source) => {
      for (const secrets of sources) {
        const key = secrets.get(source);
        if (key !== undefined) return key;
      }
      return undefined;
    },
    onDidChange: (listener) => {
      const all = new DisposableStore();
      for (const secrets of sources) all.add(secrets.onDidChange(listener));
      return all;
    },
  };
}
