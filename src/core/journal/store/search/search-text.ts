import { isObject } from '../../../../base/json.ts';

/**
 * Scripts that are written without spaces: each character becomes a word of its own, so that any part of a run can
 * be found as a phrase.
 */
const UNSPACED =
  '[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}]';
const EVERY_UNSPACED = new RegExp(UNSPACED, 'gu');
const EVERY_SET_APART = new RegExp(` (${UNSPACED}) `, 'gu');
const WORD = '[\\p{L}\\p{N}\\p{Co}]';
const EVERY_TOKEN = new RegExp(
  `${UNSPACED}|(?!${UNSPACED})${WORD}(?:(?!${UNSPACED})[\\p{L}\\p{N}\\p{Co}\\p{Mn}])*`,
  'gu',
);

const EVERY_PLAIN_TOKEN = /[A-Za-z0-9]+/g;
const ENDS_UNSPACED = new RegExp(`${UNSPACED}$`, 'u');

/** What most texts are, and what needs no care. */
function isAscii(text: string): boolean {
  return !/[^\0-\x7f]/.test(text);
}

/** Text as it is indexed. */
export function searchable(text: string): string {
  return text.replace(EVERY_UNSPACED, ' $& ').toWellFormed();
}

/** Indexed text as it was written. */
export function written(indexed: string): string {
  return isAscii(indexed) ? indexed : indexed.replace(EVERY_SET_APART, '$1');
}

/** A word of a text, as it is compared, and where it stands, in UTF-16 units. */
export type Token = { readonly folded: string; readonly start: number; readonly end: number };

/** The words of a text as the index divides it. */
export function* tokensOf(text: string): Generator<Token, void, undefined> {
  for (const { 0: token, index } of text.matchAll(isAscii(text) ? EVERY_PLAIN_TOKEN : EVERY_TOKEN))
    yield { folded: folded(token), start: index, end: index + token.length };
}

/** Text without case and accents. */
export function folded(text: string): string {
  const lower = text.toLowerCase();
  if (isAscii(lower)) return lower;
  return lower
    .normalize('NFD')
    .replace(/[\u0300-\u036f]/g, '')
    .normalize('NFC');
}

/**
 * What a person typed as an FTS5 query: every word must occur, the last one may be unfinished. Null if there is no
 * word in it. Words are quoted, so that no syntax of the query language gets through.
 */
export function matchQuery(text: string): string | null {
  const words = text
    .split(/\s+/u)
    .map((word) => searchable(word).replaceAll('"', ' ').replaceAll('\0', ' ').trim())
    .filter((word) => /[\p{L}\p{N}\p{Co}]/u.test(word));
  const last = words.at(-1);
  if (last === undefined) return null;
  const phrases = words.map((word) => `"${word}"`);
  return `${phrases.join(' ')}${isFinished(text) ? '' : ' *'}`;
}

/** Whether the last word that was typed is whole: a character that is a word of its own always is. */
export function isFinished(typed: string): boolean {
  return /\s$/u.test(typed) || ENDS_UNSPACED.test(typed);
}

/** The text of a person's prompt, from the body of a `turn_started`. */
export function promptText(event: unknown): string {
  if (!isObject(event) || !Array.isArray(event['content'])) return '';
  const blocks: unknown[] = event['content'];
  return blocks
    .map((block) => (isObject(block) && typeof block['text'] === 'string' ? block['text'] : ''))
    .filter((text) => text !== '')
    .join('\n');
}
