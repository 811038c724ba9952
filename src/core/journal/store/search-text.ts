import { isObject } from '../../../base/json.ts';

/**
 * Scripts that are written without spaces: each character becomes a word of its own, so that any part of a run can
 * be found as a phrase.
 */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/gu;

/** Text as it is indexed. */
export function searchable(text: string): string {
  return text.replace(UNSPACED, ' $& ').toWellFormed();
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
  return `${phrases.join(' ')}${/\s$/u.test(text) ? '' : ' *'}`;
}

/** The same for `LIKE`: one pattern for every word, with `\` as the escape. */
export function likePatterns(text: string): readonly string[] {
  return text
    .split(/\s+/u)
    .filter((word) => /[\p{L}\p{N}\p{Co}]/u.test(word))
    .map(
      (word) =>
        `%${searchable(word)
          .trim()
          .replace(/[\\%_]/g, '\\$&')}%`,
    );
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
