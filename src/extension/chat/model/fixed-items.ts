import { isObject } from '../../../base/json.ts';
import type { SessionUpdate } from '../../../protocol/acp.ts';
import type { ChatItem } from '../../../protocol/chat.ts';
import { compactedItem, compactionItem } from './compaction-items.ts';
import type { UpdateMarks } from './marks.ts';

/** The row of an update that is whole in itself; null shows nothing, `unknown` is a kind nobody knows. */
export function fixedItem(
  update: SessionUpdate,
  marks: UpdateMarks,
  place: {
    readonly newId: () => string;
    readonly turnId: string;
    /** The row of that id as it stands. */
    readonly known: (id: string) => ChatItem | null;
  },
): ChatItem | null | 'unknown' {
  switch (update.sessionUpdate) {
    case 'plan':
      return {
        kind: 'plan',
        id: `plan:${place.turnId}`,
        entries: update.entries.map(({ content, status }) => ({ text: content, status })),
      };
    case 'notice':
      return notice(place.newId(), severity(update.severity), update.title, update.description);
    case 'compaction_update':
    case 'compaction_summary_chunk':
      return compactionItem(update, marks.extra, place.known);
    case 'session_info_update':
      if (isObject(marks.extra['compacted'])) return compactedItem(marks.extra, place.newId());
      return typeof marks.extra['machine'] === 'string'
        ? notice(place.newId(), 'info', marks.extra['machine'], '')
        : null;
    case 'available_commands_update':
    case 'current_mode_update':
    case 'config_option_update':
    case 'usage_update':
      return null;
    default:
      return SILENT.has(update.sessionUpdate) ? null : 'unknown';
  }
}

/** Harn's updates that are told elsewhere: by their marks, or by lists of their own. */
const SILENT: ReadonlySet<string> = new Set([
  'progress',
  'session_rollback',
  'session_redo',
  'session_truncated',
]);

function notice(
  id: string,
  level: 'info' | 'warning' | 'error',
  title: string,
  description: string | null | undefined,
): ChatItem {
  return { kind: 'notice', id, severity: level, title, description: description ?? '' };
}

function severity(value: string): 'info' | 'warning' | 'error' {
  return value === 'warning' || value === 'error' ? value : 'info';
}
