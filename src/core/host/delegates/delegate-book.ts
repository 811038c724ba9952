import type { HistoryEvent } from '../../session/events.ts';
import type { CommandId, LoopId, ToolCallId, TurnId } from '../../session/words.ts';

/** A request that a loop gave to one of its delegates. */
export type KnownRequest = {
  readonly requestId: CommandId;
  readonly turnId: TurnId;
  readonly toolCallId: ToolCallId;
  readonly prompt: string;
  readonly background: boolean;
};

/** A delegate as the history of its parent knows it. */
export type KnownDelegate = {
  readonly loopId: LoopId;
  readonly name: string;
  /** The first request and the newest one. */
  readonly first: KnownRequest;
  readonly newest: KnownRequest;
  /** Requests that were not handed back, oldest first. */
  readonly open: readonly KnownRequest[];
};

/** The delegates of one loop, folded from its history; a move of the history takes none of them back. */
export class DelegateBook {
  readonly #loops = new Map<LoopId, KnownDelegate>();

  /** In the order in which they were started. */
  list(): readonly KnownDelegate[] {
    return [...this.#loops.values()];
  }

  get(loopId: LoopId): KnownDelegate | undefined {
    return this.#loops.get(loopId);
  }

  apply(event: HistoryEvent): void {
    if (event.type === 'delegate_started') this.#start(event);
    else if (event.type === 'delegate_ended') this.#end(event.loopId, event.requestId);
  }

  #start(event: Extract<HistoryEvent, { type: 'delegate_started' }>): void {
    const { loopId, name, requestId, turnId, toolCallId, prompt, background } = event;
    const request = { requestId, turnId, toolCallId, prompt, background };
    const known = this.#loops.get(loopId);
    this.#loops.set(loopId, {
      loopId,
      name,
      first: known?.first ?? request,
      newest: request,
      open: [...(known?.open ?? []), request],
    });
  }

  #end(loopId: LoopId, requestId: CommandId): void {
    const known = this.#loops.get(loopId);
    if (known === undefined) return;
    const open = known.open.filter((request) => request.requestId !== requestId);
    this.#loops.set(loopId, { ...known, open });
  }
}
