import * as vscode from 'vscode';
import { type Disposable, DisposableStore } from '../../base/disposables.ts';
import { targetSession } from '../commands/picks/pick-session.ts';
import { registerCommands } from '../commands/register.ts';
import type { Services } from '../commands/services.ts';
import { onDemand } from '../commands/tables/on-demand.ts';
import { StrayClicks } from '../diffs/stray-clicks.ts';
import { controlError } from '../sessions/control/refused.ts';
import { sessionName } from '../sessions/tree/tree-model.ts';
import type { AskAgent } from './decisions.ts';
import { STAGED_SCHEME, StagedDocuments } from './staged-documents.ts';
import { StagedFiles } from './staged-files.ts';
import { StagedLenses } from './staged-lenses.ts';
import { StagedReviews } from './staged-reviews.ts';
import type { StagedStore } from './staged-store.ts';

/** Staged edits in the editor. */
export type Staged = Disposable & {
  readonly files: StagedFiles;
  /** One for all that keeps, discards and takes back: their rows stand in one view. */
  readonly clicks: StrayClicks;
};

const COMMANDS = [
  'pilothouse.reviewStaged',
  'pilothouse.keepAllStaged',
  'pilothouse.discardAllStaged',
  'pilothouse.toggleStagedMode',
  'pilothouse.openStagedChange',
  'pilothouse.keepStagedFile',
  'pilothouse.discardStagedFile',
  'pilothouse.keepStagedChange',
  'pilothouse.discardStagedChange',
];

const STAGED: vscode.DocumentSelector = { scheme: STAGED_SCHEME };

/** Registers everything that shows, keeps and discards staged edits. */
export function registerStaged(services: Services, stagedStore: StagedStore): Staged {
  const { hub, hosts, log } = services;
  const store = new DisposableStore();
  const read = async (sessionId: string, path: string, side: 'base' | 'staged') => {
    const connection = await hosts.connectFor({ sessionId });
    return (await connection.request('_pilothouse/staged/text', { sessionId, path, side })).text;
  };
  const files = store.add(new StagedFiles(stagedStore, read, (message) => log.warn(message)));
  const reviews = store.add(new StagedReviews(files));
  const clicks = new StrayClicks(() => performance.now());
  const documents = store.add(new StagedDocuments(files));
  const lenses = store.add(new StagedLenses(files));
  store.add(vscode.workspace.registerTextDocumentContentProvider(STAGED_SCHEME, documents));
  store.add(vscode.languages.registerCodeLensProvider(STAGED, lenses));
  store.add(
    vscode.languages.registerCodeActionsProvider(STAGED, lenses, {
      providedCodeActionKinds: [vscode.CodeActionKind.QuickFix],
    }),
  );
  store.add(
    vscode.workspace.onDidSaveTextDocument(({ uri }) => {
      for (const { sessionId } of hub.live())
        if (files.of(sessionId).some(({ change }) => change.path === uri.fsPath))
          files.fresh(sessionId).then(undefined, (error: unknown) => log.warn(String(error)));
    }),
  );
  const ask: AskAgent = async (method, params) => {
    const connection = await hosts.connectFor(params);
    try {
      return await connection.request(method, params);
    } catch (error) {
      throw controlError(error);
    }
  };
  const commands = onDemand(COMMANDS, async () => {
    const { createStagedCommands } = await import('../control/bundle.ts');
    return createStagedCommands({
      ask,
      store: stagedStore,
      files,
      reviews,
      clicks,
      sessionName: (sessionId) => sessionName(hub.directory.get(sessionId)?.title ?? ''),
      choose: async (argument) => targetSession(services, argument),
    });
  });
  store.add(registerCommands(commands, log));
  return { files, clicks, dispose: () => store.dispose() };
}
