import { Deferred } from '../../../base/deferred.ts';
import { messageOf } from '../../../base/errors.ts';
import type { CommandOrigin } from '../../session/commands/stamp.ts';
import type { SessionDeps } from '../../session/deps.ts';
import type { Session } from '../../session/session.ts';
import { HOST } from '../../session/state/gates.ts';
import type { DelegateResult } from '../../session/tool.ts';
import { NO_USAGE } from '../../session/turn/budget.ts';
import type { CommandId, SessionConfig, Usage } from '../../session/words.ts';
import type { KnownRequest } from './delegate-book.ts';
import { delegatesClosed, unknownDelegate } from './delegate-error.ts';
import type { LoopNode, Request } from './loops/loop-node.ts';
import { outcomeOf, resultText } from './loops/loop-turns.ts';

/** How a request came out, before it is handed back. */
type Ended = Pick<DelegateResult, 'outcome' | 'text'> & { readonly usage: Usage };

/** Nobody but the machine wants it. */
export const MACHINE: CommandOrigin = { actor: HOST, agency: 'machine' };

const WITH_PARENT = 'Stopped with the loop that started it';

/**
 * Takes requests for delegates, lets them work and hands each back exactly once. A request is in the history of the
 * parent before the delegate hears of it.
 */
export class RequestDesk {
  readonly #deps: SessionDeps;
  #order = 0;
  #isClosed = false;

  constructor(deps: SessionDeps) {
    this.#deps = deps;
  }

  /** True once nothing is begun any more. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  close(): void {
    this.#isClosed = true;
  }

  /** The next place in the order in which prompts and stops arrive at delegates. */
  nextOrder(): number {
    this.#order += 1;
    return this.#order;
  }

  /** See `Delegates.result`. */
  async result(
    parent: LoopNode,
    requestId: CommandId,
    signal: AbortSignal,
    watch?: (text: string) => void,
  ): Promise<DelegateResult> {
    for (const node of parent.children.values()) {
      const request = node.requests.get(requestId);
      if (request === undefined) continue;
      request.watch = watch ?? null;
      const cancel = (): void => this.#cancel(node, request);
      if (signal.aborted) cancel();
      signal.addEventListener('abort', cancel, { once: true });
      try {
        return await request.done.promise;
      } finally {
        signal.removeEventListener('abort', cancel);
      }
    }
    throw unknownDelegate(requestId);
  }

  /** Ends what a loop does, and its delegates, with every process; false if it did nothing. */
  async stop(node: LoopNode, why: string): Promise<boolean> {
    node.stops += 1;
    const open = node.openRequests();
    for (const request of open) request.isCancelled = true;
    const { live } = node;
    const didWork = live?.session.isActive === true && this.#end(live.session, why);
    await Promise.all([live?.stopProcesses(), this.stopBelow(node)]);
    await Promise.all(open.map(({ done }) => done.promise));
    return didWork || open.length > 0;
  }

  /** Ends all delegates of a loop. */
  async stopBelow(node: LoopNode): Promise<void> {
    node.stops += 1;
    const children = [...node.children.values()];
    await Promise.all(children.map((child) => this.stop(child, WITH_PARENT)));
  }

  /** Hands a request back; nothing happens if that was done before. Never rejects. */
  async handBack(
    node: LoopNode,
    request: Pick<KnownRequest, 'requestId' | 'background'>,
    ended: Ended,
  ): Promise<void> {
    const { loopId, parent } = node;
    const session = parent?.live?.session;
    if (session === undefined) return;
    const { requestId, background } = request;
    try {
      await session.entries.handBack({ requestId, loopId, background, ...ended });
    } catch (failure) {
      this.#warn(node, 'The result of a delegate could not be handed back', failure);
    }
  }

  /** Journals the request in the parent's history, then lets the delegate work on it. */
  async give(
    node: LoopNode,
    request: KnownRequest,
    config: SessionConfig,
    origin: CommandOrigin = MACHINE,
  ): Promise<void> {
    const { parent, loopId, name } = node;
    const session = parent?.live?.session;
    if (parent === null || session === undefined) throw delegatesClosed();
    const stops = node.stops + parent.stops;
    const open: Request = { ...request, done: new Deferred(), watch: null, isCancelled: false };
    node.requests.set(request.requestId, open);
    try {
      await session.record({ type: 'delegate_started', ...request, loopId, name, config });
    } catch (failure) {
      node.requests.delete(request.requestId);
      throw failure;
    }
    node.first ??= request;
    node.newest = request;
    if (node.stops + parent.stops !== stops || this.#isClosed) open.isCancelled = true;
    void this.#work(node, open, origin);
  }

  /** Never rejects. */
  async #work(node: LoopNode, request: Request, origin: CommandOrigin): Promise<void> {
    const ended = await this.#run(node, request, origin);
    const { requestId } = request;
    const { outcome, text } = ended;
    // A loop that rests is not woken by what somebody stopped.
    const isStopped = outcome === 'cancelled' && node.parent?.live?.session.isActive !== true;
    await this.handBack(node, { requestId, background: request.background && !isStopped }, ended);
    request.done.resolve({ loopId: node.loopId, requestId, outcome, text });
    announce(node);
  }

  async #run(node: LoopNode, request: Request, origin: CommandOrigin): Promise<Ended> {
    const session = node.live?.session;
    if (request.isCancelled || session === undefined)
      return { outcome: 'cancelled', text: 'Stopped before it began.', usage: NO_USAGE };
    try {
      const { terminal, usage, turnId } = await session.prompt({
        order: this.nextOrder(),
        commandId: request.requestId,
        content: [{ type: 'text', text: request.prompt }],
        actor: origin.actor,
        agency: origin.agency,
      });
      const turn = node.turns.of(request.requestId);
      const outcome = turnId === null ? 'cancelled' : outcomeOf(terminal);
      if (outcome !== 'completed') {
        await this.stopBelow(node);
        return { outcome, text: resultText(turn, terminal.reason), usage };
      }
      const isFollowed = await this.#ownDelegatesDone(node, session);
      const last = isFollowed ? (node.turns.newest ?? turn) : turn;
      if (request.isCancelled)
        return { outcome: 'cancelled', text: resultText(last, 'Stopped'), usage };
      return { outcome, text: resultText(last, null), usage };
    } catch (failure) {
      this.#warn(node, 'A delegate broke off', failure);
      return { outcome: 'failed', text: messageOf(failure), usage: NO_USAGE };
    }
  }

  /**
   * A delegate is done when its own delegates are, and it has read what they found. True if it had to wait for that.
   */
  async #ownDelegatesDone(node: LoopNode, session: Session): Promise<boolean> {
    let waited = false;
    for (;;) {
      const open = [...node.children.values()].flatMap((child) => child.openRequests());
      if (open.length === 0 && !(waited && session.isActive)) return waited;
      waited = true;
      if (open.length > 0) await Promise.race(open.map(({ done }) => done.promise));
      else await nextActivity(session);
    }
  }

  /** Ends one request; the delegate's others stay. */
  #cancel(node: LoopNode, request: Request): void {
    if (request.done.isSettled || request.isCancelled) return;
    request.isCancelled = true;
    const session = node.live?.session;
    if (session === undefined) return;
    session.entries
      .cancelRequest(request.requestId, MACHINE)
      .then(async (status) => {
        if (status === 'noop' && !request.done.isSettled) await this.#stopWaiting(node, session);
      })
      .catch((failure: unknown) =>
        this.#warn(node, 'A request of a delegate could not be cancelled', failure),
      );
  }

  /** The request's own turn is over: it waits for its delegates, or reads what they found. */
  async #stopWaiting(node: LoopNode, session: Session): Promise<void> {
    const { newest } = node.turns;
    const isReading = newest !== null && !node.requests.has(newest.commandId);
    if (isReading && session.isActive) this.#end(session, WITH_PARENT);
    await this.stopBelow(node);
  }

  /** True if it ended something. */
  #end(session: Session, why: string): boolean {
    return session.cancelBefore(this.nextOrder(), { kind: 'cancelled', by: HOST.clientId, why });
  }

  #warn({ loopId }: LoopNode, what: string, failure: unknown): void {
    this.#deps.log.warn(what, { loopId, error: messageOf(failure) });
  }
}

/** Tells whoever follows the session that a delegate rests, which it does only when it has handed back. */
function announce({ live }: LoopNode): void {
  if (live === null) return;
  const { isActive: activePrompt, openGates } = live.session;
  const counts = { openGates: openGates.length, queued: 0 };
  live.session.announce({ type: 'activity_changed', activePrompt, ...counts });
}

function nextActivity(session: Session): Promise<void> {
  return new Promise((resolve) => {
    const { subscription } = session.subscribe((signal) => {
      if (signal.stream !== 'ephemeral' || signal.event.type !== 'activity_changed') return;
      subscription.dispose();
      resolve();
    });
  });
}
