import { Deferred } from '../../../base/deferred.ts';
import { messageOf } from '../../../base/errors.ts';
import type { CommandOrigin } from '../../session/commands/stamp.ts';
import { ControlRefused } from '../../session/control/refusal.ts';
import type { SessionDeps } from '../../session/deps.ts';
import type { LoopSignal } from '../../session/events.ts';
import type { Session } from '../../session/session.ts';
import { HOST } from '../../session/state/gates.ts';
import type { DelegateRequest, DelegateResult } from '../../session/tool.ts';
import { NO_USAGE } from '../../session/turn/budget.ts';
import type { CommandId, LoopId, SessionConfig, SessionId, Usage } from '../../session/words.ts';
import type { DelegateBook, KnownRequest } from './delegate-book.ts';
import { DelegateError, unknownDelegate } from './delegate-error.ts';
import type { Delivered } from './delegate-runtime.ts';
import { LoopNode, type Request } from './loop-node.ts';
import { outcomeOf, resultText } from './loop-turns.ts';
import { narrowedConfig, narrower } from './narrowing.ts';

/** The deepest a delegate may be, and how many one session may ever have. */
export const MAX_DEPTH = 3;
export const MAX_DELEGATES = 64;

/** What the desk works with. */
export type RequestDeskParts = {
  readonly deps: SessionDeps;
  readonly rootId: SessionId;
  /** Brings a loop whose streams are there to life. */
  readonly open: (node: LoopNode) => Promise<void>;
  /** Ends a loop and all it owns. */
  readonly discard: (node: LoopNode) => Promise<void>;
};

/** How a request came out, before it is handed back. */
type Ended = Pick<DelegateResult, 'outcome' | 'text'> & { readonly usage: Usage };

const MACHINE: CommandOrigin = { actor: HOST, agency: 'machine' };

/**
 * Takes requests for delegates, lets them work and hands each back exactly once. A request is in the history of the
 * parent before the delegate hears of it.
 */
export class RequestDesk {
  readonly #parts: RequestDeskParts;
  #started = 0;
  #order = 0;
  #isClosed = false;

  constructor(parts: RequestDeskParts) {
    this.#parts = parts;
  }

  /** Nothing is begun any more. */
  close(): void {
    this.#isClosed = true;
  }

  /** A stored delegate of this session counts. */
  count(): void {
    this.#started += 1;
  }

  /** Makes the delegates that a history tells of known, without bringing them to life. */
  know(parent: LoopNode, book: DelegateBook): void {
    const { rootId } = this.#parts;
    for (const { loopId, name, first, newest } of book.list()) {
      if (parent.children.has(loopId)) continue;
      const { requestId } = first;
      const depth = parent.depth + 1;
      const origin = { rootId, parentId: parent.loopId, requestId, name, depth };
      const node = new LoopNode(loopId, parent, origin);
      node.first = first;
      node.newest = newest;
      parent.children.set(loopId, node);
    }
  }

  /** Starts a delegate of `parent`; all of it or nothing. Throws `DelegateError`. */
  async start(parent: LoopNode, request: DelegateRequest): Promise<LoopNode> {
    const { deps, rootId } = this.#parts;
    this.#refuse(parent);
    const config = this.#configFor(parent, request.mode);
    const requestId = deps.ids.unique() as CommandId;
    const loopId = deps.ids.unique() as LoopId;
    const name = newName(parent, request.name);
    const depth = parent.depth + 1;
    const origin = { rootId, parentId: parent.loopId, requestId, name, depth };
    const node = new LoopNode(loopId, parent, origin);
    this.#started += 1;
    parent.children.set(loopId, node);
    try {
      await this.#create(node, config);
      const { turnId, toolCallId, prompt, background } = request;
      await this.#give(node, { requestId, turnId, toolCallId, prompt, background }, config);
      return node;
    } catch (failure) {
      this.#started -= 1;
      parent.children.delete(loopId);
      await this.#undo(node);
      throw failure;
    }
  }

  /** See `Delegates.message`; `node` is alive. */
  async message(
    node: LoopNode,
    request: Pick<KnownRequest, 'turnId' | 'toolCallId' | 'prompt'>,
    origin: CommandOrigin = MACHINE,
  ): Promise<Delivered> {
    const { parent, live } = node;
    if (this.#isClosed) throw closed();
    if (parent === null || live === null)
      throw new DelegateError(
        'delegate.gone',
        `The delegate "${node.name}" can't be reached any more. Start another one.`,
      );
    const requestId = origin.commandId ?? (this.#parts.deps.ids.unique() as CommandId);
    if (node.requests.has(requestId) || node.turns.of(requestId) !== undefined)
      return { requestId, delivery: 'started' };
    const steered = await this.#steer(node, live.session, request, {
      ...origin,
      commandId: requestId,
    });
    if (steered !== null) return { requestId: steered, delivery: 'steered' };
    // What the parent may do now counts, not what it might when it started the delegate.
    const config = this.#configFor(parent, narrower(node.mode, parent.mode));
    await live.session.record({ type: 'config_changed', config, actor: HOST });
    await this.#give(node, { ...request, requestId, background: true }, config, origin);
    return { requestId, delivery: 'started' };
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
    const why = 'Stopped with the loop that started it';
    await Promise.all([...node.children.values()].map((child) => this.stop(child, why)));
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
      if (steer.stops !== node.stops || this.#isClosed) return;
      const { stops: _, ...request } = steer;
      this.message(node, request).catch((failure: unknown) =>
        this.#warn(node, 'A message to a delegate could not be given to it', failure),
      );
    }
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
      await session.handBack({ requestId, loopId, background, ...ended });
    } catch (failure) {
      this.#warn(node, 'The result of a delegate could not be handed back', failure);
    }
  }

  #refuse(parent: LoopNode): void {
    if (this.#isClosed) throw closed();
    if (parent.depth >= MAX_DEPTH)
      throw new DelegateError(
        'delegate.too_deep',
        `Delegates may be ${MAX_DEPTH} deep at most, and you are one at that depth. Do the work yourself.`,
      );
    if (this.#started >= MAX_DELEGATES)
      throw new DelegateError(
        'delegate.quota',
        `This session has had its ${MAX_DELEGATES} delegates. Use delegate_message to give one of yours something to do, or do the work yourself.`,
      );
  }

  #configFor(parent: LoopNode, wish: SessionConfig['mode'] | undefined): SessionConfig {
    const turn = parent.turns.newest;
    const isRunning = turn !== null && turn.terminal === null;
    const config = isRunning ? turn.config : parent.live?.session.config;
    if (config === undefined) throw closed();
    return narrowedConfig(config, parent.turns.spent(this.#parts.deps.clock.now()), wish);
  }

  async #create(node: LoopNode, config: SessionConfig): Promise<void> {
    const { origin, parent } = node;
    if (origin === null || parent === null) throw new TypeError('The root loop is no delegate');
    const workspace = parent.live?.session.workspace;
    if (workspace === undefined) throw closed();
    await this.#parts.deps.journal.append(node.sessionId, [
      {
        stream: 'history',
        event: {
          type: 'session_created',
          cwd: workspace.cwd,
          additionalDirectories: workspace.roots.slice(1),
          config,
          delegate: origin,
        },
        cause: { command_ids: [origin.requestId] },
      },
    ]);
    await this.#parts.open(node);
  }

  /** Takes back a start that failed. */
  async #undo(node: LoopNode): Promise<void> {
    try {
      await this.#parts.discard(node);
      await this.#parts.deps.journal.deleteSession(node.sessionId);
    } catch (failure) {
      this.#warn(node, 'What a failed start of a delegate left could not be removed', failure);
    }
  }

  async #give(
    node: LoopNode,
    request: KnownRequest,
    config: SessionConfig,
    origin: CommandOrigin = MACHINE,
  ): Promise<void> {
    const { parent, loopId, name } = node;
    const session = parent?.live?.session;
    if (parent === null || session === undefined) throw closed();
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
  }

  async #run(node: LoopNode, request: Request, origin: CommandOrigin): Promise<Ended> {
    const session = node.live?.session;
    if (request.isCancelled || session === undefined)
      return { outcome: 'cancelled', text: 'Stopped before it began.', usage: NO_USAGE };
    try {
      this.#order += 1;
      const { terminal, usage, turnId } = await session.prompt({
        order: this.#order,
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

  /** Reads the message while it works; null if it does not, or not long enough any more. */
  async #steer(
    node: LoopNode,
    session: Session,
    request: Pick<KnownRequest, 'turnId' | 'toolCallId' | 'prompt'>,
    { actor, agency, commandId }: CommandOrigin,
  ): Promise<CommandId | null> {
    const [running] = node.openRequests();
    if (running === undefined || session.activeTurn === null) return null;
    const { stops } = node;
    try {
      const { messageId } = await session.inject({
        mode: 'steer',
        content: [{ type: 'text', text: request.prompt }],
        actor,
        agency,
        ...(commandId === undefined ? {} : { commandId }),
      });
      if (session.pending().some((message) => message.messageId === messageId))
        node.steers.set(messageId, { ...request, stops });
      return running.requestId;
    } catch (failure) {
      if (failure instanceof ControlRefused && failure.refusal === 'no_active_prompt') return null;
      throw failure;
    }
  }

  /** Ends one request; the delegate's others stay. */
  #cancel(node: LoopNode, request: Request): void {
    if (request.done.isSettled || request.isCancelled) return;
    request.isCancelled = true;
    const session = node.live?.session;
    if (session === undefined) return;
    session
      .cancelRequest(request.requestId, MACHINE)
      .then(async (status) => {
        // Its own turn is over: it waits for its delegates.
        if (status === 'noop') await this.stop(node, 'Stopped with the loop that started it');
      })
      .catch((failure: unknown) =>
        this.#warn(node, 'A request of a delegate could not be cancelled', failure),
      );
  }

  /** True if it ended something. */
  #end(session: Session, why: string): boolean {
    this.#order += 1;
    return session.cancelBefore(this.#order, { kind: 'cancelled', by: HOST.clientId, why });
  }

  #warn({ loopId }: LoopNode, what: string, failure: unknown): void {
    const { deps, rootId } = this.#parts;
    deps.log.warn(what, { sessionId: rootId, loopId, error: messageOf(failure) });
  }
}

function told(node: LoopNode, text: string): void {
  for (const { watch } of node.openRequests()) watch?.(text);
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

/** A name that no sibling has. */
function newName(parent: LoopNode, wish: string | undefined): string {
  const taken = new Set([...parent.children.values()].map(({ name }) => name));
  const base = wish?.trim() ?? '';
  if (base !== '' && !taken.has(base)) return base;
  for (let number = base === '' ? 1 : 2; ; number += 1) {
    const name = `${base === '' ? 'delegate' : base} ${number}`;
    if (!taken.has(name)) return name;
  }
}

function closed(): DelegateError {
  return new DelegateError('delegate.closed', 'The session is being closed; nothing is begun.');
}
