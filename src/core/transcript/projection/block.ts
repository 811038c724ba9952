/** An event that a part of the transcript was made of. */
export type EventRef = {
  readonly id: number;
  readonly at: number;
  readonly hash: string;
  readonly type: string;
};

/** Where a link leads. `line` is 1-based. */
export type LinkTarget =
  | { readonly kind: 'file'; readonly path: string; readonly line: number | null }
  | { readonly kind: 'uri'; readonly uri: string }
  /** To the part of this transcript that holds an event. */
  | { readonly kind: 'event'; readonly id: number };

/** A link within a line; columns are 0-based UTF-16 units, `end` exclusive. */
export type LineLink = {
  readonly line: number;
  readonly start: number;
  readonly end: number;
  readonly target: LinkTarget;
};

/** Lines that can be folded, both inclusive. */
export type Fold = { readonly start: number; readonly end: number };

/** What an entry of the outline is. */
export type SymbolKind = 'turn' | 'prompt' | 'message' | 'thought' | 'tool' | 'plan' | 'gate';

/** A rendered part of the transcript; line numbers count from its own first line. The last line is blank. */
export type Rendered = {
  readonly lines: readonly string[];
  readonly folds: readonly Fold[];
  readonly links: readonly LineLink[];
};

/** A part of the transcript: what it was made of, and how it shows. */
export type Block = {
  readonly symbol: SymbolKind | null;
  /** Name in the outline. */
  name(): string;
  detail(): string;
  readonly events: EventRef[];
  render(): Rendered;
};

/** A piece of a line: text, or text that leads somewhere. */
export type Piece = string | { readonly text: string; readonly target: LinkTarget };

/** Collects the lines of one block. */
export class BlockWriter {
  readonly #lines: string[] = [];
  readonly #folds: Fold[] = [];
  readonly #links: LineLink[] = [];

  line(...pieces: readonly Piece[]): this {
    let text = '';
    for (const piece of pieces) {
      if (typeof piece === 'string') {
        text += piece;
        continue;
      }
      const start = text.length;
      text += piece.text;
      this.#links.push({ line: this.#lines.length, start, end: text.length, target: piece.target });
    }
    this.#lines.push(text);
    return this;
  }

  blank(): this {
    this.#lines.push('');
    return this;
  }

  /** Lines that fold into their first one. */
  folded(lines: readonly string[]): this {
    const start = this.#lines.length;
    this.#lines.push(...lines);
    if (lines.length > 2) this.#folds.push({ start, end: start + lines.length - 1 });
    return this;
  }

  text(lines: readonly string[]): this {
    for (const line of lines) this.#lines.push(line);
    return this;
  }

  /** Ends the block with one blank line. */
  end(): Rendered {
    if (this.#lines.at(-1) !== '') this.blank();
    return { lines: this.#lines, folds: this.#folds, links: this.#links };
  }
}

/** Event ids as a heading names them: `#4–#9, #12`. */
export function eventIds(events: readonly EventRef[]): string {
  const ranges: { from: number; to: number }[] = [];
  for (const { id } of events) {
    const last = ranges.at(-1);
    if (last && id === last.to + 1) last.to = id;
    else ranges.push({ from: id, to: id });
  }
  return ranges.map(({ from, to }) => (from === to ? `#${from}` : `#${from}–#${to}`)).join(', ');
}
