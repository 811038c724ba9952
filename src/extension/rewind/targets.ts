import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import * as z from 'zod/mini';
import { CodedError } from '../../base/errors.ts';
import type { ListedCheckpoint } from '../../protocol/checkpoint-shapes.ts';
import type { LiveSession } from '../sessions/live-session.ts';
import { relativeTime } from '../sessions/tree/relative-time.ts';
import type { CutMessage } from './branching.ts';
import { shortened } from './plan-words.ts';
import type { RewindPorts } from './ports.ts';

const MESSAGE = z.looseObject({ messageId: z.string() });

/** A message as it can be gone back to; without a checkpoint only the conversation can. */
export type NamedMessage = CutMessage & { readonly checkpointId: string | null };

/** The prompts of a session that are loaded, oldest first. */
export function promptsOf({ conversation }: LiveSession): readonly NamedMessage[] {
  return conversation.items().flatMap((item) =>
    item.kind === 'user' && item.messageId !== undefined && item.inject === undefined
      ? [
          {
            messageId: item.messageId,
            text: item.text,
            checkpointId: item.checkpoint?.checkpointId ?? null,
          },
        ]
      : [],
  );
}

/** The message that a command's argument names, null if it names none. Throws if it is not there any more. */
export function namedMessage(session: LiveSession, argument: unknown): NamedMessage | null {
  const parsed = z.safeParse(MESSAGE, argument);
  if (!parsed.success) return null;
  const found = promptsOf(session).find(({ messageId }) => messageId === parsed.data.messageId);
  if (found) return found;
  throw new CodedError(
    'rewind.unknown_message',
    l10n.t('This message is not part of the conversation any more.'),
  );
}

/** Lets the person choose a message; null for the whole conversation, undefined if they gave up. */
export async function pickMessage(
  session: LiveSession,
  placeHolder: string,
  whole: string | null,
): Promise<NamedMessage | null | undefined> {
  const prompts = promptsOf(session).toReversed();
  if (prompts.length === 0 && whole === null) {
    void vscode.window.showInformationMessage(l10n.t('This session has no messages yet.'));
    return undefined;
  }
  const items: (vscode.QuickPickItem & { message: NamedMessage | null })[] = [
    ...(whole === null ? [] : [{ label: `$(repo-forked) ${whole}`, message: null }]),
    ...prompts.map((message) => ({ label: shortened(message.text) || '…', message })),
  ];
  return (await vscode.window.showQuickPick(items, { placeHolder }))?.message;
}

/** Lets the person choose a state to go back to, newest first; undefined if they gave up or there is none. */
export async function pickCheckpoint(
  { request }: RewindPorts,
  sessionId: string,
  { what, placeHolder }: { readonly what: 'rollback' | 'files'; readonly placeHolder: string },
): Promise<ListedCheckpoint | undefined> {
  const { checkpoints } = await request('_pilothouse/checkpoints/list', { sessionId });
  // Files that were kept by hand belong to no message: no conversation can be rolled back to them.
  const kept = checkpoints
    .filter(({ state, kind }) => state !== 'redo' && (kind !== 'manual' || what === 'files'))
    .toReversed();
  if (kept.length === 0) {
    void vscode.window.showInformationMessage(
      l10n.t('There is nothing to go back to yet. A finished turn leaves something.'),
    );
    return undefined;
  }
  const items = kept.map((checkpoint) => ({
    label:
      checkpoint.kind === 'manual'
        ? l10n.t('Files kept by you')
        : l10n.t('Before “{0}”', shortened(checkpoint.prompt)),
    description: relativeTime(Date.parse(checkpoint.at), Date.now()),
    detail: [
      checkpoint.kind === 'manual' ? '' : filesWords(checkpoint.files),
      checkpoint.kind === 'interrupted' ? l10n.t('of an interrupted turn') : '',
      coverageWords(checkpoint.coverage),
    ]
      .filter((part) => part !== '')
      .join(' · '),
    checkpoint,
  }));
  const options = { placeHolder, matchOnDetail: true };
  return (await vscode.window.showQuickPick(items, options))?.checkpoint;
}

function filesWords(files: number): string {
  if (files === 0) return l10n.t('no files changed');
  return files === 1 ? l10n.t('1 file changed') : l10n.t('{0} files changed', files);
}

function coverageWords(coverage: ListedCheckpoint['coverage']): string {
  return coverage === 'partial' ? l10n.t('only what its own tools wrote') : '';
}
