import { CodedError, messageOf } from '../../../base/errors.ts';
import type { Checkpoints } from '../checkpoints.ts';
import type { CommandOrigin, CommandStamp } from '../commands/stamp.ts';
import type { CheckpointFiles } from '../control-events.ts';
import type { Timeline } from '../history/timeline.ts';
import type { Recorder } from '../state/recorder.ts';
import type { CheckpointId } from '../words.ts';
import { ControlRefused } from './refusal.ts';

const ID_LENGTH = 32;

/** What a workspace is kept with. */
export type WorkspaceParts = {
  /** Null where nothing is kept. */
  readonly checkpoints: Checkpoints | null;
  readonly recorder: Pick<Recorder, 'append'>;
  readonly newId: () => string;
  /** What was kept before. */
  readonly timeline: Pick<Timeline, 'kept'>;
  readonly stamp: Pick<CommandStamp, 'claim'>;
  /** SHA-256 of UTF-8 text. */
  readonly digest: (text: string) => string;
};

/** Files that a person had kept. */
export type KeptWorkspace = {
  readonly checkpointId: CheckpointId;
  readonly files: CheckpointFiles;
  /** True if the command had been carried out before: these are the files as they were then. */
  readonly isRepeat: boolean;
};

/**
 * Keeps the files as they are now, first their bytes, then the event that names them. No turn may run meanwhile. Throws
 * `fs_snapshot_error` where they can't be kept whole, and `session.command_collision` if another command has the id.
 */
export async function keepWorkspace(
  { checkpoints, recorder, newId, timeline, stamp, digest }: WorkspaceParts,
  { actor, commandId }: CommandOrigin,
): Promise<KeptWorkspace> {
  // The id is made from the command's, so that a second one of it is known, also after a restart.
  const unique = commandId === undefined ? newId().replaceAll('-', '') : digest(commandId);
  const checkpointId = `kept_${unique.slice(0, ID_LENGTH)}` as CheckpointId;
  const known = timeline.kept.find(({ event }) => event.checkpointId === checkpointId);
  if (known !== undefined) return { checkpointId, files: known.event.files, isRepeat: true };
  if (checkpoints === null)
    throw new ControlRefused('fs_snapshot_error', 'The files of this session are not kept.');
  const files = await checkpoints.keep().catch((failure: unknown) => {
    throw refused(failure);
  });
  // Not before: a command that could not be carried out may be sent again under its id.
  stamp.claim(commandId);
  await recorder.append([
    {
      stream: 'history',
      event: { type: 'workspace_checkpointed', checkpointId, trigger: 'manual', files, actor },
      cause: { command_ids: commandId === undefined ? [] : [commandId] },
    },
  ]);
  return { checkpointId, files, isRepeat: false };
}

function refused(failure: unknown): ControlRefused {
  const known: CodedError | null = failure instanceof CodedError ? failure : null;
  return new ControlRefused(
    'fs_snapshot_error',
    known?.message ??
      `The files could not be kept: ${messageOf(failure)}. Remove the cause, then try again.`,
    known === null ? {} : { code: known.code, ...known.data },
    failure,
  );
}
