import type { Disposable } from '../../../base/disposables.ts';
import { Emitter } from '../../../base/emitter.ts';
import { messageOf } from '../../../base/errors.ts';
import type { Ids } from '../../../base/ids.ts';
import type { EditorModel, EditorPart } from '../../../protocol/editor-models.ts';
import { PeerGone, PeerRefused } from '../../../protocol/transport/rpc-types.ts';
import type { ExtensionClient } from '../../acp/types.ts';
import {
  type EditorAsk,
  type EditorFinish,
  EditorModelError,
  type EditorModels,
  type EditorRequest,
} from '../../models/vscode-lm/editor-models.ts';
import type { SessionId } from '../../session/words.ts';
import type { Client } from '../api.ts';

/** What editors answer is checked by a library that a start does without. */
type Shapes = typeof import('./editor-shapes.ts');

const LIST_DEADLINE_MS = 5_000;

/** A connected editor, and what it offers as far as that was asked. */
type Editor = {
  readonly client: ExtensionClient;
  known: Promise<readonly EditorModel[]> | null;
};

/**
 * The language models of the editors that are connected. Only clients that declared the extension are asked. An
 * editor's list is kept from its last change on, so that listing never waits for it twice.
 */
export class EditorBridge implements EditorModels {
  readonly #ids: Ids;
  readonly #acting: (sessionId: SessionId) => Client | undefined;
  /** Newest first. */
  readonly #editors: Editor[] = [];
  readonly #changed = new Emitter<void>();

  constructor(ids: Ids, acting: (sessionId: SessionId) => Client | undefined) {
    this.#ids = ids;
    this.#acting = acting;
  }

  /** Takes an editor in; the result takes it out again. */
  connect(client: ExtensionClient): Disposable {
    const editor: Editor = { client, known: null };
    this.#editors.unshift(editor);
    const subscription = client.onNotification(({ method }) => {
      if (method !== '_pilothouse/editor_models/changed') return;
      editor.known = null;
      this.#changed.fire();
    });
    this.#changed.fire();
    return {
      dispose: () => {
        subscription.dispose();
        this.#editors.splice(this.#editors.indexOf(editor), 1);
        this.#changed.fire();
      },
    };
  }

  async list(): Promise<readonly EditorModel[]> {
    const lists = await Promise.all(this.#editors.map(listOf));
    const byName = new Map<string, EditorModel>();
    for (const model of lists.flat()) {
      const name = `${model.vendor}/${model.id}`;
      if (!byName.has(name)) byName.set(name, model);
    }
    return [...byName.values()];
  }

  async generate(
    ask: EditorAsk,
    request: EditorRequest,
    onPart: (part: EditorPart) => void,
    signal: AbortSignal,
  ): Promise<{ readonly finish: EditorFinish }> {
    const shapes = await import('./editor-shapes.ts');
    const tried = new Set<Editor>();
    for (;;) {
      signal.throwIfAborted();
      const editor = await this.#next(ask, tried);
      if (editor === undefined)
        throw new EditorModelError(
          'editor_model.no_editor',
          'No editor is connected that offers this model.',
        );
      tried.add(editor);
      const reply = await this.#askOne(editor.client, request, onPart, { shapes, signal });
      if (reply !== 'gone') return reply;
    }
  }

  onDidChange(listener: () => void): Disposable {
    return this.#changed.event(listener);
  }

  /** The acting owner's editor, else the newest of the others: of those that offer the model and were not asked yet. */
  async #next(
    { sessionId, model }: EditorAsk,
    tried: ReadonlySet<Editor>,
  ): Promise<Editor | undefined> {
    const offers = await Promise.all(
      this.#editors.map(async (editor) => {
        const models = await listOf(editor);
        return models.some(({ vendor, id }) => vendor === model.vendor && id === model.id)
          ? editor
          : null;
      }),
    );
    const able = offers.filter(
      (editor): editor is Editor =>
        editor !== null && !tried.has(editor) && !editor.client.gone.aborted,
    );
    const acting = this.#acting(sessionId);
    return able.find(({ client }) => client.identity === acting) ?? able[0];
  }

  /** `gone` if the editor went before it said anything. */
  async #askOne(
    client: ExtensionClient,
    request: EditorRequest,
    onPart: (part: EditorPart) => void,
    { shapes, signal }: { readonly shapes: Shapes; readonly signal: AbortSignal },
  ): Promise<{ readonly finish: EditorFinish } | 'gone'> {
    const requestId = this.#ids.unique();
    let hasBegun = false;
    const subscription = client.onNotification(({ method, params }) => {
      if (method !== '_pilothouse/editor_models/part') return;
      const parsed = shapes.part.safeParse(params);
      if (!parsed.success || parsed.data.requestId !== requestId) return;
      hasBegun = true;
      onPart(parsed.data.part);
    });
    const asked = { requestId, ...request };
    try {
      return shapes.generated.parse(
        await client.request('_pilothouse/editor_models/generate', asked, signal),
      );
    } catch (failure) {
      const isGone = failure instanceof PeerGone || client.gone.aborted;
      if (!isGone || signal.aborted) throw toEditorError(failure, shapes);
      if (!hasBegun) return 'gone';
      throw new EditorModelError('editor_model.cut', 'The editor went away while it answered.', {
        cause: failure,
      });
    } finally {
      subscription.dispose();
    }
  }
}

function listOf(editor: Editor): Promise<readonly EditorModel[]> {
  editor.known ??= askForList(editor.client);
  return editor.known;
}

async function askForList(client: ExtensionClient): Promise<readonly EditorModel[]> {
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

function toEditorError(failure: unknown, shapes: Shapes): unknown {
  if (!(failure instanceof PeerRefused)) return failure;
  const known = shapes.refusal.safeParse(failure.details);
  return new EditorModelError(
    known.success ? known.data.code : 'editor_model.failed',
    messageOf(failure),
    { cause: failure },
  );
}
