import * as vscode from 'vscode';

/** The scheme of texts that exist only in a session: full outputs and sides of a diff. */
export const TEXT_SCHEME = 'pilothouse-text';

const MAX_KEPT = 50;

/** Serves read-only documents whose text was handed in; the oldest are let go. */
export class TextDocuments implements vscode.TextDocumentContentProvider {
  readonly #texts = new Map<string, string>();
  #count = 0;

  /** The URI under which `text` can be opened; `name` ends it, so that the editor finds the language. */
  add(name: string, text: string): vscode.Uri {
    this.#count += 1;
    const uri = vscode.Uri.from({ scheme: TEXT_SCHEME, path: `/${this.#count}/${name}` });
    this.#texts.set(uri.toString(), text);
    const [oldest] = this.#texts.keys();
    if (this.#texts.size > MAX_KEPT && oldest !== undefined) this.#texts.delete(oldest);
    return uri;
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.#texts.get(uri.toString()) ?? '';
  }
}
