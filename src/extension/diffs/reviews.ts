import * as vscode from 'vscode';
import { type Disposable, DisposableStore } from '../../base/disposables.ts';
import { Emitter } from '../../base/emitter.ts';
import { messageOf } from '../../base/errors.ts';
import type { DiffPorts } from './ports.ts';
import { KeptChanges } from './review/kept-changes.ts';
import type { ReviewFile } from './review/review-file.ts';
import { SessionReview } from './review/session-review.ts';

/** How long a session may write before its list is asked for again, in milliseconds. */
const QUIET_MS = 400;

/** The reviews of the sessions that a person looks at; a session is added when its changes are first asked for. */
export class Reviews implements Disposable {
  readonly #ports: DiffPorts;
  readonly #kept: KeptChanges;
  readonly #reviews = new Map<string, SessionReview>();
  readonly #changed = new Emitter<SessionReview | null>();
  readonly #store = new DisposableStore();
  readonly #timers = new Map<string, NodeJS.Timeout>();

  /** Fires with the review that changed, or null when one is gone. */
  readonly onDidChange = this.#changed.event;

  constructor(ports: DiffPorts) {
    this.#ports = ports;
    this.#kept = new KeptChanges(ports.store);
    this.#store.add(
      ports.onDidChangeFiles(({ sessionId, turnEnded }) => {
        if (this.#reviews.has(sessionId)) this.#soon(sessionId, turnEnded ? 0 : QUIET_MS);
      }),
    );
    this.#store.add(ports.onDidRemoveSession((sessionId) => this.#forget(sessionId)));
    this.#store.add(
      ports.onDidConnect(() => {
        for (const sessionId of this.#reviews.keys()) this.#soon(sessionId, 0);
      }),
    );
    this.#store.add(
      vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        if (contentChanges.length > 0) this.#fileChanged(document.uri);
      }),
    );
    this.#store.add(vscode.workspace.onDidSaveTextDocument(({ uri }) => this.#fileChanged(uri)));
    this.#store.add(
      vscode.workspace.onDidDeleteFiles(({ files }) => {
        for (const uri of files) this.#fileChanged(uri);
      }),
    );
  }

  /** The review of a session, as far as it is known already. */
  of(sessionId: string): SessionReview {
    const known = this.#reviews.get(sessionId);
    if (known) return known;
    const review = new SessionReview(sessionId, {
      list: this.#ports.list,
      text: this.#ports.text,
      current: currentText,
      kept: this.#kept,
    });
    review.onDidChange(() => this.#changed.fire(review));
    this.#reviews.set(sessionId, review);
    return review;
  }

  /** The review of a session with its newest list. Rejects if the agent can't be asked. */
  async fresh(sessionId: string): Promise<SessionReview> {
    const review = this.of(sessionId);
    await review.refresh();
    return review;
  }

  /** Asks for the list again at once, if the session's changes were asked for before. */
  lookAgain(sessionId: string): void {
    if (this.#reviews.has(sessionId)) this.#soon(sessionId, 0);
  }

  /** Reviews in which this file has something pending. The shown session comes first. */
  withFile(path: string): { review: SessionReview; file: ReviewFile }[] {
    const shown = this.#ports.shownSession();
    return [...this.#reviews.values()]
      .sort((a, b) => Number(b.sessionId === shown) - Number(a.sessionId === shown))
      .flatMap((review) => {
        const file = review.file(path);
        return file && file.pending.length > 0 ? [{ review, file }] : [];
      });
  }

  /** Paths with something pending in any review. */
  pendingPaths(): string[] {
    const paths = [...this.#reviews.values()].flatMap(({ pendingFiles }) =>
      pendingFiles.map(({ path }) => path),
    );
    return [...new Set(paths)];
  }

  #fileChanged(uri: vscode.Uri): void {
    if (uri.scheme !== 'file') return;
    for (const review of this.#reviews.values())
      if (review.file(uri.fsPath))
        this.#after(`${review.sessionId} ${uri.fsPath}`, QUIET_MS / 2, async () =>
          review.refreshFile(uri.fsPath),
        );
  }

  #soon(sessionId: string, delay: number): void {
    this.#after(sessionId, delay, async () => this.#reviews.get(sessionId)?.refresh());
  }

  /** Runs once for all calls within the delay; a shorter delay wins. */
  #after(key: string, delay: number, run: () => Promise<unknown>): void {
    if (this.#timers.has(key) && delay > 0) return;
    clearTimeout(this.#timers.get(key));
    this.#timers.set(
      key,
      setTimeout(() => {
        this.#timers.delete(key);
        run().catch((error: unknown) =>
          this.#ports.log(`the changes could not be read: ${messageOf(error)}`),
        );
      }, delay),
    );
  }

  #forget(sessionId: string): void {
    this.#reviews.get(sessionId)?.dispose();
    if (this.#reviews.delete(sessionId)) this.#changed.fire(null);
    this.#kept
      .forget(sessionId)
      .then(undefined, (error: unknown) =>
        this.#ports.log(`marks of a deleted session stay: ${messageOf(error)}`),
      );
  }

  dispose(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    for (const review of this.#reviews.values()) review.dispose();
    this.#store.dispose();
    this.#changed.dispose();
  }
}

/** The text of a file now: as the editor has it if it is open, else from the disk; null if there is none. */
export async function currentText(path: string): Promise<string | null> {
  const uri = vscode.Uri.file(path);
  const open = vscode.workspace.textDocuments.find(
    (document) => !document.isClosed && document.uri.toString() === uri.toString(),
  );
  if (open) return open.getText();
  try {
    return await vscode.workspace.decode(await vscode.workspace.fs.readFile(uri), { uri });
  } catch (error) {
    if (error instanceof vscode.FileSystemError && error.code === 'FileNotFound') return null;
    throw error;
  }
}
