import { folded, isFinished, type Token, tokensOf } from './search-text.ts';

/** Where in a snippet the words stand that were looked for: from, to (exclusive), in UTF-16 units. */
export type MatchRange = readonly [start: number, end: number];

/** A part of a text around the first match. Plain text of one line. */
export type Snippet = { readonly snippet: string; readonly ranges: readonly MatchRange[] };

const SNIPPET_CHARACTERS = 160;
const BEFORE_MATCH = 48;
/** How far into a text matches are looked for to show them. */
const MAX_SHOWN_FROM = 1_000_000;

type Word = { readonly tokens: readonly string[]; readonly unfinished: boolean };

/**
 * Tells as the index does whether a text holds what a person typed: every word, the last one perhaps unfinished; and
 * shows where.
 */
export class TextMatcher {
  readonly #words: readonly Word[];
  readonly #patterns: readonly { readonly first: string; readonly pattern: RegExp }[];

  private constructor(words: readonly Word[]) {
    this.#words = words;
    this.#patterns = words.map((word) => ({
      first: word.tokens[0] ?? '',
      pattern: patternOf(word),
    }));
  }

  /** Null if there is no word in it. */
  static of(typed: string): TextMatcher | null {
    const finished = isFinished(typed);
    const words = typed
      .toWellFormed()
      .split(/\s+/u)
      .map((word) => [...tokensOf(word)].map((token) => token.folded))
      .filter((tokens) => tokens.length > 0);
    if (words.length === 0) return null;
    return new TextMatcher(
      words.map((tokens, index) => ({
        tokens,
        unfinished: !finished && index === words.length - 1,
      })),
    );
  }

  /** Whether an indexed text holds every word. */
  matches(indexed: string): boolean {
    const text = folded(indexed);
    // Looking for a part of a text is much faster than for a pattern.
    return (
      this.#patterns.every(({ first }) => text.includes(first)) &&
      this.#patterns.every(({ pattern }) => pattern.test(text))
    );
  }

  /** What to show of a text as it was written. Without a match that can be shown it is the beginning. */
  snippet(text: string): Snippet {
    const matches: MatchRange[] = [];
    let window: { readonly from: number; readonly to: number } | null = null;
    for (const token of tokensOf(text.slice(0, MAX_SHOWN_FROM))) {
      if (window !== null && token.end > window.to) break;
      if (!this.#shows(token)) continue;
      window ??= windowAround(token.start, text);
      matches.push([token.start, token.end]);
    }
    const { from, to } = window ?? windowAround(0, text);
    const [head, tail] = [from > 0 ? '…' : '', to < text.length ? '…' : ''];
    const shift = head.length - from;
    return {
      snippet: head + text.slice(from, to).replace(/\s/gu, ' ').toWellFormed() + tail,
      ranges: joined(matches).map(([start, end]) => [start + shift, end + shift]),
    };
  }

  #shows({ folded: token }: Token): boolean {
    return this.#words.some(({ tokens, unfinished }) =>
      tokens.some((word, index) =>
        unfinished && index === tokens.length - 1 ? token.startsWith(word) : token === word,
      ),
    );
  }
}

function patternOf({ tokens, unfinished }: Word): RegExp {
  // Tokens are letters and digits: nothing in them means anything to a pattern.
  const body = tokens.join('[^\\p{L}\\p{N}\\p{Co}]+');
  const end = unfinished ? '' : '(?![\\p{L}\\p{N}\\p{Co}])';
  return new RegExp(`(?<![\\p{L}\\p{N}\\p{Co}])${body}${end}`, 'u');
}

/** Begins and ends between two words where there is a space near. */
function windowAround(at: number, text: string): { from: number; to: number } {
  const wanted = Math.max(0, at - BEFORE_MATCH);
  const space = wanted === 0 ? -1 : text.slice(wanted, at).search(/\s/u);
  const from = wanted === 0 ? 0 : notInside(text, space === -1 ? wanted : wanted + space + 1);
  const end = from + SNIPPET_CHARACTERS;
  return { from, to: end >= text.length ? text.length : notInside(text, end) };
}

/** A place that parts no surrogate pair. */
function notInside(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff ? at - 1 : at;
}

/** Neighbours as one range: a run of characters that are words each. */
function joined(ranges: readonly MatchRange[]): MatchRange[] {
  const result: [number, number][] = [];
  for (const [start, end] of ranges) {
    const last = result.at(-1);
    if (last !== undefined && last[1] === start) last[1] = end;
    else result.push([start, end]);
  }
  return result;
}
