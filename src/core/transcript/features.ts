import {
  type CodeLens,
  type DocumentLink,
  type DocumentSymbol,
  type FoldingRange,
  FoldingRangeKind,
  type Hover,
  MarkupKind,
  type Range,
  SymbolKind,
} from 'vscode-languageserver';
import {
  partAt,
  type Transcript,
  type TranscriptLens,
  type TranscriptSymbol,
} from './projection/assemble.ts';
import type { EventRef, SymbolKind as PartKind } from './projection/block.ts';
import { linkUri } from './uris.ts';

/** The commands of the lenses; the client implements them and names them in the person's language. */
const COMMANDS = {
  openInChat: 'pilothouse.internal.transcript.openInChat',
  showChanges: 'pilothouse.internal.transcript.showChanges',
  copy: 'pilothouse.internal.transcript.copy',
} as const;

const MAX_HOVERED_EVENTS = 12;

const KINDS: Readonly<Record<PartKind, SymbolKind>> = {
  turn: SymbolKind.Event,
  prompt: SymbolKind.String,
  message: SymbolKind.String,
  thought: SymbolKind.Constant,
  tool: SymbolKind.Function,
  plan: SymbolKind.Array,
  gate: SymbolKind.Key,
};

/** The outline. */
export function toDocumentSymbols(symbols: readonly TranscriptSymbol[]): DocumentSymbol[] {
  return symbols.map((symbol) => ({
    name: symbol.name === '' ? symbol.kind : symbol.name,
    detail: symbol.detail,
    kind: KINDS[symbol.kind],
    range: lines(symbol.line, symbol.endLine),
    selectionRange: lines(symbol.line, symbol.line),
    children: toDocumentSymbols(symbol.children),
  }));
}

/** What can be folded. */
export function toFoldingRanges(transcript: Transcript): FoldingRange[] {
  return transcript.folds.map(({ start, end }) => ({
    startLine: start,
    endLine: end,
    kind: FoldingRangeKind.Region,
  }));
}

/** The links that may be opened. */
export function toDocumentLinks(uri: string, transcript: Transcript): DocumentLink[] {
  return transcript.links.flatMap(({ line, start, end, target }) => {
    const opened = linkUri(uri, target);
    return opened === null
      ? []
      : [
          {
            range: { start: { line, character: start }, end: { line, character: end } },
            target: opened,
          },
        ];
  });
}

/** What can be done with each turn. */
export function toCodeLenses(uri: string, sessionId: string, transcript: Transcript): CodeLens[] {
  return transcript.lenses.flatMap((lens) => lensesOf(uri, sessionId, lens));
}

function lensesOf(uri: string, sessionId: string, lens: TranscriptLens): CodeLens[] {
  const range = lines(lens.line, lens.line);
  const { turn, fromEvent, toEvent, line, endLine } = lens;
  const open = {
    title: 'Open in Chat',
    command: COMMANDS.openInChat,
    arguments: [{ sessionId, fromEvent }],
  };
  const changes = {
    title: 'Show Changes',
    command: COMMANDS.showChanges,
    arguments: [{ sessionId, turn, fromEvent, toEvent }],
  };
  const copy = { title: 'Copy', command: COMMANDS.copy, arguments: [{ uri, line, endLine }] };
  return [open, ...(lens.hasChanges ? [changes] : []), copy].map((command) => ({ range, command }));
}

/** The events behind a heading, so that a receipt can be compared; null elsewhere. */
export function toHover(transcript: Transcript, line: number): Hover | null {
  const part = partAt(transcript, line);
  if (!part || part.events.length === 0) return null;
  const isHead = line === part.line || (part.line === 0 && line <= 2);
  if (!isHead) return null;
  const { events } = part;
  const shown =
    events.length > MAX_HOVERED_EVENTS
      ? [...events.slice(0, MAX_HOVERED_EVENTS / 2), ...events.slice(-MAX_HOVERED_EVENTS / 2)]
      : events;
  const left = events.length - shown.length;
  const value = [
    '| event | type | time | hash |',
    '|---|---|---|---|',
    ...shown.map(eventRow),
    ...(left > 0 ? ['', `and ${left} more in between`] : []),
  ].join('\n');
  return { contents: { kind: MarkupKind.Markdown, value }, range: lines(line, line) };
}

function eventRow({ id, type, at, hash }: EventRef): string {
  return `| #${id} | \`${type}\` | ${new Date(at).toISOString()} | \`${hash}\` |`;
}

function lines(from: number, to: number): Range {
  return { start: { line: from, character: 0 }, end: { line: to, character: 0 } };
}
