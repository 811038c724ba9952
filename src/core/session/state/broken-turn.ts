import type { Checkpoints } from '../checkpoints.ts';
import type { NewRecord } from '../ports.ts';
import type { CheckpointId } from '../words.ts';
import type { Conversation } from './conversation.ts';
import type { SessionState } from './session-state.ts';

/** What the checkpoint of a turn that broke off is made from. */
export type BrokenTurnParts = {
  /** As they stand before the turn is sealed. */
  readonly state: SessionState;
  readonly conversation: Conversation;
  /** Null where nothing is kept. */
  readonly checkpoints: Checkpoints | null;
  readonly newId: () => string;
  /** Told where the files of the turn are not known. */
  readonly report: (what: string, failure: unknown) => void;
};

/**
 * The checkpoint of the turn that was open when its process ended, so that what it did to files can be put back; none
 * where it had no effect, or nothing of it was kept. It goes behind the record that seals the turn. Never rejects.
 */
export async function brokenTurn(parts: BrokenTurnParts): Promise<readonly NewRecord[]> {
  try {
    return await checkpointOf(parts);
  } catch (failure) {
    parts.report('The files of a turn that broke off are not known', failure);
    return [];
  }
}

async function checkpointOf(parts: BrokenTurnParts): Promise<readonly NewRecord[]> {
  const { state, conversation, checkpoints, newId } = parts;
  const turnId = state.openTurn;
  const beforeEventId = turnId === null ? null : state.timeline.beginningOf(turnId);
  if (turnId === null || beforeEventId === null || checkpoints === null) return [];
  const files = await checkpoints.recoverTurn(turnId);
  if (files === null) return [];
  const event = {
    type: 'turn_checkpoint',
    turnId,
    checkpointId: `turn_${newId().replaceAll('-', '')}` as CheckpointId,
    onStack: false,
    beforeMessageCount: conversation.marks.countBefore(beforeEventId + 1),
    afterMessageCount: conversation.messageCount + addedBySeal(conversation),
    beforeEventId,
    files,
    interrupted: true,
  } as const;
  return [{ stream: 'history', event }];
}

/** The seal completes a reply that was cut, and gives results to calls that have none. */
function addedBySeal({ openReply, openCalls }: Conversation): number {
  return (openReply === null ? 0 : 1) + (openCalls.length === 0 ? 0 : 1);
}
