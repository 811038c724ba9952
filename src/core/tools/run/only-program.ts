/** One word of a program, and arguments in which no other program can hide. */
const SIMPLE =
  /^(?<program>[\w./+@-]+)(?:[^\S\n]+(?:\d*[<>]&\d|[<>]|\\[^\n]|'[^']*'|"(?:[^"`$\\]|\\[^`$\n])*"|[^\s;&|()<>`$'"\\]|[^\S\n])*)?$/;

const MAX_LENGTH = 4096;

/**
 * The program of a command line that runs nothing else, as it is written there; null for everything that the shell
 * would make more of: lists, pipes, substitutions, assignments. What can't be told for sure counts as more.
 */
export function onlyProgramOf(command: string): string | null {
  if (command.length > MAX_LENGTH) return null;
  return SIMPLE.exec(command.trim())?.groups?.['program'] ?? null;
}
