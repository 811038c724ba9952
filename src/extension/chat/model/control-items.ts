import * as l10n from '@vscode/l10n';
import { isObject } from '../../../base/json.ts';
import type { ContentBlock } from '../../../protocol/acp.ts';
import type { ChatInjectMode, ChatItem } from '../../../protocol/chat.ts';
import { seamWords } from '../../control/control-words.ts';
import { isContentBlock } from '../../core/shapes.ts';
import type { UserMarks } from './rows.ts';

type Extra = Readonly<Record<string, unknown>>;
type Checkpoint = NonNullable<UserMarks['checkpoint']>;
type Notice = Extract<ChatItem, { kind: 'notice' }>;

/** How a message came into a running turn, or null for a prompt. Source: `protocol/acp-meta.ts`, InjectMark. */
export function injectOf(extra: Extra): UserMarks['inject'] | null {
  const mark = extra['inject'];
  if (!isObject(mark) || !isMode(mark['mode'])) return null;
  return { mode: mark['mode'], seam: seamWords(mark['seam']) };
}

function isMode(value: unknown): value is ChatInjectMode {
  return value === 'steer' || value === 'interrupt_immediate' || value === 'queue';
}

/** The state that a turn left and can be gone back from, or null. */
export function checkpointOf(extra: Extra): { turnId: string; checkpoint: Checkpoint } | null {
  const mark = extra['checkpoint'];
  if (!isObject(mark)) return null;
  const { checkpointId, turnId, onStack, files } = mark;
  if (typeof checkpointId !== 'string' || typeof turnId !== 'string') return null;
  return {
    turnId,
    checkpoint: {
      checkpointId,
      onStack: onStack === true,
      files: typeof files === 'number' ? files : 0,
    },
  };
}

/** True if the update moves the conversation to another place of its history. */
export function isMove(extra: Extra): boolean {
  return isObject(extra['moved']);
}

/** The row of an update that only tells of control: a look of the judge, a move, files put back; else null. */
export function controlItem(extra: Extra, newId: () => string): ChatItem | null {
  return (
    judgeItem(extra['judge'], newId) ??
    movedItem(extra['moved'], newId) ??
    restoredItem(extra['restored'], newId)
  );
}

function judgeItem(mark: unknown, newId: () => string): ChatItem | null {
  if (!isObject(mark)) return null;
  const { judge, verdict, reason, correction } = mark;
  if (verdict !== 'done' && verdict !== 'vetoed' && verdict !== 'failed') return null;
  return {
    kind: 'judge',
    id: newId(),
    judge: typeof judge === 'string' ? judge : '',
    verdict,
    reason: typeof reason === 'string' ? reason : '',
    correction: typeof correction === 'string' ? correction : null,
  };
}

function movedItem(mark: unknown, newId: () => string): Notice | null {
  if (!isObject(mark)) return null;
  switch (mark['reason']) {
    case 'rollback':
      return notice(
        newId(),
        l10n.t('Rolled back to here.'),
        l10n.t('What followed can be redone.'),
      );
    case 'redo':
      return notice(newId(), l10n.t('What was rolled back was redone.'), '');
    case 'truncate':
      return notice(newId(), l10n.t('The messages that followed were removed from here on.'), '');
    default:
      return null;
  }
}

function restoredItem(mark: unknown, newId: () => string): Notice | null {
  if (!isObject(mark)) return null;
  const listed = Array.isArray(mark['paths']) ? mark['paths'] : [];
  const paths = listed.filter((path) => typeof path === 'string');
  const title =
    paths.length === 1
      ? l10n.t('One file was put back.')
      : l10n.t('{0} files were put back.', paths.length);
  return notice(newId(), title, paths.slice(0, MAX_PATHS).join('\n') + rest(paths.length));
}

const MAX_PATHS = 20;

function rest(count: number): string {
  return count > MAX_PATHS ? `\n${l10n.t('and {0} more', count - MAX_PATHS)}` : '';
}

function notice(id: string, title: string, description: string): Notice {
  return { kind: 'notice', id, severity: 'info', title, description };
}

/** A delivered message as Harn's `user_message` brings it: whole, in one update; null for every other update. */
export function userMessageOf(
  update: object,
): { readonly messageId: string; readonly content: readonly ContentBlock[] } | null {
  const { sessionUpdate, messageId, content }: Partial<Record<string, unknown>> = { ...update };
  if (sessionUpdate !== 'user_message' || typeof messageId !== 'string') return null;
  return { messageId, content: Array.isArray(content) ? content.filter(isContentBlock) : [] };
}
