import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import * as z from 'zod/mini';
import type { CommandTable } from '../commands/services.ts';
import {
  type ChangeDocuments,
  type DiffSides,
  openDiffs,
  reviewSides,
  stepSides,
} from './change-documents.ts';
import type { ChangesTree } from './changes-tree.ts';
import type { DiffPorts } from './ports.ts';
import type { Span } from './review/turn-changes.ts';
import { currentText, type Reviews } from './reviews.ts';
import type { StrayClicks } from './stray-clicks.ts';
import { type ChangeTarget, changeTarget } from './targets.ts';
import { type UndoRequest, undoChanges } from './undo.ts';

/** What the commands act on. */
export type ChangeParts = {
  readonly ports: DiffPorts;
  readonly reviews: Reviews;
  readonly documents: ChangeDocuments;
  readonly tree: ChangesTree;
  readonly clicks: StrayClicks;
};

const TURN = z.object({
  sessionId: z.string(),
  turn: z.number(),
  fromEvent: z.number(),
  toEvent: z.number(),
});

/** Events are counted from one. */
const WHOLE: Span = { kind: 'events', from: 1, to: Number.MAX_SAFE_INTEGER };

const SESSION = z.object({ sessionId: z.string() });
const CALL = z.object({ sessionId: z.string(), toolCallId: z.string(), path: z.string() });

/** Commands that show changes, keep them and take them back. */
export function changeCommands(parts: ChangeParts): CommandTable {
  const { clicks } = parts;
  return {
    'pilothouse.showChanges': async (argument) => showSession(parts, argument),
    'pilothouse.internal.transcript.showChanges': async (argument) => showTurn(parts, argument),
    'pilothouse.internal.showCallDiff': async (argument) => showCall(parts, argument),
    'pilothouse.openChange': async (argument) => openChange(parts, argument),
    'pilothouse.internal.revealStaged': async (argument) => {
      const named = z.safeParse(SESSION, argument);
      if (named.success) await parts.tree.revealStaged(named.data.sessionId);
    },
    'pilothouse.refreshChanges': async () => {
      if (parts.tree.sessionId !== null) await parts.reviews.fresh(parts.tree.sessionId);
    },
    'pilothouse.undoChange': async (argument) =>
      clicks.run(argument, async () => undo(target(parts, argument, 'cursor'))),
    'pilothouse.keepChange': async (argument) =>
      clicks.run(argument, async () => keep(target(parts, argument, 'cursor'))),
    'pilothouse.undoFileChanges': async (argument) =>
      clicks.run(argument, async () => undo(target(parts, argument, 'whole'))),
    'pilothouse.keepFileChanges': async (argument) =>
      clicks.run(argument, async () => keep(target(parts, argument, 'whole'))),
    'pilothouse.undoAllChanges': async (argument) => undoAll(parts, argument),
    'pilothouse.keepAllChanges': async (argument) => keepAll(parts, argument),
  };
}

/** Opens what a session has still to be reviewed in the multi-diff editor. */
async function showSession(parts: ChangeParts, argument: unknown): Promise<void> {
  const { ports, reviews, tree } = parts;
  const sessionId = await ports.chooseSession(argument);
  if (sessionId === undefined) return;
  tree.choose(sessionId);
  const title = l10n.t('Changes: {0}', ports.sessionName(sessionId));
  if (ports.isElsewhere(sessionId)) {
    await openDiffs(title, await spanSides(parts, sessionId, WHOLE));
    return;
  }
  const review = await reviews.fresh(sessionId);
  const files = review.pendingFiles.length > 0 ? review.pendingFiles : [];
  if (files.length === 0 && review.files.length > 0) {
    void vscode.window.showInformationMessage(
      l10n.t('All changes of this session are reviewed or undone.'),
    );
    return;
  }
  await openDiffs(
    title,
    files.map(({ path, texts }) => reviewSides(sessionId, path, texts)),
  );
}

async function showTurn(parts: ChangeParts, argument: unknown): Promise<void> {
  const parsed = z.safeParse(TURN, argument);
  if (!parsed.success) return;
  const { sessionId, turn, fromEvent, toEvent } = parsed.data;
  const span = { kind: 'events', from: fromEvent, to: toEvent } as const;
  const sides = await spanSides(parts, sessionId, span);
  await openDiffs(l10n.t('Changes of turn {0}', turn), sides);
}

/** Both sides of each file that changed within a span. */
async function spanSides(
  { ports, documents }: ChangeParts,
  sessionId: string,
  span: Span,
): Promise<DiffSides[]> {
  const files = await documents.step(sessionId, span);
  return Promise.all(
    [...files].map(async ([path, texts]) =>
      stepSides(path, texts, { kind: 'step', sessionId, span }, await here(ports, sessionId, path)),
    ),
  );
}

/** The file's text now; null where it is another machine's: the same path here is another file. */
async function here(ports: DiffPorts, sessionId: string, path: string): Promise<string | null> {
  return ports.isElsewhere(sessionId) ? null : currentText(path);
}

/** Opens what one call did to one file. False if the history knows no such change (yet). */
async function showCall({ ports, documents }: ChangeParts, argument: unknown): Promise<boolean> {
  const parsed = z.safeParse(CALL, argument);
  if (!parsed.success) return false;
  const { sessionId, toolCallId, path } = parsed.data;
  const span = { kind: 'call', toolCallId } as const;
  const texts = (await documents.step(sessionId, span)).get(path);
  if (!texts) return false;
  const now = await here(ports, sessionId, path);
  const sides = stepSides(path, texts, { kind: 'step', sessionId, span }, now);
  const name = path.slice(path.lastIndexOf('/') + 1);
  await openDiffs(l10n.t('{0} (this step)', name), [sides]);
  return true;
}

async function openChange(parts: ChangeParts, argument: unknown): Promise<void> {
  const found = changeTarget(parts.reviews, argument, 'whole');
  if (!found) return;
  const { review, file, items } = found;
  const [item] = items;
  const line =
    item && items.length === 1 && item.place.state !== 'changed' ? item.place.line : undefined;
  const name = file.path.slice(file.path.lastIndexOf('/') + 1);
  const sides = reviewSides(review.sessionId, file.path, file.texts);
  if (!sides.before && sides.after) {
    await vscode.commands.executeCommand('vscode.open', sides.after);
    return;
  }
  await openDiffs(l10n.t('{0} (session changes)', name), [sides], line);
}

function target(
  { reviews }: ChangeParts,
  argument: unknown,
  scope: 'whole' | 'cursor',
): ChangeTarget | null {
  const found = changeTarget(reviews, argument, scope);
  if (!found)
    void vscode.window.showInformationMessage(
      scope === 'cursor'
        ? l10n.t('There is no change of a session at the cursor. Put it on a changed line.')
        : l10n.t('This file has no changes of a session that are still to be reviewed.'),
    );
  return found;
}

function requestOf({ file, items }: ChangeTarget): UndoRequest {
  return { file, ids: new Set(items.map(({ id }) => id)) };
}

async function undo(found: ChangeTarget | null): Promise<void> {
  if (!found) return;
  const { refused } = await undoChanges([requestOf(found)]);
  await found.review.refreshFile(found.file.path);
  tellRefused(refused);
}

function tellRefused(refused: number): void {
  if (refused === 0) return;
  void vscode.window.showWarningMessage(
    refused === 1
      ? l10n.t(
          'One change was left as it is, because its lines were edited since. Undo it by hand: the diff shows what it was.',
        )
      : l10n.t(
          '{0} changes were left as they are, because their lines were edited since. Undo them by hand: the diff shows what they were.',
          refused,
        ),
  );
}

async function keep(found: ChangeTarget | null): Promise<void> {
  if (!found) return;
  const { review, file, items } = found;
  await review.keep(
    file.path,
    items.map(({ id }) => id),
  );
}

async function undoAll({ ports, reviews }: ChangeParts, argument: unknown): Promise<void> {
  const sessionId = await ports.chooseSession(argument);
  if (sessionId === undefined) return;
  const review = await reviews.fresh(sessionId);
  const files = review.pendingFiles;
  if (files.length === 0) {
    void vscode.window.showInformationMessage(l10n.t('There are no changes to undo.'));
    return;
  }
  const yes = l10n.t('Undo Changes');
  const detail = l10n.t('Lines that were edited since stay as they are. The edit can be undone.');
  const question =
    files.length === 1
      ? l10n.t('Undo all changes of this session in one file?')
      : l10n.t('Undo all changes of this session in {0} files?', files.length);
  if ((await vscode.window.showWarningMessage(question, { modal: true, detail }, yes)) !== yes)
    return;
  const { refused } = await undoChanges(
    files.map((file) => requestOf({ review, file, items: file.pending })),
  );
  await review.refresh();
  tellRefused(refused);
}

async function keepAll({ ports, reviews }: ChangeParts, argument: unknown): Promise<void> {
  const sessionId = await ports.chooseSession(argument);
  if (sessionId === undefined) return;
  const review = await reviews.fresh(sessionId);
  for (const { path } of review.pendingFiles) await review.keep(path);
}
