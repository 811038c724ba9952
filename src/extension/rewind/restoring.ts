import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import type { Overwrite, RestoreChoice, SkippedPath } from '../../protocol/checkpoint-shapes.ts';
import type { MoveResponse } from '../../protocol/harn.ts';
import { openDiffs } from '../diffs/change-documents.ts';
import { confirmationOf, doneWords, previewName } from './plan-words.ts';
import type { RewindPorts } from './ports.ts';
import { previewSides } from './restore-documents.ts';
import { mayGoOn } from './stop-first.ts';

/** One going back: which, of which session, and what the person knows it by. */
export type Rewind = {
  readonly sessionId: string;
  readonly choice: RestoreChoice;
  /** The prompt or the step it is about; '' where it needs no name. */
  readonly name: string;
};

type Restored = {
  readonly restored: readonly string[];
  readonly skipped: readonly SkippedPath[];
};

/**
 * Shows what a rollback, redo or restore changes, asks, does it, and tells what was done and what was left alone.
 * False if the person gave up. Rejects with a `CodedError`.
 */
export async function rewind(ports: RewindPorts, deed: Rewind): Promise<boolean> {
  const { sessionId, choice, name } = deed;
  if (!(await mayGoOn(ports, sessionId))) return false;
  const preview = await ports.request('_pilothouse/checkpoints/preview', { sessionId, ...choice });
  const sides = previewSides(sessionId, choice, preview, Date.now());
  const words = confirmationOf(choice.what, name, preview, nameOf);
  const title = previewTitle(choice.what);
  if (sides.length > 0) await openDiffs(previewName(title, preview.files, nameOf), sides);
  const foreign = preview.files.filter(({ changedSince }) => changedSince).length;
  const count = { foreign, all: preview.files.length };
  const overwrite = await asked(choice.what, words, count, sides.length > 0);
  if (overwrite === null) return false;
  const laidAnew = ports.laidAnew(sessionId);
  const done = await carryOut(ports, deed, overwrite);
  await closePreview(title);
  tell(deed, done, ports.shown() === sessionId);
  if (choice.what === 'rollback' || choice.what === 'redo') await laidAnew;
  return true;
}

/** The name of a file in sentences: its path within the workspace. */
function nameOf(path: string): string {
  return vscode.workspace.asRelativePath(path);
}

function previewTitle(what: RestoreChoice['what']): string {
  const words = {
    rollback: l10n.t('Preview: Roll Back'),
    redo: l10n.t('Preview: Redo'),
    files: l10n.t('Preview: Restore Files'),
    call: l10n.t('Preview: Restore Step'),
  };
  return words[what];
}

/** What may be overwritten; null if the person gave up. */
async function asked(
  what: RestoreChoice['what'],
  words: { readonly question: string; readonly detail: string },
  { foreign, all }: { readonly foreign: number; readonly all: number },
  hasPreview: boolean,
): Promise<Overwrite | null> {
  const verb = verbOf(what);
  const [skip, overwrite] =
    foreign === 1
      ? [l10n.t('{0}, Skip That File', verb), l10n.t('{0}, Overwrite It', verb)]
      : [l10n.t('{0}, Skip Those Files', verb), l10n.t('{0}, Overwrite Them', verb)];
  const look = l10n.t('Look at the Changes First');
  // Where skipping would leave nothing to restore, the first button is the one that does something.
  const ways = foreign === all ? [overwrite, skip] : [skip, overwrite];
  const buttons = [...(foreign > 0 ? ways : [verb]), ...(hasPreview ? [look] : [])];
  for (;;) {
    const { question, detail } = words;
    const options = { modal: true, detail };
    const picked = await vscode.window.showWarningMessage(question, options, ...buttons);
    if (picked === verb || picked === skip) return [];
    if (picked === overwrite) return 'all';
    if (picked !== look || !(await lookedAt(question, verb))) return null;
  }
}

/** Leaves the preview on the screen until the person has decided to go on. */
async function lookedAt(question: string, verb: string): Promise<boolean> {
  const goOn = `${verb}…`;
  const cancel = l10n.t('Cancel');
  return (await vscode.window.showInformationMessage(question, goOn, cancel)) === goOn;
}

function verbOf(what: RestoreChoice['what']): string {
  if (what === 'rollback') return l10n.t('Roll Back');
  return what === 'redo' ? l10n.t('Redo') : l10n.t('Restore');
}

async function carryOut(
  { request }: RewindPorts,
  { sessionId, choice }: Rewind,
  overwrite: Overwrite,
): Promise<Restored> {
  const { what, checkpointId, toolCallId } = choice;
  switch (what) {
    case 'rollback': {
      const which = checkpointId === undefined ? {} : { checkpointId };
      return movedFiles(await request('session/rollback', { sessionId, ...which, overwrite }));
    }
    case 'redo':
      return movedFiles(await request('session/redo', { sessionId, overwrite }));
    case 'files': {
      const params = { sessionId, checkpointId: checkpointId ?? '', overwrite };
      return restoredFiles(await request('_pilothouse/checkpoints/restore', params));
    }
    case 'call': {
      const params = { sessionId, toolCallId: toolCallId ?? '', overwrite };
      return restoredFiles(await request('session/restore_tool_call', params));
    }
  }
}

function movedFiles({ fsRestores }: MoveResponse): Restored {
  return {
    restored: fsRestores.flatMap(({ restoredPaths }) => restoredPaths),
    skipped: fsRestores.flatMap(({ skippedPathsWithReasons }) => skippedPathsWithReasons),
  };
}

function restoredFiles(answer: {
  readonly restoredPaths: readonly string[];
  readonly skippedPathsWithReasons: readonly SkippedPath[];
}): Restored {
  return { restored: answer.restoredPaths, skipped: answer.skippedPathsWithReasons };
}

/** The texts that were compared are those of a past state now. The editor writes the number of files behind a title. */
async function closePreview(title: string): Promise<void> {
  const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
  const shown = tabs.filter(({ label }) => label.startsWith(title));
  if (shown.length > 0) await vscode.window.tabGroups.close(shown, true);
}

/** The chat offers Redo by itself where it shows the session. */
function tell({ sessionId, choice }: Rewind, done: Restored, isShown: boolean): void {
  const text = doneWords(choice.what, done.restored, done.skipped, nameOf);
  const undo = choice.what === 'rollback' && !isShown ? [l10n.t('Redo')] : [];
  const shown =
    done.skipped.length > 0
      ? vscode.window.showWarningMessage(text, ...undo)
      : vscode.window.showInformationMessage(text, ...undo);
  shown.then(
    async (picked) => {
      if (picked === undefined) return;
      await vscode.commands.executeCommand('pilothouse.redoRollback', { sessionId });
    },
    () => undefined,
  );
}
