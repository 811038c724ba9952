import type { Actor } from '../../../../protocol/controls.ts';
import type { RestoreTarget } from '../../../session/checkpoints.ts';
import type { RestoredFiles } from '../../../session/control-events.ts';
import type { HistoryEvent } from '../../../session/events.ts';
import type { Cut } from '../../../session/history/message-marks.ts';
import type { NewMove } from '../../../session/history/new-move.ts';
import { NO_USAGE } from '../../../session/turn/budget.ts';
import { cancelledEnding } from '../../../session/turn/terminal.ts';
import type { TurnId } from '../../../session/words.ts';
import type { CutPoint, MoveResult, Overwrite } from '../api.ts';
import type { HistorySession } from './history-session.ts';
import { filesOf, newestUndone, restored, turnsFrom, undoOf } from './restores.ts';

/** Puts the files back, then takes the newest turn, or one and all after it, out of the conversation. */
export async function rollBack(
  session: HistorySession,
  request: { readonly checkpointId?: string; readonly overwrite: Overwrite },
  actor: Actor,
): Promise<MoveResult> {
  const turns = turnsFrom(session.timeline, request.checkpointId);
  const [{ event }] = turns;
  const { checkpointId, beforeEventId: to } = event;
  const done = await moveWithFiles(session, filesOf(turns), request.overwrite, (files) => ({
    reason: 'rollback',
    to,
    checkpointId,
    files,
    actor,
  }));
  return { status: 'rolled_back', checkpointId, ...done };
}

/** Takes the newest rollback back. */
export async function redo(
  session: HistorySession,
  request: { readonly overwrite: Overwrite },
  actor: Actor,
): Promise<MoveResult> {
  const { timeline } = session;
  const undone = newestUndone(timeline);
  const newest = timeline.checkpointsOn(timeline.branchAt(undone.to)).at(-1)?.event.checkpointId;
  const checkpointId = newest ?? undone.event.checkpointId;
  const done = await moveWithFiles(session, undoOf(undone), request.overwrite, (files) => ({
    reason: 'redo',
    to: undone.to,
    checkpointId,
    files,
    actor,
  }));
  return { status: 'redone', checkpointId: checkpointId ?? '', ...done };
}

/** What a truncation kept. */
export type Truncated = {
  readonly keptTurnCount: number;
  readonly removedTurnCount: number;
  readonly newTipTurnId: string | null;
  readonly lastEventId: number;
  readonly prefixHash: string;
};

/** Cuts the conversation; files stay as they are. */
export async function truncate(
  session: HistorySession,
  at: CutPoint,
  actor: Actor,
): Promise<Truncated> {
  const { marks } = session.conversation;
  const { turnCount } = marks;
  const cut = marks.cut(at);
  const kept = cut.turnCount;
  const turns = { kept, removed: turnCount - kept, tip: cut.lastTurnId };
  await session.moveHistory(
    { reason: 'truncate', to: cut.to, checkpointId: null, files: null, turns, actor },
    sealOf(cut),
  );
  return {
    keptTurnCount: turns.kept,
    removedTurnCount: turns.removed,
    newTipTurnId: turns.tip,
    ...session.tip,
  };
}

/** The end of a turn that a cut goes through. */
export function sealOf({ insideTurnId }: Pick<Cut, 'insideTurnId'>): readonly HistoryEvent[] {
  return insideTurnId === null ? [] : [sealed(insideTurnId)];
}

function sealed(turnId: TurnId): HistoryEvent {
  const { terminal, stopReason } = cancelledEnding('The conversation was cut off here');
  return { type: 'turn_ended', turnId, terminal, stopReason, usage: NO_USAGE, iterations: 0 };
}

type MovedWithFiles = Omit<MoveResult, 'status' | 'checkpointId'>;

/** Files first: if they can't be put back nothing moves; if the move can't be kept they go where they were. */
async function moveWithFiles(
  session: HistorySession,
  target: RestoreTarget | null,
  overwrite: Overwrite,
  move: (files: RestoredFiles | null) => NewMove,
): Promise<MovedWithFiles> {
  const { checkpoints } = session;
  const files = await restored(checkpoints, target, overwrite);
  try {
    const counts = await session.moveHistory(move(files));
    await checkpoints?.settled();
    return { ...counts, files, ...session.tip };
  } catch (error) {
    if (files !== null) {
      // If this fails too, a restart takes it back.
      const undone = checkpoints?.restore({ kind: 'undo', undo: files.undo }, 'all');
      await undone?.then(() => checkpoints?.settled()).catch(() => undefined);
    }
    throw error;
  }
}
