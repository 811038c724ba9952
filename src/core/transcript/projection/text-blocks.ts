import type { ContentBlock, PlanEntry } from '../../../protocol/acp.ts';
import type { SessionConfig, Terminal, Usage } from '../../session/words.ts';
import { type Block, BlockWriter, type EventRef, eventIds, type Piece } from './block.ts';
import { clip, code, fence, plain, quote, utc } from './markdown.ts';

const NAME_LENGTH = 80;

/** The head of the document. */
export class HeaderBlock implements Block {
  readonly symbol = null;
  readonly events: EventRef[] = [];
  title: string | null = null;
  cwd = '';
  readonly #sessionId: string;

  constructor(sessionId: string) {
    this.#sessionId = sessionId;
  }

  name(): string {
    return this.title ?? 'Session';
  }

  detail(): string {
    return '';
  }

  render() {
    const first = this.events[0];
    const writer = new BlockWriter().line('# ', plain(this.name())).blank();
    writer.line(
      `Session ${code(this.#sessionId)} in `,
      { text: code(this.cwd), target: { kind: 'file', path: this.cwd, line: null } },
      first ? ` · created ${utc(first.at)} · ${eventIds(this.events)}` : '',
    );
    return writer.end();
  }
}

/** The begin of a turn with its prompt. */
export class TurnBlock implements Block {
  readonly symbol = 'turn';
  readonly events: EventRef[] = [];
  readonly #number: number;
  readonly #turnId: string;
  readonly #config: SessionConfig;
  readonly #content: readonly ContentBlock[];

  constructor(
    number: number,
    turn: { turnId: string; config: SessionConfig; content: readonly ContentBlock[] },
  ) {
    this.#number = number;
    this.#turnId = turn.turnId;
    this.#config = turn.config;
    this.#content = turn.content;
  }

  name(): string {
    return `Turn ${this.#number}`;
  }

  detail(): string {
    return shorten(promptText(this.#content));
  }

  render() {
    const at = this.events[0]?.at ?? 0;
    const writer = new BlockWriter()
      .line(`## ${this.name()} · ${utc(at)} · ${eventIds(this.events)}`)
      .blank()
      .line(
        `Mode ${plain(this.#config.mode)} · model ${code(this.#config.model)} · turn ${code(this.#turnId)}`,
      )
      .blank()
      .line('**Prompt**')
      .blank();
    for (const block of this.#content) writeContent(writer, block);
    return writer.end();
  }
}

/** One message or thought of the agent, put together from its pieces. */
export class MessageBlock implements Block {
  readonly symbol: 'message' | 'thought';
  readonly events: EventRef[] = [];
  #text = '';

  constructor(kind: 'text' | 'thought') {
    this.symbol = kind === 'text' ? 'message' : 'thought';
  }

  /** Takes a piece in; `offset` makes a repeat harmless. */
  add(offset: number, text: string): void {
    const known = this.#text.length - offset;
    this.#text += known > 0 ? text.slice(known) : text;
  }

  name(): string {
    return this.symbol === 'message' ? 'Agent' : 'Thought';
  }

  detail(): string {
    return shorten(this.#text);
  }

  render() {
    const writer = new BlockWriter().line(`### ${this.name()} · ${eventIds(this.events)}`).blank();
    const lines = quote(clip(this.#text));
    return (this.symbol === 'thought' ? writer.folded(lines) : writer.text(lines)).end();
  }
}

/** The plan as it stood when it last changed before anything else happened. */
export class PlanBlock implements Block {
  readonly symbol = 'plan';
  readonly events: EventRef[] = [];
  readonly #entries: readonly PlanEntry[];

  constructor(entries: readonly PlanEntry[]) {
    this.#entries = entries;
  }

  name(): string {
    return 'Plan';
  }

  detail(): string {
    const done = this.#entries.filter(({ status }) => status === 'completed').length;
    return `${done} of ${this.#entries.length}`;
  }

  render() {
    const writer = new BlockWriter().line(`### Plan · ${eventIds(this.events)}`).blank();
    for (const { content, status } of this.#entries) {
      const mark = status === 'completed' ? 'x' : ' ';
      writer.line(
        `- [${mark}] ${plain(content)}${status === 'in_progress' ? ' *(in progress)*' : ''}`,
      );
    }
    return writer.end();
  }
}

/** One line that needs no heading: a notice, a changed option, the end of a turn. */
export class LineBlock implements Block {
  readonly symbol = null;
  readonly events: EventRef[] = [];
  readonly #pieces: readonly Piece[];
  readonly #body: string;

  /** `body` is foreign text shown below the line. */
  constructor(pieces: readonly Piece[], body = '') {
    this.#pieces = pieces;
    this.#body = body;
  }

  name(): string {
    return '';
  }

  detail(): string {
    return '';
  }

  render() {
    const writer = new BlockWriter().line(...this.#pieces, ` · ${eventIds(this.events)}`);
    if (this.#body !== '') writer.blank().text(quote(clip(this.#body)));
    return writer.end();
  }
}

/** The line under a turn. */
export function turnEndLine(
  number: number,
  end: { terminal: Terminal; iterations: number; usage: Usage },
): LineBlock {
  const { terminal, iterations, usage } = end;
  const reason = terminal.reason === '' ? '' : `: ${plain(terminal.reason)}`;
  return new LineBlock([
    `**Turn ${number} ended** ${code(terminal.kind)} by ${plain(terminal.owner)}${reason}`,
    ` · ${iterations} ${iterations === 1 ? 'iteration' : 'iterations'}`,
    ` · ${usage.inputTokens} tokens in, ${usage.outputTokens} out`,
  ]);
}

/** Shows one block of what a person sent. */
export function writeContent(writer: BlockWriter, block: ContentBlock): void {
  switch (block.type) {
    case 'text':
      writer.text(fence(clip(block.text), 'text')).blank();
      return;
    case 'resource_link':
      writer.line('Attached: ', {
        text: code(block.name),
        target: { kind: 'uri', uri: block.uri },
      });
      writer.blank();
      return;
    case 'resource':
      writer.line('Attached: ', {
        text: code(block.resource.uri),
        target: { kind: 'uri', uri: block.resource.uri },
      });
      writer.blank();
      if ('text' in block.resource) {
        writer.folded(fence(clip(block.resource.text), 'text')).blank();
      }
      return;
    case 'image':
    case 'audio':
      writer.line(`Attached: ${block.type} ${code(block.mimeType)}`).blank();
      return;
  }
}

/** The words of what a person sent. */
export function promptText(content: readonly ContentBlock[]): string {
  return content.map((block) => (block.type === 'text' ? block.text : '')).join(' ');
}

/** The beginning of a text as one line. */
export function shorten(text: string): string {
  // A long text is cut before its white space is worked on: only the beginning is shown.
  const line = text
    .slice(0, NAME_LENGTH * 4)
    .replace(/\s+/g, ' ')
    .trim();
  const cut = [...line].slice(0, NAME_LENGTH).join('');
  return cut.length < line.length ? `${cut}…` : line;
}
