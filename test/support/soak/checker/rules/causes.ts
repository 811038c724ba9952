import { controlOf, type Evidence, historyOf, type LoopRule } from '../evidence.ts';
import { issuedIn } from '../issued.ts';

/** Every event of a turn names the commands behind it, and each of those was issued; those of the live lane are their own record. */
export const causesAreIssued: LoopRule = (loop, all) => {
  const complaints: string[] = [];
  const known = issuedAnywhere(all);
  const over = new Set<string>();
  for (const { event, cause, seq } of [...loop.history, ...loop.control]) {
    for (const id of cause.command_ids)
      if (!known.has(id))
        complaints.push(`${event.type} ${seq} names ${id}, which was never issued`);
    // A cut seals a turn once more; no command of the turn did that.
    const isReseal = event.type === 'turn_ended' && over.has(event.turnId);
    if (event.type === 'turn_ended') over.add(event.turnId);
    const isOfTurn = 'turnId' in event && event.turnId !== null && !isReseal;
    if (isOfTurn && cause.command_ids.length === 0)
      complaints.push(`${event.type} ${seq} of turn ${event.turnId} names no command`);
    if (event.type === 'turn_started' && !cause.command_ids.includes(event.commandId))
      complaints.push(`turn ${event.turnId} began by ${event.commandId} and does not name it`);
  }
  return complaints;
};

function issuedAnywhere({ loops }: Evidence): ReadonlySet<string> {
  const live = (['loop_changed', 'loop_change_refused'] as const).flatMap((type) =>
    loops.flatMap((loop) => controlOf(loop, type).map(({ command }) => command.command_id)),
  );
  // A request is named before it is issued in its delegate, which it is not where somebody stopped it first.
  const requests = loops.flatMap((loop) => [
    ...historyOf(loop, 'session_created').flatMap(({ delegate }) => delegate?.requestId ?? []),
    ...historyOf(loop, 'delegate_started').map(({ requestId }) => requestId),
  ]);
  const issued = loops.flatMap(issuedIn).map(({ commandId }) => commandId);
  return new Set([...issued, ...live, ...requests]);
}
