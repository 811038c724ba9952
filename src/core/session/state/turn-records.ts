import type { NewRecord } from '../ports.ts';
import type { TurnResult } from '../turn/turn.ts';
import type { CommandId, MessageId, SessionConfig, TurnId } from '../words.ts';
import { accepted, expansion, type PendingPrompt } from './prompts.ts';
import { titleFrom } from './title.ts';

/** The records of a turn's end and of its prompt's, for one append. */
export function endOf(
  commandId: CommandId,
  turnId: TurnId,
  { ending, usage, iterations }: TurnResult,
): readonly NewRecord[] {
  const { terminal, stopReason } = ending;
  return [
    {
      stream: 'history',
      event: { type: 'turn_ended', turnId, terminal, stopReason, usage, iterations },
    },
    { stream: 'control', event: { type: 'command_resolved', commandId, resolution: 'started' } },
  ];
}

/** What a turn begins with. */
export type Beginning = {
  readonly prompt: PendingPrompt;
  readonly turnId: TurnId;
  readonly messageId: MessageId;
  readonly config: SessionConfig;
  /** What a slash command stands for, or null if the text is no command. */
  readonly expand: (text: string) => string | null;
  /** False if the session has no title yet. */
  readonly hasTitle: boolean;
};

/** The records of a turn's beginning, for one append: its prompt's admission, unless that is on disk, and the turn. */
export function beginningOf(begin: Beginning): readonly NewRecord[] {
  const { prompt, turnId, messageId, config } = begin;
  const { commandId, content, sent } = prompt;
  const modelText = expansion(content, begin.expand);
  const admission = [...(sent === null ? [] : [sent]), accepted(prompt)];
  const records: NewRecord[] = prompt.accepted
    ? []
    : admission.map((event) => ({ stream: 'control', event }));
  records.push({
    stream: 'history',
    event: {
      type: 'turn_started',
      turnId,
      commandId,
      messageId,
      content,
      ...(modelText === null ? {} : { modelText }),
      config,
    },
  });
  if (!begin.hasTitle)
    records.push({
      stream: 'history',
      event: { type: 'title_changed', title: titleFrom(content) },
    });
  return records;
}
