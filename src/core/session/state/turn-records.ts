import type { NewRecord } from '../ports.ts';
import { controlRecords } from '../records.ts';
import type { TurnResult } from '../turn/turn.ts';
import type { MessageId, SessionConfig, TurnId } from '../words.ts';
import { expansion, type PendingPrompt } from './prompts.ts';
import { titleFrom } from './title.ts';

/** The record of a turn's end. */
export function endOf(turnId: TurnId, { ending, usage, iterations }: TurnResult): NewRecord {
  const { terminal, stopReason } = ending;
  return {
    stream: 'history',
    event: { type: 'turn_ended', turnId, terminal, stopReason, usage, iterations },
  };
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

/** The records of a turn's beginning, for one append: its prompt's admission, unless that is on disk, its end as a command, and the turn. */
export function beginningOf(begin: Beginning): readonly NewRecord[] {
  const { prompt, turnId, messageId, config } = begin;
  const { commandId, content, sent, issued } = prompt;
  const isMachine = issued.type === 'command_issued' && issued.command.type === 'subagent_result';
  const modelText = expansion(content, begin.expand);
  const admission = [...(sent === null ? [] : [sent]), ...(prompt.accepted ? [] : [prompt.issued])];
  const records: NewRecord[] = [...controlRecords(admission)];
  const resolved = { type: 'command_resolved', commandId, resolution: 'started' } as const;
  records.push({ stream: 'control', event: resolved });
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
      ...(isMachine ? { origin: 'machine' as const } : {}),
    },
  });
  if (!begin.hasTitle && !isMachine)
    records.push({
      stream: 'history',
      event: { type: 'title_changed', title: titleFrom(content) },
    });
  return records;
}
