import { CodedError } from '../../../../base/errors.ts';
import type { Checkpoints, RestorePlan, RestoreTarget } from '../../../session/checkpoints.ts';
import { ControlRefused } from '../../../session/control/refusal.ts';
import type { RestoredFiles } from '../../../session/control-events.ts';
import type { KnownCheckpoint, Timeline, Undone } from '../../../session/history/timeline.ts';
import type { ToolCallId } from '../../../session/words.ts';
import type { Overwrite, RestoreChoice } from '../api.ts';

/** What decides about going back. */
export type Restorable = {
  readonly timeline: Timeline;
  readonly checkpoints: Checkpoints | null;
};

const NOTHING: RestorePlan = { files: [], coverage: 'full' };

/**
 * The turns that go when one is rolled back: it and all after it on the current branch, oldest first. Without an id
 * the newest on the stack. Throws `no_checkpoint`, `unknown_checkpoint`.
 */
export function turnsFrom(
  timeline: Timeline,
  checkpointId: string | undefined,
): readonly [KnownCheckpoint, ...KnownCheckpoint[]] {
  const here = timeline.checkpointsOn(timeline.branch);
  const index =
    checkpointId === undefined
      ? here.findLastIndex(({ event }) => event.onStack)
      : here.findIndex(({ event }) => event.checkpointId === checkpointId);
  const [first, ...later] = index === -1 ? [] : here.slice(index);
  if (first !== undefined) return [first, ...later];
  if (checkpointId === undefined)
    throw new ControlRefused(
      'no_checkpoint',
      'There is no finished turn to roll back to. A turn can be rolled back when it is done; a stopped one by its checkpoint id.',
    );
  if (timeline.kept.some(({ event }) => event.checkpointId === checkpointId))
    throw new ControlRefused(
      'unknown_checkpoint',
      `The checkpoint ${checkpointId} holds files and no conversation, so nothing can be rolled back to it. Restore its files instead.`,
      { checkpointId },
    );
  const why = timeline.knows(checkpointId)
    ? 'was rolled back or cut off, so it is not part of the conversation'
    : 'is not known in this session';
  throw new ControlRefused(
    'unknown_checkpoint',
    `The checkpoint ${checkpointId} ${why}. List the checkpoints to see which there are.`,
    { checkpointId },
  );
}

/** The rollback that a redo takes back. Throws `no_redo`. */
export function newestUndone(timeline: Timeline): Undone {
  const undone = timeline.undone.at(-1);
  if (undone !== undefined) return undone;
  throw new ControlRefused(
    'no_redo',
    'There is nothing to redo. A redo takes back a rollback, until a new turn or another change of the files.',
  );
}

/** Where files go back to; null if no file was changed. Throws as a control of that kind would. */
export function restoreTarget(timeline: Timeline, what: RestoreChoice): RestoreTarget | null {
  switch (what.kind) {
    case 'rollback':
      return filesOf(turnsFrom(timeline, what.checkpointId));
    case 'files':
      return (
        keptFiles(timeline, what.checkpointId) ?? filesOf(turnsFrom(timeline, what.checkpointId))
      );
    case 'redo':
      return undoOf(newestUndone(timeline));
    case 'call':
      if (!timeline.knowsCall(what.toolCallId))
        throw new ControlRefused(
          'unknown_tool_call',
          `No tool was called under the id ${what.toolCallId} in this session.`,
          { toolCallId: what.toolCallId },
        );
      return { kind: 'call', toolCallId: what.toolCallId as ToolCallId };
  }
}

/** What a person had kept; null if the id is a turn's. */
function keptFiles(timeline: Timeline, checkpointId: string): RestoreTarget | null {
  const kept = timeline.kept.find(({ event }) => event.checkpointId === checkpointId);
  if (kept === undefined) return null;
  const since = timeline.checkpointsOn(timeline.branch).filter(({ seq }) => seq > kept.seq);
  const turns = since.flatMap(({ event }) => event.files ?? []);
  return { kind: 'kept', files: kept.event.files, turns };
}

/** Before the first of these turns. */
export function filesOf(turns: readonly KnownCheckpoint[]): RestoreTarget | null {
  const files = turns.flatMap(({ event }) => event.files ?? []);
  return files.length === 0 ? null : { kind: 'turns', turns: files };
}

/** Before the rollback. */
export function undoOf({ event }: Undone): RestoreTarget | null {
  return event.files === null ? null : { kind: 'undo', undo: event.files.undo };
}

/** What a restore would do to files. */
export async function planFor(
  { timeline, checkpoints }: Restorable,
  what: RestoreChoice,
): Promise<RestorePlan> {
  const target = restoreTarget(timeline, what);
  return target === null || checkpoints === null ? NOTHING : checkpoints.plan(target);
}

/** Puts files back; null if there are none to put back. Throws `fs_restore_error` with every file as it was. */
export async function restored(
  checkpoints: Checkpoints | null,
  target: RestoreTarget | null,
  overwrite: Overwrite,
): Promise<RestoredFiles | null> {
  if (target === null) return null;
  if (checkpoints === null)
    throw new ControlRefused(
      'fs_restore_error',
      'The files of this session are not kept, so they cannot be put back.',
    );
  try {
    return await checkpoints.restore(target, overwrite);
  } catch (error) {
    const known: CodedError | null = error instanceof CodedError ? error : null;
    if (known === null) throw error;
    throw new ControlRefused(
      'fs_restore_error',
      `The files could not be put back, and nothing else was changed. ${known.message}`,
      { code: known.code, ...known.data },
      error,
    );
  }
}
