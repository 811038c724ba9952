import type { DurableCommand } from '../../../../src/core/session/commands/command.ts';
import type { ControlEvent } from '../../../../src/core/session/control-events.ts';
import type { HistoryEvent, Stored } from '../../../../src/core/session/events.ts';
import type { Evidence, LoopJournal } from './evidence.ts';

type Loose<E> = E extends { readonly type: infer T }
  ? { readonly type: T } & Record<string, unknown>
  : never;

/** Writes a journal by hand, record by record, for proving that the rules see what is wrong with one. */
export class Story {
  readonly #loopId: string;
  readonly #history: Stored<HistoryEvent>[] = [];
  readonly #control: Stored<ControlEvent>[] = [];
  #at = 0;
  #cause: readonly string[] = [];

  constructor(loopId: string) {
    this.#loopId = loopId;
  }

  /** What comes from here on is caused by these. */
  because(...commandIds: readonly string[]): this {
    this.#cause = commandIds;
    return this;
  }

  /** Only the fields that rules look at are needed. */
  history(...events: readonly Loose<HistoryEvent>[]): this {
    for (const event of events) this.#history.push(this.#stored(event, this.#history.length));
    return this;
  }

  control(...events: readonly Loose<ControlEvent>[]): this {
    for (const event of events) this.#control.push(this.#stored(event, this.#control.length));
    return this;
  }

  issued(type: DurableCommand['type'], command_id: string, more: object = {}): this {
    return this.control({
      type: 'command_issued',
      command: { type, command_id, ...more },
      bodyHash: JSON.stringify([type, more]),
    });
  }

  resolved(commandId: string, resolution: string): this {
    return this.control({ type: 'command_resolved', commandId, resolution });
  }

  journal(): LoopJournal {
    return { loopId: this.#loopId, history: this.#history, control: this.#control, broken: [] };
  }

  #stored<E>(event: object, before: number): Stored<E> {
    this.#at += 1;
    return {
      sessionId: this.#loopId,
      seq: before + 1,
      at: this.#at,
      event,
      cause: { command_ids: this.#cause },
      hash: `${this.#loopId}/${before + 1}`,
    } as unknown as Stored<E>;
  }
}

/** Evidence of these loops and nothing else. */
export function evidenceOf(loops: readonly Story[], more: Partial<Evidence> = {}): Evidence {
  return {
    stage: 'settled',
    loops: loops.map((story) => story.journal()),
    told: [],
    sent: [],
    markers: [],
    alive: [],
    ...more,
  };
}
