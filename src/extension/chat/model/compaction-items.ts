import * as l10n from '@vscode/l10n';
import { isObject } from '../../../base/json.ts';
import type { ContentBlock, SessionUpdate } from '../../../protocol/acp.ts';
import type { ChatItem } from '../../../protocol/chat.ts';
import { isContentBlock } from '../../core/shapes.ts';

type Compaction = Extract<ChatItem, { kind: 'compaction' }>;
type Extra = Readonly<Record<string, unknown>>;
type Update = Extract<
  SessionUpdate,
  { sessionUpdate: 'compaction_update' | 'compaction_summary_chunk' }
>;

/** The row of a compaction after one of its updates; what an update leaves out stays. Source: ACP v1, CompactionUpdate. */
export function compactionItem(
  update: Update,
  extra: Extra,
  known: (id: string) => ChatItem | null,
): Compaction {
  const id = `compaction:${update.compactionId}`;
  const before = known(id);
  const item: Compaction = before?.kind === 'compaction' ? before : begun(id);
  if (update.sessionUpdate === 'compaction_summary_chunk')
    return { ...item, summary: item.summary + textOf([update.content]) };
  const { status, summary, error } = update;
  return {
    ...item,
    ...counts(extra['compacted']),
    state: stateOf(status),
    ...(summary === undefined ? {} : { summary: textOf(summary ?? []) }),
    reason: reasonOf(status, error ?? ''),
  };
}

/** The row of a compaction that only its end is known of. Source: `protocol/acp-meta.ts`. */
export function compactedItem(extra: Extra, id: string): Compaction {
  return { ...begun(id), ...counts(extra['compacted']), state: 'done' };
}

function begun(id: string): Compaction {
  return {
    kind: 'compaction',
    id,
    state: 'running',
    before: null,
    after: null,
    summary: '',
    reason: '',
  };
}

function counts(mark: unknown): Partial<Pick<Compaction, 'before' | 'after' | 'summary'>> {
  if (!isObject(mark)) return {};
  const { before, after, summary } = mark;
  return {
    ...(typeof before === 'number' ? { before } : {}),
    ...(typeof after === 'number' ? { after } : {}),
    ...(typeof summary === 'string' ? { summary } : {}),
  };
}

function stateOf(status: string): Compaction['state'] {
  if (status === 'in_progress') return 'running';
  return status === 'completed' ? 'done' : 'failed';
}

function reasonOf(status: string, error: string): string {
  return status === 'cancelled' && error === '' ? l10n.t('it was stopped') : error;
}

function textOf(blocks: readonly ContentBlock[]): string {
  return blocks
    .filter(isContentBlock)
    .map((block) => (block.type === 'text' ? block.text : ''))
    .join('');
}
