import type { Disposable } from '../../base/disposables.ts';
import type { Model, ModelInfo } from '../session/model.ts';
import type { SessionId } from '../session/words.ts';

/** One place that models come from. Its models' ids are `<id>/<name>`. */
export interface ModelSource {
  /** The part before the first slash: `openai`, `rehearsal`, `vscode-lm`, or the id of a configured provider. */
  readonly id: string;
  /** What it knows without the network. */
  list(): Promise<readonly ModelInfo[]>;
  /** Null when it has no such model. `name` is all that follows the first slash and may hold slashes itself. */
  resolve(name: string, session: { readonly sessionId: SessionId }): Promise<Model | null>;
  /** Fires when the list may have changed. */
  onDidChange?(listener: () => void): Disposable;
}
