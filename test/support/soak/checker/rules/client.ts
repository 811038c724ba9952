import type { Evidence, LoopRule } from '../evidence.ts';
import { issuedIn } from '../issued.ts';

/** What a client was told is in the journal, unchanged. */
export const toldIsKept: LoopRule = (loop, { told }) =>
  told.flatMap(({ sessionId, eventId, hash, toolCallId }) => {
    if (sessionId !== loop.loopId) return [];
    const record = loop.history[eventId - 1];
    if (record === undefined) return [`event ${eventId} was told and is not there`];
    if (hash !== undefined && hash !== record.hash)
      return [`event ${eventId} was told with another hash`];
    if (toolCallId !== undefined && !JSON.stringify(record.event).includes(`"${toolCallId}"`))
      return [`event ${eventId} was told of call ${toolCallId} and is not about it`];
    return [];
  });

/** What was accepted is in the journal, of the session or of the delegate that its prompts went to. */
export const acceptedIsIssued: LoopRule = (loop, { sent, loops }: Evidence) => {
  const known = new Set(loops.flatMap(issuedIn).map(({ commandId }) => commandId));
  return sent
    .filter(({ sessionId, answer }) => sessionId === loop.loopId && answer === 'ok')
    .filter(({ commandId }) => !known.has(commandId))
    .map(({ commandId, kind }) => `${kind} ${commandId} was accepted and is not in the journal`);
};
