import type { Clock } from '../../../base/clock.ts';
import { Deferred } from '../../../base/deferred.ts';
import { messageOf } from '../../../base/errors.ts';
import type { EditorModel, EditorPart } from '../../../protocol/editor-models.ts';
import {
  type Model,
  type ModelArrival,
  ModelError,
  type ModelErrorCode,
  type ModelEvent,
  type ModelInfo,
  type ModelRequest,
} from '../../session/model.ts';
import { CallIds } from '../sdk/call-ids.ts';
import { DEFAULT_DEADLINES, type Deadlines, verdictError, Watchdog } from '../sdk/deadlines.ts';
import type { ModelSource } from '../source.ts';
import {
  type EditorFinish,
  EditorModelError,
  type EditorModelErrorCode,
  type EditorModels,
} from './editor-models.ts';
import { toEditorRequest } from './editor-request.ts';
import { PartQueue } from './part-queue.ts';

const SOURCE = 'vscode-lm';
const NAME = 'The editor';

/** What the source needs. */
export type EditorSourceOptions = {
  readonly editor: EditorModels;
  readonly clock: Clock;
  readonly deadlines?: Partial<Deadlines>;
};

/**
 * The source `vscode-lm`: models that other extensions offer in the editor. Ids are `vscode-lm/<vendor>/<id>`;
 * `vscode-lm/<vendor>/<family>` resolves to the first model of the family.
 */
export function createEditorSource(options: EditorSourceOptions): ModelSource {
  const { editor } = options;
  return {
    id: SOURCE,
    list: async () => (await editor.list()).map(toInfo),
    resolve: async (name) => {
      const models = await editor.list();
      if (models.length === 0) throw nobodyThere(editor, name);
      const model = find(models, name);
      return model === undefined ? null : new EditorLanguageModel(model, options);
    },
    onDidChange: (listener) => editor.onDidChange(listener),
  };
}

function find(models: readonly EditorModel[], name: string): EditorModel | undefined {
  return (
    models.find((one) => `${one.vendor}/${one.id}` === name) ??
    models.find((one) => `${one.vendor}/${one.family}` === name)
  );
}

/** The request is as good as ever; it only needs an editor. */
function nobodyThere(editor: EditorModels, name: string, cause?: unknown): ModelError {
  const message = `Waiting for an editor with language models: none is connected that offers ${SOURCE}/${name}. Open one, or stop and choose another model.`;
  const arrival: ModelArrival = {
    waitsFor: 'editor',
    arrived: (signal) => untilOffered(editor, name, signal),
  };
  return new ModelError('model.unreachable', message, { source: SOURCE, arrival, cause });
}

async function untilOffered(
  editor: EditorModels,
  name: string,
  signal: AbortSignal,
): Promise<void> {
  let wake = new Deferred<void>();
  const subscription = editor.onDidChange(() => wake.resolve());
  const stop = (): void => wake.reject(signal.reason);
  signal.addEventListener('abort', stop);
  try {
    for (;;) {
      signal.throwIfAborted();
      wake = new Deferred<void>();
      // Nobody may be waiting for it when it rejects.
      wake.promise.catch(() => undefined);
      if (find(await editor.list(), name) !== undefined) return;
      signal.throwIfAborted();
      await wake.promise;
    }
  } finally {
    subscription.dispose();
    signal.removeEventListener('abort', stop);
  }
}

function toInfo(model: EditorModel): ModelInfo {
  return {
    id: `${SOURCE}/${model.vendor}/${model.id}`,
    name: model.name,
    description: `${model.vendor}, by the editor`,
    ...(model.maxInputTokens > 0 ? { contextTokens: model.maxInputTokens } : {}),
    images: model.images,
    available: true,
  };
}

/** One of the editor's language models. It reports no token counts. */
class EditorLanguageModel implements Model {
  readonly info: ModelInfo;
  readonly #model: EditorModel;
  readonly #editor: EditorModels;
  readonly #clock: Clock;
  readonly #deadlines: Deadlines;

  constructor(model: EditorModel, options: EditorSourceOptions) {
    this.info = toInfo(model);
    this.#model = model;
    this.#editor = options.editor;
    this.#clock = options.clock;
    this.#deadlines = { ...DEFAULT_DEADLINES, ...options.deadlines };
  }

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    const watchdog = new Watchdog(this.#clock, this.#deadlines, signal);
    try {
      watchdog.signal.throwIfAborted();
      yield* this.#read(request, watchdog);
    } catch (error) {
      if (watchdog.verdict !== null) {
        throw verdictError(watchdog.verdict, { source: SOURCE, name: NAME }, this.#deadlines);
      }
      throw this.#toModelError(error);
    } finally {
      watchdog.close();
    }
  }

  async *#read(request: ModelRequest, watchdog: Watchdog): AsyncGenerator<ModelEvent> {
    const parts = new PartQueue<EditorPart>();
    let finish: EditorFinish = 'other';
    const ask = { sessionId: request.sessionId, model: this.#model };
    this.#editor
      .generate(
        ask,
        toEditorRequest(request, this.#model),
        (part) => parts.push(part),
        watchdog.signal,
      )
      .then(
        (result) => {
          finish = result.finish;
          parts.end();
        },
        (error: unknown) => parts.fail(error),
      );
    const ids = new CallIds(request);
    const calls: ModelEvent[] = [];
    for (;;) {
      watchdog.waiting();
      const part = await watchdog.race(parts.next());
      if (part === undefined) break;
      watchdog.received();
      if (part.type === 'text') {
        if (part.text !== '') yield { type: 'text', text: part.text };
        watchdog.signal.throwIfAborted();
        continue;
      }
      const toolCallId = ids.take(part.callId);
      calls.push({ type: 'tool_call', call: { toolCallId, name: part.name, input: part.input } });
    }
    yield* calls;
    const usage = { inputTokens: 0, outputTokens: 0 };
    yield { type: 'finish', reason: calls.length > 0 ? 'tool_calls' : reasonOf(finish), usage };
  }

  #toModelError(error: unknown): ModelError {
    if (error instanceof ModelError) return error;
    if (!(error instanceof EditorModelError))
      return new ModelError('model.failed', `The editor's model failed: ${messageOf(error)}`, {
        source: SOURCE,
        cause: error,
      });
    const known: EditorModelErrorCode = error.code;
    if (known === 'editor_model.no_editor') {
      const { vendor, id } = this.#model;
      return nobodyThere(this.#editor, `${vendor}/${id}`, error);
    }
    const { code, message, retryable } = VERDICTS[known];
    return new ModelError(code, message, { source: SOURCE, retryable, cause: error });
  }
}

function reasonOf(finish: EditorFinish): 'stop' | 'length' | 'other' {
  return finish === 'tool_calls' ? 'stop' : finish;
}

const VERDICTS: Readonly<
  Record<
    Exclude<EditorModelErrorCode, 'editor_model.no_editor'>,
    { code: ModelErrorCode; retryable: boolean; message: string }
  >
> = {
  'editor_model.cut': {
    code: 'model.stream_cut',
    retryable: true,
    message: 'The editor went away in the middle of its answer. Send the prompt again.',
  },
  'editor_model.no_permission': {
    code: 'model.key_refused',
    retryable: false,
    message:
      'The editor did not allow this model. Allow it when the editor asks, or under "Manage Language Model Access".',
  },
  'editor_model.blocked': {
    code: 'model.rate_limited',
    retryable: false,
    message: "The editor's quota for this model is used up. Choose another model.",
  },
  'editor_model.not_found': {
    code: 'model.unknown',
    retryable: false,
    message: 'The editor does not offer this model any more. Choose another model.',
  },
  'editor_model.failed': {
    code: 'model.failed',
    retryable: false,
    message: "The editor's model failed. Try again, or choose another model.",
  },
};
