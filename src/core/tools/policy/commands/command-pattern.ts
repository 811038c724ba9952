import { parse } from 'unbash';
import type { CommandPart } from './analysis-types.ts';
import { type ShellWord, shellWord } from './shell-words.ts';

/** One place of a pattern: a word, or a wildcard for (part of) one; `rest` stands for any further words. */
type PatternWord =
  | { readonly kind: 'exact'; readonly value: string }
  | { readonly kind: 'like'; readonly expression: RegExp }
  | { readonly kind: 'rest' };

/** A word, and whether a wildcard may stand for it. */
export type MatchableWord = ShellWord & { readonly onlyExact: boolean };

const NO_HOME = { home: '~', cwd: '$PWD' };

/**
 * True if the words of a command match a pattern. A pattern is the words of a command: `git status` means exactly that,
 * `git status *` also with any further words, `npm run test:*` any such word. Words are compared as the shell would pass
 * them, never as pieces of text. A quoted star is a star.
 */
export function matchesCommand(pattern: string, words: readonly MatchableWord[]): boolean {
  const wanted = readPattern(pattern);
  if (wanted === null) return false;
  const open = wanted.at(-1)?.kind === 'rest';
  const fixed = open ? wanted.slice(0, -1) : wanted;
  if (words.length < fixed.length || (!open && words.length > fixed.length)) return false;
  return words.every((word, index) => {
    const place = fixed[index];
    if (place === undefined) return !word.onlyExact;
    if (place.kind === 'exact') return word.value === place.value;
    return (
      word.value !== null &&
      !word.onlyExact &&
      place.kind === 'like' &&
      place.expression.test(word.value)
    );
  });
}

/** The pattern that matches exactly these words; null if some are only known when the command runs. */
export function exactPattern(part: CommandPart): string | null {
  const values = part.words.map(({ value }) => value);
  const known = values.filter((value) => value !== null);
  if (known.length < values.length || known.some((value) => /[\n\r]/.test(value))) return null;
  return known.map(quoteWord).join(' ');
}

/** Writes a word so that a pattern takes it as it is. */
export function quoteWord(value: string): string {
  if (/^[\w@%+=:,./-]+$/.test(value)) return value;
  return `'${value.replaceAll("'", `'\\''`)}'`;
}

function readPattern(pattern: string): readonly PatternWord[] | null {
  const script = parse(pattern);
  const [statement] = script.commands;
  const command = statement?.command;
  if (script.errors?.length || script.commands.length !== 1 || command?.type !== 'Command')
    return null;
  if (command.name === undefined || command.redirects.length > 0 || command.prefix.length > 0)
    return null;
  const words = [command.name, ...command.args];
  const read = words.map((word, index): PatternWord | null => {
    if (word.type === 'Assignment') return { kind: 'exact', value: word.text };
    if (word.text === '*')
      return index === words.length - 1 ? { kind: 'rest' } : { kind: 'like', expression: /^.*$/s };
    const { value, globPrefix } = shellWord(word, NO_HOME);
    if (value !== null) return { kind: 'exact', value };
    if (globPrefix === null) return null;
    return { kind: 'like', expression: starExpression(word.text) };
  });
  return read.includes(null) ? null : read.filter((word) => word !== null);
}

function starExpression(text: string): RegExp {
  const pieces = text.split('*').map((piece) => piece.replaceAll(/[\\^$.+?()[\]{}|]/g, '\\$&'));
  return new RegExp(`^${pieces.join('.*')}$`, 's');
}
