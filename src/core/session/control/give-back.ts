import { resolution } from '../commands/resolution.ts';
import type { NewRecord } from '../ports.ts';
import { controlRecords } from '../records.ts';
import { HOST } from '../state/gates.ts';
import type { SessionId } from '../words.ts';
import type { InboxEntry } from './inbox.ts';

type ControlRecord = Extract<NewRecord, { stream: 'control' }>;

/**
 * Messages whose turn ended before a seam could deliver them are revoked by the host, each with a receipt of its own:
 * nothing is lost silently.
 */
export function giveBack(
  sessionId: SessionId,
  entries: readonly InboxEntry[],
  newId: () => string,
): readonly ControlRecord[] {
  return entries.flatMap(({ messageId, mode, commandId }): ControlRecord[] => [
    {
      stream: 'control',
      event: { type: 'inject_revoked', messageId, why: 'given_back', actor: HOST },
    },
    ...controlRecords(resolution(commandId, 'cancelled', 'given_back')),
    {
      stream: 'control',
      event: {
        type: 'control_outcome',
        receipt: {
          session_id: sessionId,
          control_id: newId(),
          method: 'session/revoke_inject',
          outcome: 'given_back',
          status: 'accepted',
          actor: HOST,
          target: { sessionId, messageId },
          metadata: { mode },
        },
      },
    },
  ]);
}
