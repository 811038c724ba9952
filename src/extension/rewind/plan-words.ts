import * as l10n from '@vscode/l10n';
import type { RestorePreview, SkippedPath } from '../../protocol/checkpoint-shapes.ts';

/** What is about to happen: which going back, and what the person calls it. */
export type RewindKind = 'rollback' | 'redo' | 'files' | 'call';

type PlannedFile = RestorePreview['files'][number];

const MAX_NAMED = 8;

/** The question of a confirmation and what exactly will happen to conversation and files. */
export function confirmationOf(
  kind: RewindKind,
  prompt: string,
  preview: RestorePreview,
  nameOf: (path: string) => string,
): { readonly question: string; readonly detail: string } {
  const parts = [
    conversationPart(kind),
    filesPart(preview.files, nameOf),
    changedPart(
      preview.files.filter(({ changedSince }) => changedSince),
      nameOf,
    ),
    coveragePart(preview),
  ];
  return {
    question: questionOf(kind, shortened(prompt)),
    detail: parts.filter((part) => part !== '').join('\n\n'),
  };
}

function questionOf(kind: RewindKind, prompt: string): string {
  switch (kind) {
    case 'rollback':
      return prompt === ''
        ? l10n.t('Roll back to before the last turn?')
        : l10n.t('Roll back to before “{0}”?', prompt);
    case 'redo':
      return l10n.t('Redo what was rolled back?');
    case 'files':
      return prompt === ''
        ? l10n.t('Restore files to this state?')
        : l10n.t('Restore files to before “{0}”?', prompt);
    case 'call':
      return prompt === ''
        ? l10n.t('Restore the files of this step?')
        : l10n.t('Restore the files of “{0}”?', prompt);
  }
}

function conversationPart(kind: RewindKind): string {
  switch (kind) {
    case 'rollback':
      return l10n.t(
        'Conversation: this message and all that followed leave it. Its text goes into the composer. You can redo this until the next turn.',
      );
    case 'redo':
      return l10n.t('Conversation: what was rolled back is part of it again.');
    case 'files':
    case 'call':
      return l10n.t('Conversation: stays as it is.');
  }
}

function filesPart(files: readonly PlannedFile[], nameOf: (path: string) => string): string {
  if (files.length === 0) return l10n.t('Files: no file is changed.');
  const lines = files.slice(0, MAX_NAMED).map(({ path, change, binary }) => {
    const words = binary ? `${changeWords(change)}, ${l10n.t('binary')}` : changeWords(change);
    return `• ${nameOf(path)} (${words})`;
  });
  return [l10n.t('Files:'), ...lines, ...moreOf(files.length)].join('\n');
}

/** What a restore does to a file. */
function changeWords(change: PlannedFile['change']): string {
  switch (change) {
    case 'added':
      return l10n.t('created again');
    case 'modified':
      return l10n.t('put back');
    case 'deleted':
      return l10n.t('deleted');
  }
}

function changedPart(files: readonly PlannedFile[], nameOf: (path: string) => string): string {
  if (files.length === 0) return '';
  const names = files.slice(0, MAX_NAMED).map(({ path }) => `• ${nameOf(path)}`);
  const intro =
    files.length === 1
      ? l10n.t('This file was changed since. Overwriting it loses that:')
      : l10n.t('These files were changed since. Overwriting them loses that:');
  return [intro, ...names, ...moreOf(files.length)].join('\n');
}

/** The title of a preview: it names the binary files, which a diff can't show, so that all files are accounted for. */
export function previewName(
  title: string,
  files: readonly PlannedFile[],
  nameOf: (path: string) => string,
): string {
  const binary = files.flatMap((file) => (file.binary ? [nameOf(file.path)] : []));
  if (binary.length === 0) return title;
  const named = [
    ...binary.slice(0, 3),
    ...(binary.length > 3 ? [moreWords(binary.length - 3)] : []),
  ];
  return l10n.t('{0}, and without a preview (binary): {1}', title, named.join(', '));
}

function moreWords(count: number): string {
  return l10n.t('and {0} more', count);
}

function moreOf(count: number): string[] {
  return count > MAX_NAMED ? [moreWords(count - MAX_NAMED)] : [];
}

function coveragePart({ coverage, reason }: RestorePreview): string {
  if (coverage === 'full') return '';
  const why = reason === undefined || reason === '' ? '' : ` (${reason})`;
  return l10n.t(
    'Not everything is known: only what the session’s own tools wrote can be put back{0}. What commands changed stays.',
    why,
  );
}

/** What was done, for the message after it. */
export function doneWords(
  kind: RewindKind,
  restored: readonly string[],
  skipped: readonly SkippedPath[],
  nameOf: (path: string) => string,
): string {
  return [doneSentence(kind), restoredWords(restored.length), skippedWords(skipped, nameOf)]
    .filter((part) => part !== '')
    .join(' ');
}

function doneSentence(kind: RewindKind): string {
  switch (kind) {
    case 'rollback':
      return l10n.t('Rolled back.');
    case 'redo':
      return l10n.t('Redone.');
    case 'files':
    case 'call':
      return '';
  }
}

function restoredWords(count: number): string {
  if (count === 0) return l10n.t('No file was changed.');
  return count === 1 ? l10n.t('One file was put back.') : l10n.t('{0} files were put back.', count);
}

function skippedWords(skipped: readonly SkippedPath[], nameOf: (path: string) => string): string {
  if (skipped.length === 0) return '';
  const named = skipped
    .slice(0, 3)
    .map(({ path, reason }) => `${nameOf(path)} (${skipReason(reason)})`);
  const more = skipped.length > 3 ? [moreWords(skipped.length - 3)] : [];
  return l10n.t('Left as it is: {0}.', [...named, ...more].join(', '));
}

/** The agent's word for why a file was left alone, as a person reads it. */
export function skipReason(reason: string): string {
  switch (reason) {
    case 'changed_since':
      return l10n.t('changed since');
    case 'outside_workspace':
      return l10n.t('outside the folder');
    case 'timeout':
      return l10n.t('took too long');
    case 'behind_link':
      return l10n.t('behind a symbolic link');
    case 'folder_in_the_way':
      return l10n.t('a folder with other files is there now');
    case 'file_in_the_way':
      return l10n.t('a folder above it is a file now');
    case 'special_file':
      return l10n.t('neither a file nor a link now');
    case 'unreadable':
      return l10n.t('it can not be read');
    default:
      return reason;
  }
}

/** A prompt short enough for a sentence. */
export function shortened(prompt: string): string {
  const line = prompt.trim().split('\n', 1)[0] ?? '';
  return line.length > 60 ? `${line.slice(0, 59)}…` : line;
}
