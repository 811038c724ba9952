import type { WireId } from './message.ts';

/**
 * Gives every incoming request a number of its own. The JSON-RPC library would mix up the ids `"1"` and `1`, refuses
 * null, and takes the second of two equal ids for the first; with numbers of our own none of that can happen.
 */
export class RequestIds {
  readonly #wire = new Map<number, WireId>();
  #next = 1;

  /** Requests not yet answered. */
  get size(): number {
    return this.#wire.size;
  }

  arrived(id: WireId): number {
    const own = this.#next;
    this.#next += 1;
    this.#wire.set(own, id);
    return own;
  }

  /** The id to answer with; forgets it. Undefined if it was answered already. */
  answered(own: number): WireId | undefined {
    const id = this.#wire.get(own);
    this.#wire.delete(own);
    return id;
  }

  /** The newest unanswered request with this id; an id of more than 53 bits is compared as the nearest double. */
  find(id: WireId): number | undefined {
    let found: number | undefined;
    for (const [own, wire] of this.#wire) if (isSame(wire, id)) found = own;
    return found;
  }
}

function isSame(wire: WireId, id: WireId): boolean {
  const isLarge = typeof wire === 'object' && wire !== null;
  return isLarge ? Number(JSON.stringify(wire)) === id : wire === id;
}
