import type { ControlOutcome } from '../../../protocol/controls.ts';
import type { WireUpdate } from '../../../protocol/harn.ts';
import type { HostControls, ListedReceipt } from '../../host/controls/api.ts';

/** How many receipts of a replay are read at once. */
const PAGE = 500;

/**
 * The stored receipts of a session, oldest first, handed out in step with its history. `damaged` is told how many
 * could not be read.
 */
export class StoredReceipts {
  readonly #controls: Pick<HostControls, 'receipts'>;
  readonly #sessionId: string;
  readonly #tell: (receipt: ControlOutcome) => void;
  readonly #damaged: (count: number) => void;
  readonly #page: ListedReceipt[] = [];
  #after = 0;
  #isOver = false;

  constructor(
    controls: Pick<HostControls, 'receipts'>,
    sessionId: string,
    tell: (receipt: ControlOutcome) => void,
    damaged: (count: number) => void = () => undefined,
  ) {
    this.#controls = controls;
    this.#sessionId = sessionId;
    this.#tell = tell;
    this.#damaged = damaged;
  }

  /** Tells what was kept before `at`, in milliseconds since the epoch. */
  async tellBefore(at: number): Promise<void> {
    for (;;) {
      if (this.#page.length === 0 && !(await this.#read())) return;
      const [next] = this.#page;
      if (next === undefined || next.at >= at) return;
      this.#page.shift();
      this.#tell(next.receipt);
    }
  }

  async tellRest(): Promise<void> {
    await this.tellBefore(Number.POSITIVE_INFINITY);
  }

  async #read(): Promise<boolean> {
    if (this.#isOver) return false;
    const { receipts, hasAfter, damaged } = await this.#controls.receipts({
      sessionId: this.#sessionId,
      after: this.#after,
      limit: PAGE,
    });
    this.#page.push(...receipts);
    if (damaged !== undefined) this.#damaged(damaged.length);
    this.#after = receipts.at(-1)?.seq ?? this.#after;
    this.#isOver = !hasAfter;
    return receipts.length > 0;
  }
}

/** The conversation does not depend on its receipts: it is there, and what is missing is said. */
export function damagedNotice(count: number): WireUpdate {
  const which =
    count === 1 ? 'A stored receipt was damaged' : `${count} stored receipts were damaged`;
  return {
    sessionUpdate: 'notice',
    severity: 'warning',
    title: 'Receipts are damaged',
    description: `${which} on disk and left out. The conversation is complete and can go on; keep a copy of the data folder if you need to know what they said.`,
  };
}
