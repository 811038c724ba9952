import type { Control } from '../../../protocol/controls.ts';
import type { QueueRequest } from '../../session/control/session-control.ts';
import type { NextTurns } from '../../session/control-events.ts';
import type { ControlTarget, QueueControls } from './api.ts';
import type { ReceiptWriter } from './receipts/receipted.ts';
import { liveSession, noSuchSession, type SessionsAtHand } from './sessions-at-hand.ts';

type Kind = QueueRequest['kind'];

/** What each change is called in its receipt. */
const OUTCOMES: { readonly [K in Kind]: string } = {
  add: 'added',
  edit: 'edited',
  move: 'moved',
  remove: 'removed',
  pause: 'paused',
  resume: 'resumed',
  send_now: 'sent',
};

/** The next-turn queue of a session, each change with its receipt. */
export class QueueDesk implements QueueControls {
  readonly #sessions: SessionsAtHand;
  readonly #receipts: ReceiptWriter;
  readonly #readStored: (sessionId: string) => Promise<NextTurns | null>;

  /** `readStored` reads the queue of a session that is not live; null if there is no such session. */
  constructor(
    sessions: SessionsAtHand,
    receipts: ReceiptWriter,
    readStored: (sessionId: string) => Promise<NextTurns | null>,
  ) {
    this.#sessions = sessions;
    this.#receipts = receipts;
    this.#readStored = readStored;
  }

  changeQueue(
    target: ControlTarget,
    change: QueueRequest,
  ): Promise<{ readonly itemId: string | null; readonly nextTurns: NextTurns }> {
    const { sessionId, actor } = target;
    const method: Control = `_pilothouse/queue/${change.kind}`;
    const asked = 'itemId' in change ? change.itemId : undefined;
    return this.#receipts.run(
      method,
      target,
      async () => {
        const session =
          this.#sessions.live(sessionId) ?? (await liveSession(this.#sessions, sessionId));
        const { itemId, isRepeat } = await session.entries.changeQueue(change, actor);
        const nextTurns = session.entries.nextTurns();
        return {
          result: { itemId, nextTurns },
          outcome: {
            outcome: OUTCOMES[change.kind],
            status: isRepeat === true ? 'idempotent' : 'accepted',
          },
          ...(itemId === null ? {} : { target: { itemId } }),
        };
      },
      asked === undefined ? {} : { itemId: asked },
    );
  }

  async nextTurns(sessionId: string): Promise<NextTurns> {
    const live = this.#sessions.live(sessionId);
    if (live !== undefined) return live.entries.nextTurns();
    const stored = await this.#readStored(sessionId);
    if (stored === null) throw noSuchSession(sessionId);
    return stored;
  }
}
