import type { Disposable } from '../../../base/disposables.ts';
import { CodedError } from '../../../base/errors.ts';
import type {
  EditorGenerateParams,
  EditorModel,
  EditorPart,
} from '../../../protocol/editor-models.ts';
import type { SessionId } from '../../session/words.ts';

/** Who asks, and for which model. */
export type EditorAsk = {
  readonly sessionId: SessionId;
  readonly model: Pick<EditorModel, 'vendor' | 'id'>;
};

/** A request to the editor's language models. */
export type EditorRequest = Omit<EditorGenerateParams, 'requestId'>;

/** How an editor's reply ended. */
export type EditorFinish = 'stop' | 'tool_calls' | 'length' | 'other';

/** The language models of all editors that are connected, behind whoever can reach them (the ACP door). */
export interface EditorModels {
  /** Quick; an empty list where no editor is connected. Each model once, though several editors offer it. */
  list(): Promise<readonly EditorModel[]>;
  /**
   * Streams one reply: `onPart` for each part, in order and before it resolves. Rejects with `EditorModelError`
   * where the reason is known, and soon after `signal` aborts. The editor of the session's acting owner is asked first;
   * one that goes before its first part is followed by the next, later it is `editor_model.cut`.
   */
  generate(
    ask: EditorAsk,
    request: EditorRequest,
    onPart: (part: EditorPart) => void,
    signal: AbortSignal,
  ): Promise<{ readonly finish: EditorFinish }>;
  onDidChange(listener: () => void): Disposable;
}

/** Why the editor did not answer. Source: VS Code API, `LanguageModelError`. */
export type EditorModelErrorCode =
  /** No connected editor offers the model. */
  | 'editor_model.no_editor'
  /** The editor went in the middle of its answer. */
  | 'editor_model.cut'
  | 'editor_model.no_permission'
  | 'editor_model.blocked'
  | 'editor_model.not_found'
  | 'editor_model.failed';

/** A failed request to the editor's language models. */
export class EditorModelError extends CodedError<EditorModelErrorCode> {}
