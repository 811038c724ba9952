import type { Actor } from '../../../protocol/controls.ts';
import type { NewRecord } from '../ports.ts';
import { controlRecords } from '../records.ts';
import { resolution } from './resolution.ts';
import { agencyOf, type CommandStamp } from './stamp.ts';

/** The records with which a session's life in this process ends. */
export function shutdownRecords(
  stamp: CommandStamp,
  reason: string,
  actor: Actor,
  digest: (text: string) => string,
): readonly NewRecord[] {
  const command = stamp.stamp('shutdown', { reason }, { actor, agency: agencyOf(actor) });
  const { command_id } = command;
  const issued = { type: 'command_issued', command, bodyHash: digest(reason) } as const;
  const resolved = resolution(command_id, 'applied');
  return [
    ...controlRecords([issued, ...resolved]),
    {
      stream: 'control',
      event: { type: 'session_closed', actor, reason },
      cause: { command_ids: [command_id] },
    },
  ];
}
