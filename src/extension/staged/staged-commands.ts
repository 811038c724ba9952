import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import * as z from 'zod/mini';
import type { CommandTable } from '../commands/services.ts';
import { openDiffs } from '../diffs/change-documents.ts';
import type { StrayClicks } from '../diffs/stray-clicks.ts';
import { type AskAgent, decideHunk, discardFiles, keepFiles } from './decisions.ts';
import { stagedSides, wholeSides } from './staged-documents.ts';
import type { StagedFile } from './staged-file.ts';
import type { StagedFiles } from './staged-files.ts';
import { MULTI_DIFF_SCHEME, type StagedReviews } from './staged-reviews.ts';
import type { StagedStore } from './staged-store.ts';
import { type StagedTarget, stagedTarget } from './staged-targets.ts';

/** What the commands act on. */
export type StagedParts = {
  readonly ask: AskAgent;
  readonly store: StagedStore;
  readonly files: StagedFiles;
  readonly reviews: StagedReviews;
  readonly clicks: StrayClicks;
  readonly sessionName: (sessionId: string) => string;
  /** The session a command is about; undefined if the person gave up. */
  readonly choose: (argument: unknown) => Promise<string | undefined>;
};

const HUNK_ROW = z.looseObject({ hunk: z.looseObject({ afterStart: z.number() }) });

/** Commands that show staged edits, keep and discard them, and turn staging on and off. */
export function stagedCommands(parts: StagedParts): CommandTable {
  const { clicks } = parts;
  const about =
    (run: (sessionId: string, argument: unknown) => Promise<unknown>) =>
    async (argument?: unknown): Promise<unknown> => {
      const sessionId = reviewed(parts, argument) ?? (await parts.choose(argument));
      return sessionId === undefined ? undefined : run(sessionId, argument);
    };
  return {
    'pilothouse.reviewStaged': about(async (sessionId) => review(parts, sessionId)),
    'pilothouse.keepAllStaged': about(async (id, argument) =>
      clicks.run(argument, async () => {
        await keepFiles(parts.ask, id, null);
        // What was not written is shown with the reason.
        await parts.files.fresh(id);
      }),
    ),
    'pilothouse.discardAllStaged': about(async (id) => discardAll(parts, id)),
    'pilothouse.toggleStagedMode': about(async (id) => toggle(parts, id)),
    'pilothouse.openStagedChange': async (argument) => openOne(parts, argument),
    'pilothouse.keepStagedFile': async (argument) =>
      clicks.run(argument, async () => decide(parts, argument, 'whole', true)),
    'pilothouse.discardStagedFile': async (argument) =>
      clicks.run(argument, async () => decide(parts, argument, 'whole', false)),
    'pilothouse.keepStagedChange': async (argument) =>
      clicks.run(argument, async () => decide(parts, argument, 'cursor', true)),
    'pilothouse.discardStagedChange': async (argument) =>
      clicks.run(argument, async () => decide(parts, argument, 'cursor', false)),
  };
}

/** The session of the review whose title has the button. */
function reviewed({ reviews }: StagedParts, argument: unknown): string | null {
  const isReview = argument instanceof vscode.Uri && argument.scheme === MULTI_DIFF_SCHEME;
  return isReview ? reviews.shown() : null;
}

/**
 * The title of what opens decides about all of it; one file opens in a diff of its own. A diff has no lenses unless
 * the editor is told so, one of several files never: the Changes view is unfolded beside it to decide about each change.
 */
async function review(parts: StagedParts, sessionId: string): Promise<void> {
  const { files, reviews, sessionName } = parts;
  const staged = await files.fresh(sessionId);
  if (staged.length === 0) {
    void vscode.window.showInformationMessage(l10n.t('No edits are staged in this session.'));
    return;
  }
  const unfold = async () =>
    vscode.commands.executeCommand('pilothouse.internal.revealStaged', { sessionId });
  const [only] = staged;
  if (only && staged.length === 1) {
    await openFile(sessionId, only);
    await unfold();
    return;
  }
  const title = reviews.titleFor(sessionId, l10n.t('Staged: {0}', sessionName(sessionId)));
  await openDiffs(
    title,
    staged.map((file) => stagedSides(sessionId, file)),
  );
  await unfold();
}

async function openOne(parts: StagedParts, argument: unknown): Promise<void> {
  const target = await stagedTarget(parts.files, argument, 'whole');
  const file = target && (await parts.files.find(target.sessionId, target.path));
  if (!target || !file) return;
  const row = z.safeParse(HUNK_ROW, argument);
  await openFile(target.sessionId, file, row.success ? row.data.hunk.afterStart : undefined);
}

async function openFile(sessionId: string, file: StagedFile, line?: number): Promise<void> {
  const { path, changedSince } = file.change;
  const name = path.slice(path.lastIndexOf('/') + 1);
  const title = changedSince
    ? l10n.t('{0} (staged; changed on disk since)', name)
    : l10n.t('{0} (staged)', name);
  await openDiffs(title, [wholeSides(sessionId, file)], line);
}

async function discardAll({ ask, files }: StagedParts, sessionId: string): Promise<void> {
  const count = (await files.fresh(sessionId)).length;
  if (count === 0) {
    void vscode.window.showInformationMessage(l10n.t('No edits are staged in this session.'));
    return;
  }
  const discard = l10n.t('Discard');
  const question =
    count === 1
      ? l10n.t('Discard the staged edits of one file?')
      : l10n.t('Discard the staged edits of {0} files?', count);
  const detail = l10n.t('They were never written. The files on disk stay as they are.');
  const options = { modal: true, detail };
  if ((await vscode.window.showWarningMessage(question, options, discard)) === discard)
    await discardFiles(ask, sessionId, null);
}

async function decide(
  { ask, files }: StagedParts,
  argument: unknown,
  scope: 'whole' | 'cursor',
  keep: boolean,
): Promise<void> {
  const target = await stagedTarget(files, argument, scope);
  if (!target) {
    void vscode.window.showInformationMessage(
      scope === 'cursor'
        ? l10n.t('There is no staged change at the cursor. Put it on a changed line.')
        : l10n.t('Open a staged file first.'),
    );
    return;
  }
  await decideAbout(ask, files, target, keep);
  await files.fresh(target.sessionId);
}

async function decideAbout(
  ask: AskAgent,
  files: StagedFiles,
  { sessionId, path, hunkId }: StagedTarget,
  keep: boolean,
): Promise<void> {
  const file = hunkId === null ? null : await files.find(sessionId, path);
  if (hunkId !== null && file) return decideHunk(ask, sessionId, file, hunkId, keep);
  return keep ? keepFiles(ask, sessionId, [path]) : discardFiles(ask, sessionId, [path]);
}

async function toggle({ ask, store }: StagedParts, sessionId: string): Promise<void> {
  const before = await store.refresh(sessionId);
  const mode = before.mode === 'staged' ? 'immediate' : 'staged';
  await ask('session/fs_mode', { sessionId, mode });
  const { files } = await store.refresh(sessionId);
  void vscode.window.showInformationMessage(toggledWords(mode, files.length));
}

function toggledWords(mode: 'immediate' | 'staged', files: number): string {
  if (mode === 'staged')
    return l10n.t('Edits are staged from now on: nothing is written until you keep it.');
  if (files === 0) return l10n.t('Edits are written at once from now on.');
  return files === 1
    ? l10n.t('Edits are written at once from now on. One staged file still waits for your review.')
    : l10n.t(
        'Edits are written at once from now on. {0} staged files still wait for your review.',
        files,
      );
}
