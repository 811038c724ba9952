import { CodedError } from '../../../base/errors.ts';
import { SessionError } from '../commands/session-error.ts';
import type { Timeline } from '../history/timeline.ts';
import type { SessionConfig } from '../words.ts';
import { NO_USAGE } from './budget.ts';
import { runtimeErrorEnding } from './terminal.ts';
import type { TurnResult } from './turn.ts';

/** The files could not be kept, and the session requires it. */
export class CheckpointRequired extends CodedError<'session.checkpoint_required'> {}

/** `lacks` is what kept them from being kept. */
export function notKept(lacks: string): CheckpointRequired {
  return new CheckpointRequired(
    'session.checkpoint_required',
    `The files could not be kept, which this session requires: ${lacks}. Remove the cause and keep the files by hand, or set the option Checkpoints to best effort.`,
    { data: { lacks } },
  );
}

/** Why no turn may begin, or null: an earlier one's files could not be kept, and nobody had them kept since. */
export function workspaceFault(
  { checkpoints }: Pick<SessionConfig, 'checkpoints'>,
  { fault }: Pick<Timeline, 'fault'>,
): string | null {
  return checkpoints === 'required' ? fault : null;
}

/** What a prompt is refused with while `fault` stands. */
export function workspaceFaulted(fault: string): SessionError {
  return new SessionError(
    'session.workspace_fault',
    `No turn begins: the files of an earlier one could not be kept, which this session requires (${fault}). Keep the files by hand, or set the option Checkpoints to best effort.`,
    { data: { fault } },
  );
}

/** The turn of an input that was admitted before the fault: it does nothing. */
export function faultedTurn(fault: string): TurnResult {
  const ending = runtimeErrorEnding(workspaceFaulted(fault).message);
  return { ending, usage: NO_USAGE, iterations: 0 };
}
