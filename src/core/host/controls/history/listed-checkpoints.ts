import type {
  KeptFiles,
  ReachableCheckpoint,
  Timeline,
} from '../../../session/history/timeline.ts';
import type { CheckpointInfo } from '../api.ts';

/** All that a rollback, a redo or a restore of files can reach, oldest first. */
export function listedCheckpoints(timeline: Timeline): readonly CheckpointInfo[] {
  const turns = timeline.reachable();
  const listed = [
    ...turns.map((one) => ({ seq: one.seq, info: ofTurn(one) })),
    ...timeline.kept.map((one) => ({ seq: one.seq, info: ofKept(one, turns) })),
  ];
  return listed.sort((one, other) => one.seq - other.seq).map(({ info }) => info);
}

function ofTurn({ event, at, prompt, state }: ReachableCheckpoint): CheckpointInfo {
  const { checkpointId, turnId, beforeMessageCount, afterMessageCount, files } = event;
  return {
    checkpointId,
    kind: event.interrupted === true ? 'interrupted' : 'turn',
    turnId,
    at,
    prompt,
    state,
    beforeMessageCount,
    afterMessageCount,
    files,
  };
}

function ofKept(
  { event, seq, at }: KeptFiles,
  turns: readonly ReachableCheckpoint[],
): CheckpointInfo {
  const newest = turns.findLast((turn) => turn.seq < seq);
  const messageCount = newest?.event.afterMessageCount ?? 0;
  return {
    checkpointId: event.checkpointId,
    kind: 'manual',
    turnId: '',
    at,
    prompt: '',
    state: 'off',
    beforeMessageCount: messageCount,
    afterMessageCount: messageCount,
    files: event.files,
  };
}
