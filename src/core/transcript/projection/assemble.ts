import type { Block, EventRef, Fold, LinkTarget, Rendered, SymbolKind } from './block.ts';
import { ToolBlock } from './tool-block.ts';

/** A part of the document with its cached rendering; `turn` is null outside of turns. */
export type Entry = {
  readonly block: Block;
  readonly turn: number | null;
  rendered: Rendered | null;
};

/** An entry of the outline. Lines are 0-based and inclusive. */
export type TranscriptSymbol = {
  readonly name: string;
  readonly detail: string;
  readonly kind: SymbolKind;
  readonly line: number;
  readonly endLine: number;
  readonly children: readonly TranscriptSymbol[];
};

/** A link; columns are 0-based UTF-16 units. `event` targets are resolved to 0-based lines. */
export type TranscriptLink = {
  readonly line: number;
  readonly start: number;
  readonly end: number;
  readonly target:
    | Exclude<LinkTarget, { kind: 'event' }>
    | { readonly kind: 'line'; readonly line: number };
};

/** What can be done with a turn, shown above its heading. */
export type TranscriptLens = {
  readonly line: number;
  readonly endLine: number;
  readonly turn: number;
  /** First and last event of the turn so far. */
  readonly fromEvent: number;
  readonly toEvent: number;
  readonly hasChanges: boolean;
};

/** The lines that were made of some events. */
export type TranscriptPart = {
  readonly line: number;
  readonly endLine: number;
  readonly events: readonly EventRef[];
};

/** A whole transcript: its text and everything an editor shows about it. */
export type Transcript = {
  readonly text: string;
  readonly lineCount: number;
  readonly symbols: readonly TranscriptSymbol[];
  readonly folds: readonly Fold[];
  readonly links: readonly TranscriptLink[];
  readonly lenses: readonly TranscriptLens[];
  /** In the order of their lines, without gaps. */
  readonly parts: readonly TranscriptPart[];
};

type Placed = {
  readonly entry: Entry;
  readonly rendered: Rendered;
  readonly line: number;
  readonly endLine: number;
};

/** Puts the parts together. */
export function assemble(entries: readonly Entry[]): Transcript {
  const placed = place(entries);
  const lineCount = (placed.at(-1)?.endLine ?? -1) + 1;
  return {
    text: `${placed.map(({ rendered }) => rendered.lines.join('\n')).join('\n')}\n`,
    lineCount,
    symbols: symbolsOf(placed),
    folds: placed.flatMap(({ rendered, line }) =>
      rendered.folds.map((fold) => ({ start: fold.start + line, end: fold.end + line })),
    ),
    links: linksOf(placed),
    lenses: lensesOf(placed),
    parts: placed.map(({ entry, line, endLine }) => ({
      line,
      endLine,
      // A copy: the block goes on collecting while somebody still holds this transcript.
      events: [...entry.block.events],
    })),
  };
}

function place(entries: readonly Entry[]): Placed[] {
  const placed: Placed[] = [];
  let line = 0;
  for (const entry of entries) {
    const rendered = entry.rendered ?? entry.block.render();
    entry.rendered = rendered;
    const next = line + rendered.lines.length;
    placed.push({ entry, rendered, line, endLine: next - 1 });
    line = next;
  }
  return placed;
}

function linksOf(placed: readonly Placed[]): TranscriptLink[] {
  const lineOf = new Map<number, number>();
  for (const { entry, line } of placed)
    for (const { id } of entry.block.events) lineOf.set(id, line);
  return placed.flatMap(({ rendered, line }) =>
    rendered.links.map((link) => ({
      line: link.line + line,
      start: link.start,
      end: link.end,
      target:
        link.target.kind === 'event'
          ? { kind: 'line' as const, line: lineOf.get(link.target.id) ?? 0 }
          : link.target,
    })),
  );
}

/** Each turn's parts; what stands outside of turns has no group. */
function turnsOf(placed: readonly Placed[]): Placed[][] {
  const turns = new Map<number, Placed[]>();
  for (const part of placed) {
    const { turn } = part.entry;
    if (turn === null) continue;
    const parts = turns.get(turn);
    if (parts) parts.push(part);
    else turns.set(turn, [part]);
  }
  return [...turns.values()];
}

function symbolsOf(placed: readonly Placed[]): TranscriptSymbol[] {
  return turnsOf(placed).flatMap((parts) => {
    const [head, ...rest] = parts;
    const last = parts.at(-1);
    if (!head || !last) return [];
    const children = rest.flatMap((part) => toSymbol(part, part.endLine, []));
    return toSymbol(head, last.endLine, children);
  });
}

function toSymbol(
  { entry: { block }, line }: Placed,
  endLine: number,
  children: readonly TranscriptSymbol[],
): TranscriptSymbol[] {
  const { symbol: kind } = block;
  return kind === null
    ? []
    : [{ name: block.name(), detail: block.detail(), kind, line, endLine, children }];
}

function lensesOf(placed: readonly Placed[]): TranscriptLens[] {
  return turnsOf(placed).flatMap((parts) => {
    const head = parts[0];
    const last = parts.at(-1);
    if (!head || !last || head.entry.turn === null) return [];
    const ids = parts.flatMap(({ entry }) => entry.block.events.map(({ id }) => id));
    return [
      {
        line: head.line,
        endLine: last.endLine,
        turn: head.entry.turn,
        fromEvent: ids.reduce((a, b) => Math.min(a, b)),
        toEvent: ids.reduce((a, b) => Math.max(a, b)),
        hasChanges: parts.some(
          ({ entry: { block } }) => block instanceof ToolBlock && block.hasChanges,
        ),
      },
    ];
  });
}

/** The part that a line belongs to. */
export function partAt(transcript: Transcript, line: number): TranscriptPart | null {
  const { parts } = transcript;
  let low = 0;
  let high = parts.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const part = parts[middle];
    if (!part) return null;
    if (line < part.line) high = middle - 1;
    else if (line > part.endLine) low = middle + 1;
    else return part;
  }
  return null;
}
