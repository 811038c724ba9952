import { canonicalJson } from '../../../base/canonical-json.ts';
import { messageOf } from '../../../base/errors.ts';
import type { ContentBlock } from '../../../protocol/acp.ts';
import { SessionError } from '../../session/commands/session-error.ts';
import type { CommandOrigin } from '../../session/commands/stamp.ts';
import { resultId } from '../../session/control/machine-desk.ts';
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

type Given = { readonly prompt: string; readonly delivered: Promise<Delivered> };

type Message = Pick<KnownRequest, 'turnId' | 'toolCallId' | 'prompt'>;

/** Takes messages to delegates, and tells whoever waits for one what it does. */
export class MessageDesk {
  readonly #deps: SessionDeps;
  readonly #desk: RequestDesk;
  /** What messages with an id of their sender's came to, while their records are on their way too. */
  readonly #given = new WeakMap<LoopNode, Map<CommandId, Given>>();

  constructor(deps: SessionDeps, desk: RequestDesk) {
    this.#deps = deps;
    this.#desk = desk;
  }

  /**
   * See `Delegates.message`; `node` is alive. A repeat, by its id, gets what the first one got and does nothing; with
   * another text it is refused as `session.command_collision`.
   */
  async message(
    node: LoopNode,
    request: Message,
    origin: CommandOrigin = MACHINE,
  ): Promise<Delivered> {
    const { commandId } = origin;
    if (commandId === undefined) return await this.#deliver(node, request, origin);
    const given = this.#given.get(node) ?? new Map<CommandId, Given>();
    this.#given.set(node, given);
    const known = given.get(commandId);
    if (known !== undefined) {
      if (known.prompt !== request.prompt) throw collision(commandId);
      return await known.delivered;
    }
    const delivered = this.#deliverOnce(node, request, commandId, origin);
    given.set(commandId, { prompt: request.prompt, delivered });
    try {
      return await delivered;
    } catch (failure) {
      given.delete(commandId);
      throw failure;
    }
  }

  /** An earlier process may have delivered it. */
  async #deliverOnce(
    node: LoopNode,
    request: Message,
    commandId: CommandId,
    origin: CommandOrigin,
  ): Promise<Delivered> {
    const { live, parent, newest } = node;
    const known = live?.session.command(commandId);
    if (known === undefined) {
      // The process may have ended between the parent's record of the request and the delegate's.
      const isNewest = newest?.requestId === commandId;
      const wasHandedBack = parent?.live?.session.command(resultId(commandId)) !== undefined;
      if (isNewest && newest.prompt !== request.prompt) throw collision(commandId);
      if (isNewest || wasHandedBack) return { requestId: commandId, delivery: 'started' };
      return await this.#deliver(node, request, origin);
    }
    const content = textOf(request);
    const isSteer = known.type === 'inject';
    const body = isSteer ? { mode: 'steer', content, reminder: null } : content;
    if (known.bodyHash !== this.#deps.digest(canonicalJson(body))) throw collision(commandId);
    return { requestId: commandId, delivery: isSteer ? 'steered' : 'started' };
  }

  async #deliver(node: LoopNode, request: Message, origin: CommandOrigin): Promise<Delivered> {
    const { parent, live } = node;
    if (this.#desk.isClosed) throw delegatesClosed();
    if (parent === null || live === null)
      throw new DelegateError(
        'delegate.gone',
        `The delegate "${node.name}" can't be reached any more. Start another one.`,
      );
    const requestId = origin.commandId ?? (this.#deps.ids.unique() as CommandId);
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
        content: textOf(request),
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

function textOf({ prompt }: Message): readonly ContentBlock[] {
  return [{ type: 'text', text: prompt }];
}

function collision(commandId: CommandId): SessionError {
  return new SessionError(
    'session.command_collision',
    `The command id ${commandId} was used before with another body. Use a new id.`,
  );
}

function told(node: LoopNode, text: string): void {
  for (const { watch } of node.openRequests()) watch?.(text);
}
