import type { ControlOutcome } from '../../../protocol/controls.ts';
import type { HostControls, ListedReceipt } from '../../host/controls/api.ts';

/** How many receipts of a replay are read at once. */
const PAGE = 500;

/** The stored receipts of a session, oldest first, handed out in step with its history. */
export class StoredReceipts {
  readonly #controls: Pick<HostControls, 'receipts'>;
  readonly #sessionId: string;
  readonly #tell: (receipt: ControlOutcome) => void;
  readonly #page: ListedReceipt[] = [];
  #after = 0;
  #isOver = false;

  constructor(
    controls: Pick<HostControls, 'receipts'>,
    sessionId: string,
    tell: (receipt: ControlOutcome) => void,
  ) {
    this.#controls = controls;
    this.#sessionId = sessionId;
    this.#tell = tell;
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
    const { receipts, hasAfter } = await this.#controls.receipts({
      sessionId: this.#sessionId,
      after: this.#after,
      limit: PAGE,
    });
    this.#page.push(...receipts);
    this.#after = receipts.at(-1)?.seq ?? this.#after;
    this.#isOver = !hasAfter;
    return receipts.length > 0;
  }
}
