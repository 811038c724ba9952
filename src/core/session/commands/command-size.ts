import { MAX_COMMAND_BYTES } from './command.ts';

/** What the record of a command holds besides the command. */
const RECORD_BYTES = 4096;
const LIMIT = MAX_COMMAND_BYTES - RECORD_BYTES;
const MOST_BYTES_A_UNIT = 3;

/** What to do about a command, or a message that becomes one, that is past the limit. */
export const TOO_LARGE =
  'This holds more than the 16 MiB that can be stored at once. Put what is long into a file and name the file.';

/** True for a command, or what is to be one, that would not fit into its record. */
export function isTooLarge(value: unknown): boolean {
  const { length } = JSON.stringify(value);
  if (length * MOST_BYTES_A_UNIT <= LIMIT) return false;
  return length > LIMIT || new TextEncoder().encode(JSON.stringify(value)).byteLength > LIMIT;
}
