import type { RestoredFiles } from '../../session/control-events.ts';
import type { HistoryEvent } from '../../session/events.ts';
import { code, plain } from './markdown.ts';
import { LineBlock } from './text-blocks.ts';

type Of<T extends HistoryEvent['type']> = Extract<HistoryEvent, { type: T }>;

type ControlLineEvent = Of<'judge_decision' | 'compacted' | 'history_moved' | 'files_restored'>;

type DurableLineEvent = Of<
  'compaction_rejected' | 'delegate_started' | 'delegate_ended' | 'workspace_checkpointed'
>;

/** Events that show as a line of their own. */
export type LineEvent =
  | Of<
      | 'config_changed'
      | 'model_failed'
      | 'process_started'
      | 'process_ended'
      | 'machine_message'
      | 'notice'
    >
  | ControlLineEvent
  | DurableLineEvent;

/** The line for an event that stands for itself. */
export function lineFor(event: LineEvent): LineBlock {
  switch (event.type) {
    case 'judge_decision':
    case 'compacted':
    case 'history_moved':
    case 'files_restored':
      return controlLine(event);
    case 'compaction_rejected':
    case 'delegate_started':
    case 'delegate_ended':
    case 'workspace_checkpointed':
      return durableLine(event);
    default:
      return plainLine(event);
  }
}

function plainLine(event: Exclude<LineEvent, ControlLineEvent | DurableLineEvent>): LineBlock {
  switch (event.type) {
    case 'config_changed': {
      const { mode, model, thoughtLevel, judge } = event.config;
      const judged = judge === undefined ? '' : ` · judge ${code(judge)}`;
      return new LineBlock([
        `**Options** mode ${plain(mode)} · model ${code(model)} · thought level ${plain(thoughtLevel)}${judged}`,
      ]);
    }
    case 'model_failed': {
      const next = event.retryInMs === null ? '' : ` · next try in ${event.retryInMs} ms`;
      return new LineBlock([`**Model failed** ${code(event.code)}${next}`], event.message);
    }
    case 'process_started':
      return new LineBlock([`**Process started** ${code(event.command)} ${code(event.processId)}`]);
    case 'process_ended': {
      const how = event.signal ?? (event.exitCode === null ? '' : `exit code ${event.exitCode}`);
      return new LineBlock([
        `**Process ended** ${code(event.processId)} ${plain(event.state)} ${plain(how)}`.trimEnd(),
      ]);
    }
    case 'machine_message':
      return new LineBlock(['**Told to the agent**'], event.text);
    case 'notice':
      return new LineBlock(
        [`**${plain(event.severity)}** ${plain(event.title)}`],
        event.description,
      );
  }
}

function durableLine(event: DurableLineEvent): LineBlock {
  switch (event.type) {
    case 'compaction_rejected':
      return new LineBlock([`**Not compacted** ${plain(event.reason)}`], event.message);
    case 'delegate_started': {
      const how = event.background ? ' in the background' : '';
      return new LineBlock(
        [`**Delegate started** ${code(event.name)} ${code(event.loopId)}${how}`],
        event.prompt,
      );
    }
    case 'delegate_ended':
      return new LineBlock(
        [`**Delegate ended** ${code(event.loopId)} ${plain(event.outcome)}`],
        event.text,
      );
    case 'workspace_checkpointed':
      return new LineBlock([
        `**Files kept** ${code(event.checkpointId)} by ${plain(event.actor.clientId)}`,
      ]);
  }
}

function controlLine(event: ControlLineEvent): LineBlock {
  switch (event.type) {
    case 'judge_decision': {
      const correction = event.correction === null ? '' : `\n\n${event.correction}`;
      return new LineBlock(
        [`**Completion judge** ${VERDICTS[event.verdict]} · ${code(event.judge)}`],
        `${event.reason}${correction}`,
      );
    }
    case 'compacted':
      return new LineBlock(
        [
          `**Compacted** ${event.beforeMessageCount} messages to ${event.afterMessageCount}; the agent goes on from this summary`,
        ],
        event.summary,
      );
    case 'history_moved': {
      const { reason, to, actor, files } = event;
      const target = { text: `#${to}`, target: { kind: 'event', id: to } } as const;
      const how = ` by ${plain(actor.clientId)}${files === null ? '' : filesText(files)}`;
      return new LineBlock([`**${MOVES[reason]}** to `, target, how], skippedText(files));
    }
    case 'files_restored': {
      const what = event.toolCallId === null ? 'to a checkpoint' : 'as before a tool call';
      return new LineBlock(
        [`**Files restored** ${what} by ${plain(event.actor.clientId)}${filesText(event.files)}`],
        skippedText(event.files),
      );
    }
  }
}

const VERDICTS = {
  done: 'agreed that it is done',
  vetoed: 'asked for more',
  failed: 'could not judge',
} as const;

const MOVES = { rollback: 'Rolled back', redo: 'Redone', truncate: 'Cut off' } as const;

function filesText({ restored, skipped }: RestoredFiles): string {
  const left = skipped.length === 0 ? '' : `, ${skipped.length} left as they are`;
  return ` · ${restored.length} ${restored.length === 1 ? 'file' : 'files'} put back${left}`;
}

function skippedText(files: RestoredFiles | null): string {
  return (files?.skipped ?? []).map(({ path, reason }) => `${path}: ${reason}`).join('\n');
}
