import type { ChatTool } from '../../../../src/protocol/chat.ts';
import type { Strings } from '../../strings.ts';

const KIND_ICONS: ReadonlyMap<string, string> = new Map([
  ['read', 'file'],
  ['edit', 'edit'],
  ['delete', 'trash'],
  ['move', 'arrow-right'],
  ['search', 'search'],
  ['execute', 'terminal'],
  ['think', 'lightbulb'],
  ['fetch', 'globe'],
  ['switch_mode', 'arrow-swap'],
]);

/** The codicon of a kind of tool; an unknown kind has that of tools. */
export function kindIcon(kind: string): string {
  return KIND_ICONS.get(kind) ?? 'tools';
}

type Look = { readonly icon: string; readonly spin: boolean; readonly word: string };

/** How a tool's status is shown: an icon and a word, never colour alone. */
export function statusLook(status: ChatTool['status'], strings: Strings): Look {
  switch (status) {
    case 'pending':
      return { icon: 'circle-outline', spin: false, word: strings.toolPending };
    case 'in_progress':
      return { icon: 'loading', spin: true, word: strings.toolInProgress };
    case 'completed':
      return { icon: 'check', spin: false, word: strings.toolCompleted };
    case 'failed':
      return { icon: 'error', spin: false, word: strings.toolFailed };
    case 'cancelled':
      return { icon: 'circle-slash', spin: false, word: strings.toolCancelled };
    case 'interrupted':
      return { icon: 'zap', spin: false, word: strings.toolInterrupted };
    case 'denied':
      return { icon: 'stop-circle', spin: false, word: strings.toolDenied };
    case 'outcome_unknown':
      return { icon: 'question', spin: false, word: strings.toolOutcomeUnknown };
  }
}

/** How edits that wait for a review are shown. */
export function stagedLook(strings: Strings): Look {
  return { icon: 'circle-large-outline', spin: false, word: strings.toolStaged };
}
