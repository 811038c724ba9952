import type { JSX } from 'preact';
import type { ChatItem } from '../../../../src/protocol/chat.ts';
import { isClosed, isInterrupted } from '../../state/turn-end.ts';
import type { Strings } from '../../strings.ts';
import { HandBackRow } from '../delegates/hand-back-row.tsx';
import { injectWord, JudgeRow } from './control-rows.tsx';
import { CompactionRow, InterruptedRow } from './durable-rows.tsx';
import { AnswerRow, NoticeRow, PlanRow, TurnEndRow } from './line-rows.tsx';
import { AssistantRow, ThoughtRow, UserRow } from './message-rows.tsx';
import { ToolCard } from './tool-card.tsx';

type Props = {
  readonly item: ChatItem;
  /** It is the last row of a session at rest: an ended turn offers to go on. */
  readonly mayRetry: boolean;
  /** How many steps of its turn may or may not have taken effect. */
  readonly unknown: number;
};

/** One row of the conversation, by its kind. */
export function Row({ item, mayRetry, unknown }: Props): JSX.Element {
  switch (item.kind) {
    case 'user':
      return <UserRow item={item} />;
    case 'assistant':
      return <AssistantRow item={item} />;
    case 'thought':
      return <ThoughtRow item={item} />;
    case 'tool':
      return <ToolCard tool={item} />;
    case 'hand_back':
      return <HandBackRow item={item} />;
    case 'plan':
      return <PlanRow item={item} />;
    case 'notice':
      return <NoticeRow item={item} />;
    case 'answer':
      return <AnswerRow item={item} />;
    case 'judge':
      return <JudgeRow item={item} />;
    case 'turn_end':
      return isInterrupted(item) || isClosed(item) ? (
        <InterruptedRow item={item} offers={mayRetry} unknown={unknown} />
      ) : (
        <TurnEndRow item={item} mayRetry={mayRetry} />
      );
    case 'compaction':
      return <CompactionRow item={item} />;
  }
}

/** What a screen reader calls a row, where its content does not say it. */
export function rowLabel(item: ChatItem, strings: Strings): string | undefined {
  switch (item.kind) {
    case 'user':
      return item.inject === undefined ? strings.you : injectWord(item.inject.mode, strings);
    case 'assistant':
      return strings.agent;
    case 'thought':
      return strings.thought;
    case 'tool':
      return item.title || item.name;
    case 'hand_back':
    case 'plan':
    case 'notice':
    case 'answer':
    case 'judge':
    case 'compaction':
    case 'turn_end':
      return undefined;
  }
}

/** How high a row is taken to be before it was drawn, in pixels. */
export function estimatedHeight(item: ChatItem): number {
  switch (item.kind) {
    case 'user':
      return 60;
    case 'assistant':
      return 40 + Math.min(item.text.length / 3, 4000);
    case 'tool':
      return item.toolKind === 'execute' || item.delegate !== undefined ? 160 : 44;
    case 'hand_back':
      return 60 + Math.min(item.text.length / 3, 4000);
    case 'plan':
      return 40 + item.entries.length * 24;
    case 'thought':
    case 'notice':
    case 'answer':
    case 'judge':
    case 'compaction':
    case 'turn_end':
      return 32;
  }
}
