import { CodedError, messageOf } from '../../../base/errors.ts';
import type { Checkpoints } from '../checkpoints.ts';
import type { CommandOrigin } from '../commands/stamp.ts';
import type { CheckpointFiles } from '../control-events.ts';
import type { Recorder } from '../state/recorder.ts';
import type { CheckpointId } from '../words.ts';
import { ControlRefused } from './refusal.ts';

/** What a workspace is kept with. */
export type WorkspaceParts = {
  /** Null where nothing is kept. */
  readonly checkpoints: Checkpoints | null;
  readonly recorder: Pick<Recorder, 'append'>;
  readonly newId: () => string;
};

/** Files that a person had kept. */
export type KeptWorkspace = {
  readonly checkpointId: CheckpointId;
  readonly files: CheckpointFiles;
};

/**
 * Keeps the files as they are now, first their bytes, then the event that names them. No turn may run meanwhile. Throws
 * `fs_snapshot_error` where they can't be kept whole.
 */
export async function keepWorkspace(
  { checkpoints, recorder, newId }: WorkspaceParts,
  { actor, commandId }: CommandOrigin,
): Promise<KeptWorkspace> {
  if (checkpoints === null)
    throw new ControlRefused('fs_snapshot_error', 'The files of this session are not kept.');
  const files = await checkpoints.keep().catch((failure: unknown) => {
    throw refused(failure);
  });
  const checkpointId = `kept_${newId().replaceAll('-', '')}` as CheckpointId;
  await recorder.append([
    {
      stream: 'history',
      event: { type: 'workspace_checkpointed', checkpointId, trigger: 'manual', files, actor },
      cause: { command_ids: commandId === undefined ? [] : [commandId] },
    },
  ]);
  return { checkpointId, files };
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
