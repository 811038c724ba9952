import type { HistoryEvent } from '../../session/events.ts';
import type { InjectMode } from '../../session/words.ts';
import { type Block, BlockWriter, type EventRef, eventIds } from './block.ts';
import { plain } from './markdown.ts';
import { promptText, shorten, writeContent } from './text-blocks.ts';

const LABELS: Readonly<Record<InjectMode, string>> = {
  steer: 'Steered',
  interrupt_immediate: 'Interrupted',
  queue: 'Note',
};

/** What a person said while the agent worked. */
export class InjectBlock implements Block {
  readonly symbol = 'prompt';
  readonly events: EventRef[] = [];
  readonly #event: Extract<HistoryEvent, { type: 'inject_delivered' }>;

  constructor(event: Extract<HistoryEvent, { type: 'inject_delivered' }>) {
    this.#event = event;
  }

  name(): string {
    return LABELS[this.#event.mode];
  }

  detail(): string {
    return shorten(promptText(this.#event.content));
  }

  render() {
    const { mode, actor, content } = this.#event;
    const unread = mode === 'queue' ? ' · the agent does not read it' : '';
    const writer = new BlockWriter()
      .line(`### ${this.name()} by ${plain(actor.clientId)}${unread} · ${eventIds(this.events)}`)
      .blank();
    for (const block of content) writeContent(writer, block);
    return writer.end();
  }
}
