import { CodedError } from '../../../base/errors.ts';

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
