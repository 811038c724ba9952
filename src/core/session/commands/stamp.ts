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
import { isTooLarge, TOO_LARGE } from './command-size.ts';
import { SessionError } from './session-error.ts';

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
  readonly #isKnown: (commandId: CommandId) => boolean;
  /** Ids of clients that commands of this process have, also of those that are not on disk yet. */
  readonly #claimed = new Set<CommandId>();

  /** `isKnown` says whether the records, or what is held for later, have an id already. */
  constructor(
    target: { readonly session_id: SessionId; readonly loop_id: LoopId },
    ids: Ids,
    clock: Pick<Clock, 'now'>,
    isKnown: (commandId: CommandId) => boolean = () => false,
  ) {
    this.#target = target;
    this.#ids = ids;
    this.#clock = clock;
    this.#isKnown = isKnown;
  }

  /** True if a command of this process has the id. */
  hasClaimed(commandId: CommandId): boolean {
    return this.#claimed.has(commandId);
  }

  /**
   * Takes a client's id for one command, whatever its type, before anything of it is on disk. Throws
   * `session.command_collision` if another command has it.
   */
  claim(commandId: CommandId | undefined): void {
    if (commandId === undefined) return;
    if (this.#claimed.has(commandId) || this.#isKnown(commandId))
      throw new SessionError(
        'session.command_collision',
        `The command id ${commandId} was used before with another body. Use a new id.`,
      );
    this.#claimed.add(commandId);
  }

  /**
   * A command of this loop, as it is journaled or acknowledged. Throws `session.command_too_large` for one that could
   * not be stored.
   */
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
    const command = { ...envelope, ...payload } as unknown as Extract<Command, { type: T }>;
    if (isTooLarge(command)) throw new SessionError('session.command_too_large', TOO_LARGE);
    return command;
  }
}
