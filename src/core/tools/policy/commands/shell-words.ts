import type { DoubleQuotedChild, Word, WordPart } from 'unbash';

/** A word of a command as far as it is known before the command runs. */
export type ShellWord = {
  /** As it is written. */
  readonly text: string;
  /** What the command will get; null if only the shell knows, when it runs. */
  readonly value: string | null;
  /** For a word with wildcards: its beginning up to the first of them. */
  readonly globPrefix: string | null;
  /** For a word that is not known whole: its beginning, as far as it is known. */
  readonly beginning?: string;
};

/** What the shell would put in for the few expansions that are known beforehand. */
export type KnownVariables = { readonly home: string; readonly cwd: string };

/** A word that stands for any number of words nobody knows beforehand. */
export const UNKNOWN_WORD: ShellWord = { text: '…', value: null, globPrefix: null };

/** Reads a parsed word. */
export function shellWord(word: Word, known: KnownVariables): ShellWord {
  if (word.parts === undefined)
    return { text: word.text, value: tilde(word.text, word.value, known), globPrefix: null };
  let value = '';
  for (const [index, part] of word.parts.entries()) {
    if (part.type === 'Glob')
      return { text: word.text, value: null, globPrefix: value, beginning: value };
    const piece = partValue(part, known);
    if (piece === null) {
      const beginning = value + quotedBeginning(part, known);
      return { text: word.text, value: null, globPrefix: null, beginning };
    }
    value += index === 0 && part.type === 'Literal' ? tilde(part.text, piece, known) : piece;
  }
  return { text: word.text, value, globPrefix: null };
}

/** The value of an unquoted beginning, `~` replaced; `text` tells whether it was quoted. */
function tilde(text: string, value: string, known: KnownVariables): string {
  const rest = /^~(\/.*)?$/s.exec(value);
  return rest !== null && text.startsWith('~') ? known.home + (rest[1] ?? '') : value;
}

/** The value of a piece of a word; null for one that only the shell knows. */
function partValue(part: WordPart | DoubleQuotedChild, known: KnownVariables): string | null {
  if (part.type === 'Literal' || part.type === 'SingleQuoted' || part.type === 'AnsiCQuoted')
    return part.value;
  if (part.type === 'DoubleQuoted') {
    const pieces = part.parts.map((child) => partValue(child, known));
    return pieces.includes(null) ? null : pieces.join('');
  }
  if (part.type === 'SimpleExpansion') return variable(part.text.slice(1), known);
  if (part.type === 'ParameterExpansion' && part.text === `\${${part.parameter}}`)
    return variable(part.parameter, known);
  return null;
}

/** What is known of the beginning of a piece that is not known whole. */
function quotedBeginning(part: WordPart, known: KnownVariables): string {
  if (part.type !== 'DoubleQuoted') return '';
  const pieces = part.parts.map((child) => partValue(child, known));
  return pieces.slice(0, pieces.indexOf(null)).join('');
}

function variable(name: string, known: KnownVariables): string | null {
  if (name === 'HOME') return known.home;
  return name === 'PWD' ? known.cwd : null;
}

/** The words as they were written, with spaces. */
export function textOf(words: readonly ShellWord[]): string {
  return words.map(({ text }) => text).join(' ');
}

/** Makes every word unknown that holds a placeholder for something from outside. */
export function hidePlaceholder(words: readonly ShellWord[], placeholder: string): ShellWord[] {
  return words.map((word) =>
    word.value?.includes(placeholder) === false
      ? word
      : { ...word, value: null, beginning: (word.value ?? '').split(placeholder)[0] ?? '' },
  );
}
