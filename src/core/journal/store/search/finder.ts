import type { FoundHits } from '../../worker-protocol.ts';
import type { Candidate } from '../lister.ts';
import type { Sliced } from '../reader.ts';
import type { Hits } from './hits.ts';
import { type Document, ID_SPAN, type SearchIndex } from './search-index.ts';
import { matchQuery } from './search-text.ts';
import { TextMatcher } from './text-matcher.ts';

/** Up to this many documents that hold whole words are gathered before sessions are looked at one by one. */
const FEW_MATCHES = 1024;
/** Sessions of one slice. */
const SLICE_SESSIONS = 16;
/** Texts are read in list order up to here; then the index is asked which sessions match. */
const READ_CHARACTERS = 128 * 1024;
const READ_DOCUMENTS = 512;
/** For each session that is found, so much more may be read: a page fills at that rate. */
const CHARACTERS_FOR_HIT = 48 * 1024;
const DOCUMENTS_FOR_HIT = 256;
/** Texts of a session that is known to match are read up to here; then the index is asked where it does. */
const KNOWN_DOCUMENTS = 512;
const KNOWN_CHARACTERS = 128 * 1024;
/** Documents read at once: at first, and then twice as many each time up to here. */
const FIRST_CHUNK = 12;
const CHUNK = 64;
/** Documents read behind the first match of a session, to show and count more. */
const READ_ON = 6;

/** A session that was found. */
export type Found = { readonly candidate: Candidate; readonly hits: FoundHits };

/**
 * Sessions in list order: behind one of them, or behind where the asked page begins; perhaps only some, by their
 * numbers.
 */
export type CandidatesAfter = (
  after: Candidate | null,
  limit: number,
  among?: readonly number[],
) => readonly Candidate[];

type Budget = { characters: number; documents: number };
type Gathered = ReadonlyMap<number, readonly number[]>;

/**
 * Finds sessions in the order of the list. Few matches are gathered from the index. Otherwise texts are read session
 * by session, newest first, which fills a page soon where a word is common; if it does not, the index is asked after
 * all which sessions match. An unfinished word is not looked up first: the index would gather all words that begin so.
 */
export class Finder {
  readonly #index: SearchIndex;
  readonly #hits: Hits;

  constructor(index: SearchIndex, hits: Hits) {
    this.#index = index;
    this.#hits = hits;
  }

  *find(
    text: string,
    limit: number,
    candidatesAfter: CandidatesAfter,
  ): Sliced<undefined, readonly Found[]> {
    const matcher = TextMatcher.of(text);
    const match = matchQuery(text);
    if (matcher === null || match === null) return [];
    // The index must know what was just appended.
    yield* this.#index.catchUp();
    const few = match.endsWith('*') ? null : this.#index.gather(match, FEW_MATCHES);
    if (few !== null) return this.#gathered(few, matcher, limit, candidatesAfter);
    const found: Found[] = [];
    const budget = this.#budget();
    let last: Candidate | null = null;
    for (;;) {
      const candidates: readonly Candidate[] = candidatesAfter(last, SLICE_SESSIONS);
      for (const candidate of candidates) {
        const hits = this.#read(candidate.n, matcher, budget);
        if (hits === 'spent') {
          const among = this.#roots(this.#index.streamsWith(match));
          const rest = candidatesAfter(last, limit - found.length, among);
          return [...found, ...rest.map((known) => this.#known(known, match, matcher))];
        }
        last = candidate;
        if (hits === null) continue;
        found.push({ candidate, hits });
        budget.characters += CHARACTERS_FOR_HIT;
        budget.documents += DOCUMENTS_FOR_HIT;
        if (found.length >= limit) return found;
      }
      if (candidates.length < SLICE_SESSIONS) return found;
      yield;
    }
  }

  /** Without an index there is no other way than to read. */
  #budget(): Budget {
    return this.#index.usesFullText
      ? { characters: READ_CHARACTERS, documents: READ_DOCUMENTS }
      : { characters: Number.POSITIVE_INFINITY, documents: Number.POSITIVE_INFINITY };
  }

  #gathered(
    matches: Gathered,
    matcher: TextMatcher,
    limit: number,
    candidatesAfter: CandidatesAfter,
  ): Found[] {
    return candidatesAfter(null, limit, this.#roots([...matches.keys()])).map((candidate) => {
      const ids = this.#index
        .streamsOf(candidate.n)
        .flatMap((n) => titleFirst((matches.get(n) ?? []).toReversed()));
      return { candidate, hits: this.#hits.ofIds(ids, matcher) };
    });
  }

  #roots(streams: readonly number[]): readonly number[] {
    return [...new Set(streams.map((n) => this.#index.rootOf(n)))];
  }

  /** A session of which the index says that it matches. */
  #known(candidate: Candidate, match: string, matcher: TextMatcher): Found {
    const budget = { characters: KNOWN_CHARACTERS, documents: KNOWN_DOCUMENTS };
    const read = this.#read(candidate.n, matcher, budget);
    if (read !== null && read !== 'spent') return { candidate, hits: read };
    const streams = this.#index.streamsOf(candidate.n);
    const ids = streams.flatMap((n) => this.#index.matchesIn(n, match, READ_ON));
    return { candidate, hits: this.#hits.ofIds(ids, matcher, false) };
  }

  /** Reads a session's texts: null if nothing is in them, `spent` if the budget went out before a match. */
  #read(n: number, matcher: TextMatcher, budget: Budget): FoundHits | 'spent' | null {
    const matching: Document[] = [];
    let readOn = READ_ON;
    // A title says that the session is the right one, not where in it the words are.
    let isInside = false;
    for (const document of this.#documents(n)) {
      if (isInside) {
        if (readOn === 0) return this.#hits.ofDocuments(matching, matcher, false);
        readOn -= 1;
      } else {
        if (budget.characters <= 0 || budget.documents <= 0)
          return matching.length === 0 ? 'spent' : this.#hits.ofDocuments(matching, matcher, false);
        budget.characters -= document.text.length;
        budget.documents -= 1;
      }
      if (!matcher.matches(document.text)) continue;
      matching.push(document);
      isInside ||= document.id % ID_SPAN !== 0;
    }
    return matching.length === 0 ? null : this.#hits.ofDocuments(matching, matcher, true);
  }

  *#documents(n: number): Generator<Document, void, undefined> {
    for (const stream of this.#index.streamsOf(n)) {
      let before: number | null = null;
      for (let size = FIRST_CHUNK; ; size = Math.min(CHUNK, 2 * size)) {
        const chunk: readonly Document[] = this.#index.documentsBefore(stream, before, size);
        yield* chunk;
        const last = chunk.at(-1);
        if (last === undefined) break;
        before = last.id;
      }
    }
  }
}

/** The title of a stream is its oldest document and the first to be shown. */
function titleFirst(newestFirst: readonly number[]): readonly number[] {
  const oldest = newestFirst.at(-1);
  if (oldest === undefined || oldest % ID_SPAN !== 0) return newestFirst;
  return [oldest, ...newestFirst.slice(0, -1)];
}
