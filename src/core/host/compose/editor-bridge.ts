import type { Disposable } from '../../../base/disposables.ts';
import { Emitter } from '../../../base/emitter.ts';
import { messageOf } from '../../../base/errors.ts';
import type { Ids } from '../../../base/ids.ts';
import type { EditorModel, EditorPart } from '../../../protocol/editor-models.ts';
import { PeerRefused } from '../../../protocol/transport/rpc-types.ts';
import type { ExtensionClient } from '../../acp/types.ts';
import {
  type EditorFinish,
  EditorModelError,
  type EditorModels,
} from '../../models/vscode-lm/editor-models.ts';

/** What editors answer is checked by a library that a start does without. */
type Refusal = typeof import('./editor-shapes.ts')['refusal'];

const LIST_DEADLINE_MS = 5_000;

/**
 * The language models of the editors that are connected, newest first. Only clients that declared the extension are
 * asked. The list is kept from the last change on, so that listing never waits for an editor twice.
 */
export class EditorBridge implements EditorModels {
  readonly #ids: Ids;
  readonly #clients: ExtensionClient[] = [];
  readonly #changed = new Emitter<void>();
  #known: Promise<readonly EditorModel[]> | null = null;

  constructor(ids: Ids) {
    this.#ids = ids;
  }

  /** Takes an editor in; the result takes it out again. */
  connect(client: ExtensionClient): Disposable {
    this.#clients.unshift(client);
    const subscription = client.onNotification(({ method }) => {
      if (method === '_pilothouse/editor_models/changed') this.#forget();
    });
    this.#forget();
    return {
      dispose: () => {
        subscription.dispose();
        this.#clients.splice(this.#clients.indexOf(client), 1);
        this.#forget();
      },
    };
  }

  list(): Promise<readonly EditorModel[]> {
    this.#known ??= this.#ask();
    return this.#known;
  }

  async generate(
    request: Parameters<EditorModels['generate']>[0],
    onPart: (part: EditorPart) => void,
    signal: AbortSignal,
  ): Promise<{ readonly finish: EditorFinish }> {
    const client = this.#clients[0];
    if (client === undefined)
      throw new EditorModelError(
        'editor_model.no_editor',
        'No editor is connected that offers language models.',
      );
    const shapes = await import('./editor-shapes.ts');
    const requestId = this.#ids.unique();
    const subscription = client.onNotification(({ method, params }) => {
      if (method !== '_pilothouse/editor_models/part') return;
      const parsed = shapes.part.safeParse(params);
      if (parsed.success && parsed.data.requestId === requestId) onPart(parsed.data.part);
    });
    try {
      return shapes.generated.parse(
        await client.request(
          '_pilothouse/editor_models/generate',
          { requestId, ...request },
          signal,
        ),
      );
    } catch (failure) {
      throw toEditorError(failure, shapes.refusal);
    } finally {
      subscription.dispose();
    }
  }

  onDidChange(listener: () => void): Disposable {
    return this.#changed.event(listener);
  }

  async #ask(): Promise<readonly EditorModel[]> {
    const client = this.#clients[0];
    if (client === undefined) return [];
    try {
      const signal = AbortSignal.any([client.gone, AbortSignal.timeout(LIST_DEADLINE_MS)]);
      const answer = await client.request('_pilothouse/editor_models/list', {}, signal);
      const { listed } = await import('./editor-shapes.ts');
      return listed.parse(answer).models;
    } catch {
      // An editor without language models is an editor that offers none; it tells when that changes.
      return [];
    }
  }

  #forget(): void {
    this.#known = null;
    this.#changed.fire();
  }
}

function toEditorError(failure: unknown, refusal: Refusal): unknown {
  if (!(failure instanceof PeerRefused)) return failure;
  const known = refusal.safeParse(failure.details);
  return new EditorModelError(
    known.success ? known.data.code : 'editor_model.failed',
    messageOf(failure),
    { cause: failure },
  );
}
