import { stripVTControlCharacters } from 'node:util';
import { structuredPatch } from 'diff';
import type { JsonObject } from '../../../base/json.ts';
import type { ToolCallContent, ToolCallLocation } from '../../../protocol/acp.ts';
import type { HistoryEvent } from '../../session/events.ts';
import { type Block, BlockWriter, type EventRef, eventIds, type Piece } from './block.ts';
import { clip, code, fence, plain } from './markdown.ts';

type Proposed = Extract<HistoryEvent, { type: 'tool_proposed' }>;
type Ended = Extract<HistoryEvent, { type: 'tool_ended' }>;

/** Past this many changed lines a diff is said in numbers: an exact one would hold up the server. */
const MAX_EDITS = 4_000;
const MAX_DIFF_TEXT = 1_000_000;

/** A tool call from its proposal to its result. */
export class ToolBlock implements Block {
  readonly symbol = 'tool';
  readonly events: EventRef[] = [];
  readonly #call: Proposed;
  #started = false;
  #turnOver = false;
  #ended: Ended | null = null;

  constructor(call: Proposed) {
    this.#call = call;
  }

  start(): void {
    this.#started = true;
  }

  end(ended: Ended): void {
    this.#ended = ended;
  }

  /** The turn is over; true if that changes how the call shows. */
  turnEnded(): boolean {
    const changes = !this.#turnOver && this.#ended === null;
    this.#turnOver = true;
    return changes;
  }

  /** Whether it changed files as far as its diffs say. */
  get hasChanges(): boolean {
    return (
      this.#ended?.result.status === 'completed' &&
      this.#ended.content.some(({ type }) => type === 'diff')
    );
  }

  name(): string {
    return this.#call.title === '' ? this.#call.name : this.#call.title;
  }

  detail(): string {
    return this.#status();
  }

  #status(): string {
    if (this.#ended) return this.#ended.result.status.replaceAll('_', ' ');
    if (this.#turnOver) return this.#started ? 'outcome unknown' : 'not run';
    return this.#started ? 'running' : 'proposed';
  }

  render() {
    const writer = new BlockWriter()
      .line(`### Tool ${code(this.#call.name)} · ${this.#status()} · ${eventIds(this.events)}`)
      .blank()
      .line(`${plain(this.name())} · call ${code(this.#call.toolCallId)}`)
      .blank();
    this.#writeLocations(writer);
    this.#writeInput(writer);
    const content = this.#ended?.content ?? [];
    for (const part of content) writeResult(writer, part);
    if (this.#ended && content.length === 0) this.#writeModelText(writer);
    return writer.end();
  }

  #writeLocations(writer: BlockWriter): void {
    const locations = this.#ended?.locations.length ? this.#ended.locations : this.#call.locations;
    if (locations.length === 0) return;
    const pieces: Piece[] = [locations.length === 1 ? 'File: ' : 'Files: '];
    locations.forEach((location, index) => {
      if (index > 0) pieces.push(', ');
      pieces.push(filePiece(location));
    });
    writer.line(...pieces).blank();
  }

  #writeInput(writer: BlockWriter): void {
    const input = withoutShownText(this.#call.input, this.#ended?.content ?? []);
    if (Object.keys(input).length === 0) return;
    writer
      .line('Input')
      .blank()
      .folded(fence(clip(JSON.stringify(input, null, 2)), 'json'))
      .blank();
  }

  #writeModelText(writer: BlockWriter): void {
    const text = (this.#ended?.result.parts ?? [])
      .map((part) => (part.type === 'text' ? part.text : `[${part.type} ${part.mimeType}]`))
      .join('\n');
    if (text !== '') writeOutput(writer, text);
  }
}

/** The call's input without file texts that its diffs show anyway. */
function withoutShownText(input: JsonObject, content: readonly ToolCallContent[]): JsonObject {
  const texts = new Set(content.flatMap((part) => (part.type === 'diff' ? [part.newText] : [])));
  return Object.fromEntries(
    Object.entries(input).map(([key, value]) => [
      key,
      typeof value === 'string' && value.length > 80 && texts.has(value) ? '(shown below)' : value,
    ]),
  );
}

function filePiece({ path, line }: ToolCallLocation): Piece {
  const shown = line ? `${path}:${line}` : path;
  return { text: code(shown), target: { kind: 'file', path, line: line ?? null } };
}

function writeOutput(writer: BlockWriter, text: string): void {
  writer
    .line('Output')
    .blank()
    .folded(fence(stripVTControlCharacters(clip(text)), 'text'))
    .blank();
}

function writeResult(writer: BlockWriter, part: ToolCallContent): void {
  switch (part.type) {
    case 'content':
      if (part.content.type === 'text') writeOutput(writer, part.content.text);
      else if (part.content.type === 'resource_link')
        writer
          .line('Output: ', {
            text: code(part.content.name),
            target: { kind: 'uri', uri: part.content.uri },
          })
          .blank();
      else if (part.content.type === 'resource' && 'text' in part.content.resource)
        writeOutput(writer, part.content.resource.text);
      else writer.line(`Output: ${part.content.type}`).blank();
      return;
    case 'diff':
      writeDiff(writer, part.path, part.oldText ?? null, part.newText);
      return;
    case 'terminal':
      writer.line(`Output: in terminal ${code(part.terminalId)}`).blank();
      return;
  }
}

function writeDiff(writer: BlockWriter, path: string, before: string | null, after: string): void {
  const file = filePiece({ path });
  const what = before === null ? 'New file ' : 'Change of ';
  const hunks = diffLines(path, before ?? '', after);
  if (hunks === null) {
    writer.line(what, file, ` (${countLines(before ?? '')} to ${countLines(after)} lines)`).blank();
    return;
  }
  const added = hunks.filter((line) => line.startsWith('+')).length;
  const removed = hunks.filter((line) => line.startsWith('-')).length;
  writer.line(what, file, ` (+${added} −${removed})`).blank();
  if (hunks.length > 0) writer.folded(fence(clip(hunks.join('\n')), 'diff')).blank();
}

/** The lines of a unified diff without its header, or null where the texts are too large for one. */
function diffLines(path: string, before: string, after: string): string[] | null {
  if (before.length + after.length > MAX_DIFF_TEXT) return null;
  const patch = structuredPatch(path, path, before, after, undefined, undefined, {
    context: 3,
    maxEditLength: MAX_EDITS,
  });
  if (!patch) return null;
  return patch.hunks.flatMap((hunk) => [
    `@@ -${hunk.oldStart},${hunk.oldLines} +${hunk.newStart},${hunk.newLines} @@`,
    ...hunk.lines,
  ]);
}

function countLines(text: string): number {
  return text === '' ? 0 : text.split('\n').length;
}
