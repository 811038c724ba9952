import type { Disposable } from '../../../base/disposables.ts';
import { CodedError } from '../../../base/errors.ts';
import type {
  EditorGenerateParams,
  EditorModel,
  EditorPart,
} from '../../../protocol/editor-models.ts';

/** A request to the editor's language models. */
export type EditorRequest = Omit<EditorGenerateParams, 'requestId'>;

/** How an editor's reply ended. */
export type EditorFinish = 'stop' | 'tool_calls' | 'length' | 'other';

/** The editor's language models, behind whoever can reach the editor (the ACP door). */
export interface EditorModels {
  /** Quick; an empty list where no editor is attached. */
  list(): Promise<readonly EditorModel[]>;
  /**
   * Streams one reply: `onPart` for each part, in order and before it resolves. Rejects with `EditorModelError`
   * where the reason is known, and soon after `signal` aborts.
   */
  generate(
    request: EditorRequest,
    onPart: (part: EditorPart) => void,
    signal: AbortSignal,
  ): Promise<{ readonly finish: EditorFinish }>;
  onDidChange(listener: () => void): Disposable;
}

/** Why the editor did not answer. Source: VS Code API, `LanguageModelError`. */
export type EditorModelErrorCode =
  | 'editor_model.no_editor'
  | 'editor_model.no_permission'
  | 'editor_model.blocked'
  | 'editor_model.not_found'
  | 'editor_model.failed';

/** A failed request to the editor's language models. */
export class EditorModelError extends CodedError<EditorModelErrorCode> {}
