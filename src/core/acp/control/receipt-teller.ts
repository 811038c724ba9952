import type { Disposable } from '../../../base/disposables.ts';
import type { ControlOutcome } from '../../../protocol/controls.ts';
import type { HostControls } from '../../host/controls/api.ts';
import type { SessionId } from '../../session/words.ts';
import type { Actors } from '../access/actors.ts';
import type { ClientFacts } from '../client-facts.ts';
import type { UpdateSender } from '../session/sender.ts';

/** How many receipts are remembered as told: far more than can be under way. */
const REMEMBERED = 4_096;

/** Methods of ACP itself: a client that calls them need not know the extension. */
const PLAIN: ReadonlySet<string> = new Set([
  'session/cancel',
  'session/close',
  'session/delete',
  'session/set_mode',
  'session/set_config_option',
]);

/**
 * Tells this client receipts, each live one once: those of the sessions it follows, and those of its own controls
 * wherever they were kept, also where the session is unknown.
 */
export class ReceiptTeller implements Disposable {
  readonly #facts: () => ClientFacts;
  readonly #sender: UpdateSender;
  readonly #told = new Set<string>();
  readonly #subscription: Disposable;

  constructor(
    controls: Pick<HostControls, 'onDidKeepReceipt'>,
    facts: () => ClientFacts,
    sender: UpdateSender,
    actors: Actors,
  ) {
    this.#facts = facts;
    this.#sender = sender;
    this.#subscription = controls.onDidKeepReceipt((receipt) => {
      if (!actors.isOwn(receipt.actor)) return;
      if (this.#knows || !PLAIN.has(receipt.method)) this.#once(receipt);
    });
  }

  /** A receipt of a session that the client follows. */
  live(receipt: ControlOutcome): void {
    if (this.#knows) this.#once(receipt);
  }

  /** A stored receipt, as part of a replay; it may have been told before. */
  replayed(receipt: ControlOutcome): void {
    if (!this.#knows) return;
    this.#remember(receipt);
    this.#send(receipt, true);
  }

  get #knows(): boolean {
    const { harn, pilothouse } = this.#facts();
    return harn || pilothouse;
  }

  #once(receipt: ControlOutcome): void {
    if (this.#told.has(receipt.control_id)) return;
    this.#remember(receipt);
    this.#send(receipt, false);
  }

  #remember(receipt: ControlOutcome): void {
    this.#told.add(receipt.control_id);
    const [oldest] = this.#told;
    if (this.#told.size > REMEMBERED && oldest !== undefined) this.#told.delete(oldest);
  }

  #send(receipt: ControlOutcome, replayed: boolean): void {
    const sessionId = receipt.session_id as SessionId;
    this.#sender.agentEvent(sessionId, 'control_outcome', receipt, { replayed });
  }

  dispose(): void {
    this.#subscription.dispose();
  }
}
