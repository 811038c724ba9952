import type { Disposable } from '../../../base/disposables.ts';
import { Emitter } from '../../../base/emitter.ts';
import { messageOf } from '../../../base/errors.ts';
import type { ListedLoop } from '../../../protocol/pilothouse.ts';
import type { LoopEntries } from '../../session/commands/entry-points.ts';
import type { CommandOrigin } from '../../session/commands/stamp.ts';
import type { SessionControl } from '../../session/control/session-control.ts';
import type { SessionDeps } from '../../session/deps.ts';
import type { SessionSignal } from '../../session/events.ts';
import type { Session } from '../../session/session.ts';
import { HOST } from '../../session/state/gates.ts';
import type { Prompt, PromptOutcome } from '../../session/state/prompts.ts';
import type { DelegateInfo, Delegates } from '../../session/tool.ts';
import type { GateId, LoopId, SessionId } from '../../session/words.ts';
import type { OpenGate } from '../api.ts';
import type { ResourceFactory } from '../session-resources.ts';
import type { DelegateBook } from './delegate-book.ts';
import { unknownDelegate } from './delegate-error.ts';
import { openChild } from './loops/child-loop.ts';
import { listedLoop, stateOf } from './loops/listed-loops.ts';
import { LoopNode } from './loops/loop-node.ts';
import type { RootLoop } from './loops/root-loop.ts';
import { type Delivered, MessageDesk } from './message-desk.ts';
import { recoverRequests } from './recover.ts';
import { RequestDesk } from './request-desk.ts';
import { StartDesk } from './start-desk.ts';

/** What a session's delegates are run with. */
export type RuntimeParts = {
  readonly deps: SessionDeps;
  readonly factory: ResourceFactory;
  readonly rootId: SessionId;
};

/** How long the end of a session waits for its delegates. */
const STOP_MS = 5_000;

/** A signal of a loop below the root. */
type LoopNews = Extract<SessionSignal, { stream: 'loop' }>;

/** The delegates of one live session, at every depth; it owns their loops and what those own. */
export class DelegateRuntime {
  readonly #parts: RuntimeParts;
  readonly #root: LoopNode;
  readonly #signals: Emitter<LoopNews>;
  readonly #desk: RequestDesk;
  readonly #messages: MessageDesk;
  readonly #starts: StartDesk;
  readonly #waking = new Map<LoopNode, Promise<void>>();
  #rootLoop: RootLoop | null = null;

  constructor(parts: RuntimeParts) {
    this.#parts = parts;
    const { deps, rootId } = parts;
    this.#root = new LoopNode(String(rootId) as LoopId, null, null);
    this.#signals = new Emitter<LoopNews>((error) => this.#warn('A listener failed', error));
    this.#desk = new RequestDesk(deps);
    this.#messages = new MessageDesk(deps, this.#desk);
    this.#starts = new StartDesk({
      deps,
      rootId,
      desk: this.#desk,
      open: (node) => this.#open(node),
      discard: (node) => this.#discard(node),
    });
  }

  /** The delegates of the root loop, for its tools. */
  get ofRoot(): Delegates {
    return this.#delegatesOf(this.#root);
  }

  /** Called once, when the session is made and before it is used. `book` is folded from its history. */
  attach(root: RootLoop, book: DelegateBook): void {
    this.#rootLoop = root;
    const { session, resources } = root;
    const stopProcesses = (): Promise<void> => resources.processes.stopAll();
    // The host owns the session itself.
    const host = { hasProcesses: () => false, dispose: async () => undefined };
    this.#root.live = { session, stopProcesses, ...host };
    this.#follow(this.#root, session);
    this.#starts.know(this.#root, book);
  }

  /** Hands back what a crash kept from being handed back, deepest first, once the session is restored. */
  recover(book: DelegateBook): Promise<void> {
    return recoverRequests(
      {
        journal: this.#parts.deps.journal,
        rootId: this.#parts.rootId,
        desk: this.#desk,
        starts: this.#starts,
        wake: (node) => this.#wake(node),
        warn: (what, failure) => this.#warn(what, failure),
      },
      this.#root,
      book,
    );
  }

  /** What happens in the loops below the root, in order. */
  onSignal(listener: (signal: LoopNews) => void): Disposable {
    return this.#signals.event(listener);
  }

  /** True while a delegate works. */
  get isActive(): boolean {
    return [...this.#root.below()].some(
      (node) => node.openRequests().length > 0 || node.live?.session.isActive === true,
    );
  }

  /** True while a delegate works or a process that one started runs. */
  get isBusy(): boolean {
    return this.isActive || [...this.#root.below()].some(({ live }) => live?.hasProcesses());
  }

  /** The open gates of all delegates. */
  gates(): readonly OpenGate[] {
    return [...this.#root.below()].flatMap(({ live, loopId, name }) =>
      (live?.session.openGates ?? []).map((gate) => ({ ...gate, loopId, loopName: name })),
    );
  }

  /** The session of the delegate that asks; null if none of them does. */
  askedBy(gateId: GateId): Session | null {
    for (const { live } of this.#root.below())
      if (live?.session.openGates.some((gate) => gate.gateId === gateId)) return live.session;
    return null;
  }

  /** The root loop and all below it, parents before children. */
  loops(): readonly ListedLoop[] {
    const below = [...this.#root.below()].filter(({ first }) => first !== null);
    return [this.#root, ...below].map(listedLoop);
  }

  /** The ways into the delegates that live, at every depth, parents before children. */
  living(): readonly { readonly loopId: LoopId; readonly entries: SessionControl }[] {
    return [...this.#root.below()].flatMap(({ loopId, live }) =>
      live === null ? [] : [{ loopId, entries: live.session.entries }],
    );
  }

  /** The ways into a loop, at once if it lives, else when it does; null if it is none of this session, or gone. */
  entries(loopId: string): LoopEntries | Promise<LoopEntries | null> {
    const live = this.#find(loopId)?.live?.session.entries;
    return live ?? this.loop(loopId).then((session) => session?.entries ?? null);
  }

  /** The engine session of a loop, brought to life if need be; null if it is no loop of this session, or gone. */
  async loop(loopId: string): Promise<Session | null> {
    const node = this.#find(loopId);
    if (node === null) return null;
    await this.#wake(node);
    return node.live?.session ?? null;
  }

  /** A person's own turn in a delegate: no request of its parent, which reads nothing of it. Null if there is no such loop. */
  async prompt(loopId: string, prompt: Prompt): Promise<PromptOutcome | null> {
    const live = this.#find(loopId)?.live?.session ?? (await this.loop(loopId));
    // A Stop of the session counts its delegates' prompts by this order.
    return live === null ? null : await live.prompt({ ...prompt, order: this.#desk.nextOrder() });
  }

  /** A person writes to a delegate: it reads the message while it works, else it is its next request. */
  async message(loopId: string, text: string, origin: CommandOrigin): Promise<Delivered> {
    const node = this.#find(loopId);
    if (node === null || node.parent === null || node.newest === null)
      throw unknownDelegate(loopId);
    const { turnId, toolCallId } = node.newest;
    await this.#wake(node);
    return this.#messages.message(node, { turnId, toolCallId, prompt: text }, origin);
  }

  /** A person ends what a delegate does; false if it did nothing. Throws `delegate.unknown`. */
  async stop(loopId: string): Promise<boolean> {
    const node = this.#find(loopId);
    if (node === null || node.parent === null) throw unknownDelegate(loopId);
    return this.#bounded(this.#desk.stop(node, 'Stopped by the user'), true);
  }

  /** Ends all delegates with what they own. Nothing is begun any more. Idempotent, bounded. */
  async dispose(why: 'session_closed' | 'client_gone'): Promise<void> {
    this.#desk.close();
    const nodes = [...this.#root.below()].reverse();
    for (const node of nodes) await this.#bounded(this.#discard(node, why), undefined);
    this.#root.subscription?.dispose();
    this.#signals.dispose();
  }

  #find(loopId: string): LoopNode | null {
    const nodes = [this.#root, ...this.#root.below()];
    return nodes.find((node) => node.loopId === loopId) ?? null;
  }

  #delegatesOf(parent: LoopNode): Delegates {
    const desk = this.#desk;
    const childOf = (loopId: LoopId): LoopNode => {
      const child = parent.children.get(loopId);
      if (child === undefined || child.first === null) throw unknownDelegate(loopId);
      return child;
    };
    return {
      start: async (request) => infoOf(await this.#starts.start(parent, request)),
      result: (requestId, signal, watch) => desk.result(parent, requestId, signal, watch),
      message: async (loopId, request) => {
        const child = childOf(loopId);
        await this.#wake(child);
        return this.#messages.message(child, request);
      },
      list: () => [...parent.children.values()].filter(({ first }) => first !== null).map(infoOf),
      stop: async (loopId) =>
        this.#bounded(desk.stop(childOf(loopId), 'Stopped by the loop that started it'), true),
      stopAll: async () => {
        await this.#bounded(desk.stopBelow(parent), undefined);
      },
    };
  }

  async #wake(node: LoopNode): Promise<void> {
    if (node.live !== null || node.isGone || node.parent === null) return;
    const waking = this.#waking.get(node) ?? this.#open(node);
    this.#waking.set(node, waking);
    try {
      await waking;
    } finally {
      this.#waking.delete(node);
    }
  }

  async #open(node: LoopNode): Promise<void> {
    const { deps, factory } = this.#parts;
    const root = this.#rootLoop;
    if (root === null) throw new TypeError('The delegates belong to no session yet');
    const delegates = this.#delegatesOf(node);
    node.live = await openChild({ deps, factory, root, delegates }, node);
    this.#follow(node, node.live.session);
  }

  #follow(node: LoopNode, session: Session): void {
    const { subscription } = session.subscribe((signal) => {
      if (signal.stream === 'history') {
        const { event, at, seq } = signal.record;
        node.turns.apply(event, at);
        node.lastEventId = seq;
      }
      if (node.origin === null) return;
      this.#messages.happened(node, signal);
      const { loopId, origin } = node;
      this.#signals.fire({ stream: 'loop', loopId, origin, signal });
    });
    node.subscription = subscription;
  }

  async #discard(
    node: LoopNode,
    why: 'session_closed' | 'client_gone' = 'session_closed',
  ): Promise<void> {
    const { live } = node;
    node.live = null;
    node.isGone = true;
    if (live === null) return;
    await live.session.close({ kind: 'closed', why }, HOST);
    node.subscription?.dispose();
    await live.dispose();
  }

  async #bounded<T>(work: Promise<T>, late: T): Promise<T> {
    const { clock } = this.#parts.deps;
    const deadline = new AbortController();
    const timeout = clock.sleep(STOP_MS, deadline.signal).then(
      () => late,
      () => late,
    );
    const guarded = work.catch((failure: unknown) => {
      this.#warn('A delegate could not be stopped', failure);
      return late;
    });
    const result = await Promise.race([guarded, timeout]);
    deadline.abort();
    return result;
  }

  #warn(what: string, failure: unknown): void {
    const { deps, rootId } = this.#parts;
    deps.log.warn(what, { sessionId: rootId, error: messageOf(failure) });
  }
}

function infoOf(node: LoopNode): DelegateInfo {
  if (node.newest === null) throw new TypeError('A delegate was asked something');
  const { loopId, name, newest } = node;
  return { loopId, name, state: stateOf(node), requestId: newest.requestId };
}
