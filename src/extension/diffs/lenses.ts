import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import type { Disposable } from '../../base/disposables.ts';
import { toDisposable } from '../../base/disposables.ts';
import type { ReviewItem } from './review/review-file.ts';
import type { Reviews } from './reviews.ts';
import { isAt } from './targets.ts';

/**
 * "Undo This Change" and "Keep" above each change in the file itself: as lenses, and as quick fixes, which also show
 * where the person has turned lenses off (diff editors do by default).
 */
export class ChangeLenses
  implements vscode.CodeLensProvider, vscode.CodeActionProvider, Disposable
{
  readonly #reviews: Reviews;
  readonly #changed = new vscode.EventEmitter<void>();
  readonly #subscription: Disposable;

  readonly onDidChangeCodeLenses = this.#changed.event;

  constructor(reviews: Reviews) {
    this.#reviews = reviews;
    const subscription = reviews.onDidChange(() => this.#changed.fire());
    this.#subscription = toDisposable(() => {
      subscription.dispose();
      this.#changed.dispose();
    });
  }

  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    return this.#pending(document).flatMap(({ sessionId, item }) => {
      if (item.place.state === 'changed') return [];
      const line = Math.min(item.place.line, document.lineCount - 1);
      const range = new vscode.Range(line, 0, line, 0);
      const target = { sessionId, path: document.uri.fsPath, id: item.id };
      return [...commandsFor(item, target), steerCommand(item, target)].map(
        (command) => new vscode.CodeLens(range, command),
      );
    });
  }

  provideCodeActions(document: vscode.TextDocument, range: vscode.Range): vscode.CodeAction[] {
    return this.#pending(document)
      .filter(({ item }) => item.hunk !== null && isAt(item, range.start.line))
      .flatMap(({ sessionId, item }) => {
        const target = { sessionId, path: document.uri.fsPath, id: item.id };
        return [...commandsFor(item, target), steerCommand(item, target)].map((command) => {
          const action = new vscode.CodeAction(command.title, vscode.CodeActionKind.QuickFix);
          action.command = command;
          return action;
        });
      });
  }

  #pending(document: vscode.TextDocument): { sessionId: string; item: ReviewItem }[] {
    const [found] = this.#reviews.withFile(document.uri.fsPath);
    return (found?.file.pending ?? []).map((item) => ({
      sessionId: found?.review.sessionId ?? '',
      item,
    }));
  }

  dispose(): void {
    this.#subscription.dispose();
  }
}

/** Says something to the session about the lines of the change. */
function steerCommand(
  { hunk, place }: ReviewItem,
  { sessionId, path }: { sessionId: string; path: string },
): vscode.Command {
  const first = place.state === 'changed' ? 1 : place.line + 1;
  const last = first + Math.max(1, hunk?.after.length ?? 1) - 1;
  const target = { sessionId, path, first, last };
  return { title: l10n.t('Steer Here'), command: 'pilothouse.steerHere', arguments: [target] };
}

function commandsFor(
  item: ReviewItem,
  target: { sessionId: string; path: string; id: string },
): vscode.Command[] {
  const undo =
    item.hunk === null ? l10n.t('Undo All Changes in This File') : l10n.t('Undo This Change');
  const keep = item.hunk === null ? l10n.t('Keep This File') : l10n.t('Keep This Change');
  return [
    { title: undo, command: 'pilothouse.undoChange', arguments: [target] },
    { title: keep, command: 'pilothouse.keepChange', arguments: [target] },
  ];
}
