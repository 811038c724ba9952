import type { Control } from '../../../protocol/controls.ts';
import type { QueueRequest } from '../../session/control/session-control.ts';
import type { NextTurns } from '../../session/control-events.ts';
import type { ControlTarget, QueueControls } from './api.ts';
import type { ReceiptWriter } from './receipted.ts';
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

const EMPTY: NextTurns = { paused: null, items: [] };

/** The next-turn queue of a session, each change with its receipt. */
export class QueueDesk implements QueueControls {
  readonly #sessions: SessionsAtHand;
  readonly #receipts: ReceiptWriter;

  constructor(sessions: SessionsAtHand, receipts: ReceiptWriter) {
    this.#sessions = sessions;
    this.#receipts = receipts;
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
        const before = session.nextTurns();
        const { itemId } = await session.changeQueue(change, actor);
        const nextTurns = session.nextTurns();
        return {
          result: { itemId, nextTurns },
          outcome: {
            outcome: OUTCOMES[change.kind],
            status: isRepeat(change, before, nextTurns) ? 'idempotent' : 'accepted',
          },
          ...(itemId === null ? {} : { target: { itemId } }),
        };
      },
      asked === undefined ? {} : { itemId: asked },
    );
  }

  async nextTurns(sessionId: string): Promise<NextTurns> {
    const live = this.#sessions.live(sessionId);
    if (live !== undefined) return live.nextTurns();
    if (await this.#sessions.isStored(sessionId)) return EMPTY;
    throw noSuchSession(sessionId);
  }
}

/** True where the queue was asked for what it already was; an item that is sent at once leaves no trace in it. */
function isRepeat(change: QueueRequest, before: NextTurns, after: NextTurns): boolean {
  switch (change.kind) {
    case 'pause':
      return before.paused !== null;
    case 'resume':
      return before.paused === null;
    case 'add':
      return (
        change.itemId !== undefined &&
        before.items.some(({ itemId }) => itemId === change.itemId) &&
        after.items.length === before.items.length
      );
    default:
      return false;
  }
}
