import type { CompactionOutcome } from '../commands/entry-points.ts';
import type { ControlEvent } from '../control-events.ts';
import type { HistoryEvent } from '../events.ts';
import type { NewRecord } from '../ports.ts';
import type { CommandId } from '../words.ts';

/**
 * What was asked to be compacted and what came of it, folded from both streams in any order: a compaction that nobody
 * ended before the process did is known as such, and a repeated command id gets its first outcome.
 */
export class Compactions {
  readonly #issued = new Set<CommandId>();
  readonly #outcomes = new Map<CommandId, CompactionOutcome>();

  applyControl(event: ControlEvent): void {
    if (event.type === 'command_issued' && event.command.type === 'compact')
      this.#issued.add(event.command.command_id);
  }

  /** `causes` are the ids in the cause of the event's record. */
  applyHistory(event: HistoryEvent, causes: readonly CommandId[]): void {
    const outcome = outcomeOf(event);
    if (outcome === null) return;
    for (const commandId of causes) this.#outcomes.set(commandId, outcome);
  }

  /** Null for a command that is none of these, or that has no outcome yet. */
  outcome(commandId: CommandId): CompactionOutcome | null {
    return this.#issued.has(commandId) ? (this.#outcomes.get(commandId) ?? null) : null;
  }

  /** True if the id is that of a compaction. */
  knows(commandId: CommandId): boolean {
    return this.#issued.has(commandId);
  }

  /** What has to be recorded of those that the end of the process overtook: they are never run by themselves. */
  restored(): readonly NewRecord[] {
    const left = [...this.#issued].filter((commandId) => !this.#outcomes.has(commandId));
    if (left.length === 0) return [];
    return endRecords(left, {
      type: 'compaction_rejected',
      turnId: null,
      reason: 'restart',
      message:
        'The process ended before the conversation was compacted; it is as it was. Compact it again if you still want to.',
    });
  }
}

/** An event that ends a compaction. */
export type CompactionEnd = Extract<HistoryEvent, { type: 'compacted' | 'compaction_rejected' }>;

/** The records of a compaction's end, for one append: the event, and the end of each command behind it. */
export function endRecords(
  commandIds: readonly CommandId[],
  event: CompactionEnd,
): readonly NewRecord[] {
  return [
    { stream: 'history', event, cause: { command_ids: commandIds } },
    ...commandIds.map(
      (commandId): NewRecord => ({
        stream: 'control',
        event: { type: 'command_resolved', commandId, ...resolutionOf(event) },
      }),
    ),
  ];
}

/** What an event says of the compaction it ended; null for any other. */
export function outcomeOf(event: HistoryEvent): CompactionOutcome | null {
  if (event.type === 'compaction_rejected')
    return { kind: 'rejected', reason: event.reason, message: event.message };
  if (event.type !== 'compacted') return null;
  const { beforeMessageCount, afterMessageCount } = event;
  return { kind: 'compacted', beforeMessageCount, afterMessageCount };
}

function resolutionOf(
  event: CompactionEnd,
): Pick<Extract<ControlEvent, { type: 'command_resolved' }>, 'resolution' | 'reason'> {
  if (event.type === 'compacted') return { resolution: 'applied' };
  const resolution = event.reason === 'cancelled' ? 'cancelled' : 'rejected';
  return { resolution, reason: event.reason };
}
