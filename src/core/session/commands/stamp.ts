import type { Clock } from '../../../base/clock.ts';
import type { Ids } from '../../../base/ids.ts';
import type { Actor } from '../../../protocol/controls.ts';
import type { CommandId, LoopId, SessionId } from '../words.ts';
import {
  type Agency,
  COMMAND_VERSION,
  type Command,
  type CommandCause,
  type CommandType,
  type PayloadOf,
} from './command.ts';

/** Who sends a command, and what is known of it before it is stamped. */
export type CommandOrigin = {
  readonly actor: Actor;
  readonly agency: Agency;
  /** The client's own id, which makes a retry safe; missing: a new one. */
  readonly commandId?: CommandId;
  readonly cause?: CommandCause;
};

/** A door speaks for a person; the host and its rules for the machine. */
export function agencyOf({ source }: Actor): Agency {
  return source === 'host' || source === 'policy' ? 'machine' : 'user';
}

/** Makes commands of one loop: the only place where ids, time and target are put on them. */
export class CommandStamp {
  readonly #target: { readonly session_id: SessionId; readonly loop_id: LoopId };
  readonly #ids: Ids;
  readonly #clock: Pick<Clock, 'now'>;

  constructor(
    target: { readonly session_id: SessionId; readonly loop_id: LoopId },
    ids: Ids,
    clock: Pick<Clock, 'now'>,
  ) {
    this.#target = target;
    this.#ids = ids;
    this.#clock = clock;
  }

  /** A command of this loop, as it is journaled or acknowledged. */
  stamp<T extends CommandType>(
    type: T,
    payload: PayloadOf<Extract<Command, { type: T }>>,
    { actor, agency, commandId, cause }: CommandOrigin,
  ): Extract<Command, { type: T }> {
    const envelope = {
      type,
      v: COMMAND_VERSION,
      command_id: commandId ?? (this.#ids.unique() as CommandId),
      cause: cause ?? null,
      agency,
      actor,
      target: this.#target,
      // A notification that is told again has to have the same bytes.
      created_at: type === 'process_notification' ? 0 : this.#clock.now(),
    };
    // An envelope and the payload of its type are a command of that type; the compiler can't add them up.
    return { ...envelope, ...payload } as unknown as Extract<Command, { type: T }>;
  }
}
