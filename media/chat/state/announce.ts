import type { ChatItem } from '../../../src/protocol/chat.ts';
import type { ChatPending } from '../../../src/protocol/chat-pending.ts';
import { plainText } from '../markdown/plain-text.ts';
import { format } from '../strings.ts';
import { turnEndText } from './turn-end.ts';
import type { ViewState } from './view-state.ts';

const SPOKEN = 400;

/** What a screen reader is told when the view goes from `before` to `after`: ended turns and new gates, never tokens. */
export function announcements(before: ViewState, after: ViewState): readonly string[] {
  if (!before.ready || before.status.sessionId !== after.status.sessionId) return [];
  return [...endedTurns(before, after), ...newGates(before, after), ...cameBack(before, after)];
}

function endedTurns(before: ViewState, after: ViewState): readonly string[] {
  // A conversation that is laid anew tells of turns that ended before.
  if (before.items === after.items || before.resets !== after.resets) return [];
  const texts: string[] = [];
  for (let position = after.items.length - 1; position >= 0; position -= 1) {
    const item = after.items[position];
    if (item === undefined || before.index.has(item.id)) break;
    if (item.kind === 'turn_end') {
      const reply = plainText(lastReply(after.items, position));
      const ended = turnEndText(item, after.strings);
      texts.unshift(
        reply === '' ? ended : format(after.strings.announceReply, shorten(reply), ended),
      );
    }
  }
  return texts;
}

function lastReply(items: readonly ChatItem[], before: number): string {
  for (let position = before - 1; position >= 0; position -= 1) {
    const item = items[position];
    if (item?.kind === 'assistant') return item.text;
    if (item === undefined || item.kind === 'user' || item.kind === 'turn_end') return '';
  }
  return '';
}

function shorten(text: string): string {
  return text.length <= SPOKEN ? text : `${text.slice(0, SPOKEN)}…`;
}

/** Messages that the agent did not read: the person has to know without looking. */
function cameBack(before: ViewState, after: ViewState): readonly string[] {
  const isBack = ({ state }: ChatPending): boolean => state === 'given_back';
  const known = new Set(before.status.pending.filter(isBack).map(({ id }) => id));
  return after.status.pending
    .filter((message) => isBack(message) && !known.has(message.id))
    .map(({ text, mode }) => {
      const { announceBack, announceUnsent } = after.strings;
      return format(mode === 'prompt' ? announceUnsent : announceBack, shorten(text));
    });
}

function newGates(before: ViewState, after: ViewState): readonly string[] {
  const known = new Set(before.gates.map((gate) => gate.gateId));
  return after.gates
    .filter((gate) => !known.has(gate.gateId))
    .map((gate) =>
      format(after.strings.announceGate, gate.kind === 'permission' ? gate.title : gate.message),
    );
}
