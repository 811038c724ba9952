import * as vscode from 'vscode';
import { type Disposable, DisposableStore } from '../../base/disposables.ts';
import { registerCommands } from '../commands/register.ts';
import type { Staged } from '../staged/register-staged.ts';
import { changeCommands } from './change-commands.ts';
import { ChangeDocuments } from './change-documents.ts';
import { CHANGE_SCHEME } from './change-uris.ts';
import { ChangesTree } from './changes-tree.ts';
import { ChangeLenses } from './lenses.ts';
import type { DiffPorts } from './ports.ts';
import { Reviews } from './reviews.ts';

/** Which files have something to review, for the `when` of menus. */
const CONTEXT_KEY = 'pilothouse.changedPaths';
const FILES: vscode.DocumentSelector = { scheme: 'file' };

/** Registers everything that shows, keeps and undoes what sessions changed. */
export function registerDiffs(
  ports: DiffPorts,
  staged: Pick<Staged, 'files' | 'clicks'>,
  log: vscode.LogOutputChannel,
): Disposable {
  const store = new DisposableStore();
  const reviews = store.add(new Reviews(ports));
  const documents = store.add(new ChangeDocuments(ports, reviews));
  const tree = store.add(new ChangesTree(ports, reviews, staged.files));
  // What was kept is on the disk now, as a change of the session.
  store.add(staged.files.onDidChange((sessionId) => reviews.lookAgain(sessionId)));
  const lenses = store.add(new ChangeLenses(reviews));
  store.add(vscode.workspace.registerTextDocumentContentProvider(CHANGE_SCHEME, documents));
  store.add(vscode.languages.registerCodeLensProvider(FILES, lenses));
  store.add(
    vscode.languages.registerCodeActionsProvider(FILES, lenses, {
      providedCodeActionKinds: [vscode.CodeActionKind.QuickFix],
    }),
  );
  store.add(
    reviews.onDidChange(
      () => void vscode.commands.executeCommand('setContext', CONTEXT_KEY, reviews.pendingPaths()),
    ),
  );
  store.add(
    registerCommands(
      changeCommands({ ports, reviews, documents, tree, clicks: staged.clicks }),
      log,
    ),
  );
  return store;
}
