/** One matching line. */
export type SearchHit = {
  /** Absolute. */
  readonly path: string;
  /** 1-based. */
  readonly line: number;
  readonly text: string;
};

/** What to look for, and where. */
export type SearchQuery = {
  readonly pattern: string;
  readonly literal: boolean;
  /** A file or folder, absolute and canonical. */
  readonly path: string;
  /** Files to leave out though they are not ignored. */
  readonly accepts: (file: string) => boolean;
};

/** Finds matching lines, in the order of their paths, until the reader stops or the signal aborts. */
export type SearchEngine = (query: SearchQuery, signal: AbortSignal) => AsyncIterable<SearchHit>;

/** Larger files are skipped. */
export const MAX_SEARCHED_BYTES = 10 * 1024 * 1024;
