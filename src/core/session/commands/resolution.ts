import type { CommandResolution, ControlEvent } from '../control-events.ts';
import type { CommandId } from '../words.ts';

type Resolved = Extract<ControlEvent, { type: 'command_resolved' }>;

/** The record of a command's end; none where there was no command, as in records of older versions. */
export function resolution(
  commandId: CommandId | null,
  how: CommandResolution,
  reason?: string,
): readonly Resolved[] {
  if (commandId === null) return [];
  const why = reason === undefined ? {} : { reason };
  return [{ type: 'command_resolved', commandId, resolution: how, ...why }];
}
