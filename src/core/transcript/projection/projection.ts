import type { HistoryEvent, Stored } from '../../session/events.ts';
import { assemble, type Entry, type Transcript } from './assemble.ts';
import type { Block } from './block.ts';
import { GateBlock } from './gate-block.ts';
import { InjectBlock } from './inject-block.ts';
import { type LineEvent, lineFor } from './lines.ts';
import { HeaderBlock, MessageBlock, PlanBlock, TurnBlock, turnEndLine } from './text-blocks.ts';
import { ToolBlock } from './tool-block.ts';

type Of<T extends HistoryEvent['type']> = Extract<HistoryEvent, { type: T }>;

type PlainEvent =
  | LineEvent
  | Of<
      | 'model_replied'
      | 'plan_changed'
      | 'commands_changed'
      | 'usage_changed'
      | 'inject_delivered'
      | 'directives_issued'
      | 'turn_checkpoint'
    >;

/**
 * The transcript of a session, made from its history one record after the other. Deterministic: the same records
 * always give the same text. Parts that did not change are not rendered again.
 */
export class Projection {
  readonly #header: HeaderBlock;
  readonly #entries: Entry[];
  readonly #messages = new Map<string, Entry & { block: MessageBlock }>();
  readonly #tools = new Map<string, Entry & { block: ToolBlock }>();
  readonly #gates = new Map<string, Entry & { block: GateBlock }>();
  #turns = 0;
  #inTurn = false;
  #turnTools: (Entry & { block: ToolBlock })[] = [];
  #lastEventId = 0;
  #transcript: Transcript | null = null;

  constructor(sessionId: string) {
    this.#header = new HeaderBlock(sessionId);
    this.#entries = [{ block: this.#header, turn: null, rendered: null }];
  }

  /** The newest record taken in; 0 before the first. */
  get lastEventId(): number {
    return this.#lastEventId;
  }

  /** Takes the next record in; one that was taken in before changes nothing. */
  apply(record: Stored<HistoryEvent>): void {
    if (record.seq <= this.#lastEventId) return;
    this.#lastEventId = record.seq;
    this.#transcript = null;
    const entry = this.#entryFor(record.event);
    entry.rendered = null;
    entry.block.events.push({
      id: record.seq,
      at: record.at,
      hash: record.hash,
      type: record.event.type,
    });
  }

  /** The document as of the newest record. */
  transcript(): Transcript {
    this.#transcript ??= assemble(this.#entries);
    return this.#transcript;
  }

  /** The part that an event belongs to, changed as the event says. */
  #entryFor(event: HistoryEvent): Entry {
    switch (event.type) {
      case 'session_created':
      case 'title_changed':
        return this.#headEvent(event);
      case 'turn_started':
        return this.#turnStarted(event);
      case 'turn_ended':
        return this.#turnEnded(event);
      case 'message_delta':
        return this.#messageDelta(event);
      case 'tool_proposed':
      case 'tool_started':
      case 'tool_ended':
        return this.#toolEvent(event);
      case 'gate_opened':
      case 'gate_resolved':
        return this.#gateEvent(event);
      default:
        return this.#plainEvent(event);
    }
  }

  #headEvent(event: Of<'session_created' | 'title_changed'>): Entry {
    if (event.type === 'title_changed') this.#header.title = event.title;
    else this.#header.cwd = event.cwd;
    return this.#first();
  }

  /** Events that change no part made earlier. */
  #plainEvent(event: PlainEvent): Entry {
    switch (event.type) {
      case 'model_replied':
        return this.#messages.get(`text:${event.messageId}`) ?? this.#last();
      case 'plan_changed':
        return this.#add(new PlanBlock(event.entries));
      case 'inject_delivered':
        return this.#add(new InjectBlock(event));
      // What the agent is told of a steer says nothing that the steer does not; a checkpoint is no part of the talk.
      case 'directives_issued':
      case 'turn_checkpoint':
      case 'commands_changed':
      case 'usage_changed':
        return this.#last();
      default:
        return this.#add(lineFor(event));
    }
  }

  #turnStarted(event: Of<'turn_started'>): Entry {
    this.#turns += 1;
    this.#inTurn = true;
    this.#turnTools = [];
    return this.#add(new TurnBlock(this.#turns, event));
  }

  #turnEnded(event: Of<'turn_ended'>): Entry {
    for (const entry of this.#turnTools) if (entry.block.turnEnded()) entry.rendered = null;
    const entry = this.#add(turnEndLine(this.#turns, event));
    this.#inTurn = false;
    return entry;
  }

  #messageDelta(event: Of<'message_delta'>): Entry {
    const key = `${event.kind}:${event.messageId}`;
    const entry =
      this.#messages.get(key) ??
      remember(this.#messages, key, this.#add(new MessageBlock(event.kind)));
    entry.block.add(event.offset, event.text);
    return entry;
  }

  #toolEvent(event: Of<'tool_proposed' | 'tool_started' | 'tool_ended'>): Entry {
    if (event.type === 'tool_proposed') {
      const added = remember(this.#tools, event.toolCallId, this.#add(new ToolBlock(event)));
      this.#turnTools.push(added);
      return added;
    }
    const entry = this.#tools.get(event.toolCallId);
    if (!entry) return this.#last();
    if (event.type === 'tool_started') entry.block.start();
    else entry.block.end(event);
    return entry;
  }

  #gateEvent(event: Of<'gate_opened' | 'gate_resolved'>): Entry {
    if (event.type === 'gate_opened') {
      const { request } = event;
      const call = 'toolCallId' in request ? this.#tools.get(request.toolCallId) : undefined;
      const block = new GateBlock(event.gateId, request, call?.block.events[0]?.id ?? null);
      return remember(this.#gates, event.gateId, this.#add(block));
    }
    const entry = this.#gates.get(event.gateId);
    if (!entry) return this.#last();
    entry.block.resolve(event.answer, event.actor.clientId);
    return entry;
  }

  #add<B extends Block>(block: B): Entry & { block: B } {
    const entry = { block, turn: this.#inTurn ? this.#turns : null, rendered: null };
    this.#entries.push(entry);
    return entry;
  }

  #first(): Entry {
    return this.#entries[0] ?? this.#add(this.#header);
  }

  #last(): Entry {
    return this.#entries.at(-1) ?? this.#first();
  }
}

function remember<T>(map: Map<string, T>, key: string, value: T): T {
  map.set(key, value);
  return value;
}
