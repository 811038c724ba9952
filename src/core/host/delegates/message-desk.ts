import { messageOf } from '../../../base/errors.ts';
import type { CommandOrigin } from '../../session/commands/stamp.ts';
import { ControlRefused } from '../../session/control/refusal.ts';
import type { SessionDeps } from '../../session/deps.ts';
import type { LoopSignal } from '../../session/events.ts';
import type { Session } from '../../session/session.ts';
import { HOST } from '../../session/state/gates.ts';
import type { CommandId } from '../../session/words.ts';
import type { KnownRequest } from './delegate-book.ts';
import { DelegateError, delegatesClosed } from './delegate-error.ts';
import type { LoopNode } from './loops/loop-node.ts';
import { narrower } from './narrow/narrowing.ts';
import { configBelow } from './narrow/request-config.ts';
import { MACHINE, type RequestDesk } from './request-desk.ts';

/** What became of a message to a delegate: read by the request that it works on, or a request of its own. */
export type Delivered = {
  readonly requestId: CommandId;
  readonly delivery: 'steered' | 'started';
};

type Message = Pick<KnownRequest, 'turnId' | 'toolCallId' | 'prompt'>;

/** Takes messages to delegates, and tells whoever waits for one what it does. */
export class MessageDesk {
  readonly #deps: SessionDeps;
  readonly #desk: RequestDesk;

  constructor(deps: SessionDeps, desk: RequestDesk) {
    this.#deps = deps;
    this.#desk = desk;
  }

  /** See `Delegates.message`; `node` is alive. */
  async message(
    node: LoopNode,
    request: Message,
    origin: CommandOrigin = MACHINE,
  ): Promise<Delivered> {
    const { parent, live } = node;
    if (this.#desk.isClosed) throw delegatesClosed();
    if (parent === null || live === null)
      throw new DelegateError(
        'delegate.gone',
        `The delegate "${node.name}" can't be reached any more. Start another one.`,
      );
    const requestId = origin.commandId ?? (this.#deps.ids.unique() as CommandId);
    if (node.requests.has(requestId) || node.turns.of(requestId) !== undefined)
      return { requestId, delivery: 'started' };
    const steered = await this.#steer(node, live.session, request, {
      ...origin,
      commandId: requestId,
    });
    if (steered !== null) return { requestId: steered, delivery: 'steered' };
    // What the parent may do now counts, not what it might when it started the delegate.
    const wish = narrower(node.mode, parent.mode);
    const config = configBelow(parent, wish, this.#deps.clock.now());
    await live.session.record({ type: 'config_changed', config, actor: HOST });
    await this.#desk.give(node, { ...request, requestId, background: true }, config, origin);
    return { requestId, delivery: 'started' };
  }

  /** Something happened in a delegate: whoever waits for it sees it, and what it could not read any more is given anew. */
  happened(node: LoopNode, signal: LoopSignal): void {
    if (signal.stream === 'ephemeral') {
      const { event } = signal;
      if (event.type === 'message_chunk' && event.kind === 'text') told(node, event.text);
    } else if (signal.stream === 'history') {
      const { event } = signal.record;
      if (event.type === 'tool_proposed') told(node, `\n[${event.title}]\n`);
      if (event.type === 'inject_delivered') node.steers.delete(event.messageId);
    } else {
      const { event } = signal.record;
      if (event.type !== 'inject_revoked') return;
      const steer = node.steers.get(event.messageId);
      node.steers.delete(event.messageId);
      if (steer === undefined || event.why !== 'given_back') return;
      if (steer.stops !== node.stops || this.#desk.isClosed) return;
      const { stops: _, ...request } = steer;
      this.message(node, request).catch((failure: unknown) =>
        this.#deps.log.warn('A message to a delegate could not be given to it', {
          loopId: node.loopId,
          error: messageOf(failure),
        }),
      );
    }
  }

  /** Reads the message while it works; null if it does not, or not long enough any more. */
  async #steer(
    node: LoopNode,
    session: Session,
    request: Message,
    { actor, agency, commandId }: CommandOrigin,
  ): Promise<CommandId | null> {
    const [running] = node.openRequests();
    if (running === undefined || session.activeTurn === null) return null;
    const { stops } = node;
    try {
      const { messageId } = await session.entries.inject({
        mode: 'steer',
        content: [{ type: 'text', text: request.prompt }],
        actor,
        agency,
        ...(commandId === undefined ? {} : { commandId }),
      });
      if (session.entries.pending().some((message) => message.messageId === messageId))
        node.steers.set(messageId, { ...request, stops });
      return running.requestId;
    } catch (failure) {
      if (failure instanceof ControlRefused && failure.refusal === 'no_active_prompt') return null;
      throw failure;
    }
  }
}

function told(node: LoopNode, text: string): void {
  for (const { watch } of node.openRequests()) watch?.(text);
}
