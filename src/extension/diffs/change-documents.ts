import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { type Disposable, DisposableStore } from '../../base/disposables.ts';
import { type ChangeText, changeUri, parseChangeUri } from './change-uris.ts';
import type { DiffPorts } from './ports.ts';
import { baselineOf, type FileTexts } from './review/review-file.ts';
import { changesIn, type Span } from './review/turn-changes.ts';
import type { Reviews } from './reviews.ts';

/** How many steps' texts are kept; both sides of a diff ask for the same. */
const MAX_STEPS = 20;

/** Serves the texts that the diff views compare with. They can be read again after a restart of anything. */
export class ChangeDocuments implements vscode.TextDocumentContentProvider, Disposable {
  readonly #ports: DiffPorts;
  readonly #reviews: Reviews;
  readonly #changed = new vscode.EventEmitter<vscode.Uri>();
  readonly #store = new DisposableStore();
  readonly #steps = new Map<string, Promise<Map<string, FileTexts>>>();

  readonly onDidChange = this.#changed.event;

  constructor(ports: DiffPorts, reviews: Reviews) {
    this.#ports = ports;
    this.#reviews = reviews;
    this.#store.add(this.#changed);
    this.#store.add(reviews.onDidChange((review) => review && this.#refresh(review.sessionId)));
  }

  #refresh(sessionId: string): void {
    for (const { uri } of vscode.workspace.textDocuments) {
      const parsed = parseChangeUri(uri);
      if (parsed?.text.kind === 'baseline' && parsed.text.sessionId === sessionId)
        this.#changed.fire(uri);
    }
  }

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const parsed = parseChangeUri(uri);
    if (!parsed) return '';
    const { path, text } = parsed;
    if (text.kind === 'step') {
      const files = await this.step(text.sessionId, text.span);
      return files.get(path)?.[text.side] ?? '';
    }
    const review = this.#reviews.of(text.sessionId);
    if (!review.isLoaded) await review.refresh();
    const file = review.file(path);
    return (file && baselineOf(file)) ?? '';
  }

  /** The files that a part of a session changed. */
  async step(sessionId: string, span: Span): Promise<Map<string, FileTexts>> {
    const key = JSON.stringify([sessionId, span]);
    const known = this.#steps.get(key);
    if (known) return known;
    const files = changesIn(span, async (params) => this.#ports.page({ sessionId, ...params }));
    this.#steps.set(key, files);
    const [oldest] = this.#steps.keys();
    if (this.#steps.size > MAX_STEPS && oldest !== undefined) this.#steps.delete(oldest);
    try {
      const found = await files;
      // A running call has no diff yet; the next time it may.
      if (found.size === 0) this.#steps.delete(key);
      return found;
    } catch (error) {
      this.#steps.delete(key);
      throw error;
    }
  }

  dispose(): void {
    this.#store.dispose();
  }
}

/** One line of a diff view: what the file is called, and both sides; undefined where there is no file. */
export type DiffSides = {
  readonly file: vscode.Uri;
  readonly before: vscode.Uri | undefined;
  readonly after: vscode.Uri | undefined;
};

/** Both sides of a file's review: what is compared with, and the real file. */
export function reviewSides(sessionId: string, path: string, texts: FileTexts): DiffSides {
  const file = vscode.Uri.file(path);
  return {
    file,
    before: texts.before === null ? undefined : changeUri(path, { kind: 'baseline', sessionId }),
    after: texts.after === null ? undefined : file,
  };
}

/** Both sides of a step; the real file stands on the right where it still reads as the step wrote it. */
export function stepSides(
  path: string,
  texts: FileTexts,
  step: Omit<Extract<ChangeText, { kind: 'step' }>, 'side'>,
  current: string | null,
): DiffSides {
  const file = vscode.Uri.file(path);
  const after =
    current !== null && current === texts.after
      ? file
      : changeUri(path, { ...step, side: 'after' });
  return {
    file,
    before: texts.before === null ? undefined : changeUri(path, { ...step, side: 'before' }),
    after,
  };
}

/** Opens one file in the diff editor, or several in the multi-diff editor. */
export async function openDiffs(
  title: string,
  sides: readonly DiffSides[],
  line?: number,
): Promise<void> {
  const [only] = sides;
  if (only && sides.length === 1 && only.before && only.after) {
    const selection = line === undefined ? {} : { selection: new vscode.Range(line, 0, line, 0) };
    await vscode.commands.executeCommand('vscode.diff', only.before, only.after, title, selection);
    return;
  }
  if (sides.length === 0) {
    void vscode.window.showInformationMessage(l10n.t('There are no changes to show.'));
    return;
  }
  await vscode.commands.executeCommand(
    'vscode.changes',
    title,
    sides.map(({ file, before, after }) => [file, before, after]),
  );
}
