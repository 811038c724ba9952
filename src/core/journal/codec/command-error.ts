import { CodedError } from '../../../base/errors.ts';
import type { CommandViolation } from '../../session/commands/command.ts';

/** Why bytes or a value are no command. They are checked in this order, and the first one counts. */
export type CommandErrorCode =
  /** Past `MAX_COMMAND_BYTES`. */
  | 'command.too_large'
  | 'command.not_utf8'
  | 'command.not_json'
  /** A key is twice in one object, so that two readers might see two commands. */
  | 'command.duplicate_key'
  /** No type, or one that is none of the closed union. */
  | 'command.unknown_type'
  | 'command.version'
  /** A field is missing, unknown, of the wrong kind, or contradicts another. */
  | 'command.invalid';

/** What is wrong with a command: the first violation, also as `data`. */
export class CommandError extends CodedError<CommandErrorCode> {
  readonly violation: CommandViolation;

  constructor(code: CommandErrorCode, violation: CommandViolation, cause?: unknown) {
    const { command, field, rule } = violation;
    super(code, `The command ${command || '(of no type)'} was refused: ${field} ${rule}.`, {
      cause,
      data: { ...violation },
    });
    this.violation = violation;
  }
}
