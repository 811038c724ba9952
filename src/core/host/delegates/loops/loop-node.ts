import type { Deferred } from '../../../../base/deferred.ts';
import type { Disposable } from '../../../../base/disposables.ts';
import type { Session } from '../../../session/session.ts';
import type { DelegateResult } from '../../../session/tool.ts';
import type {
  CommandId,
  DelegateOrigin,
  LoopId,
  MessageId,
  Mode,
  SessionId,
} from '../../../session/words.ts';
import type { KnownRequest } from '../delegate-book.ts';
import { LoopTurns } from './loop-turns.ts';

/** A request of a delegate that this process began, and the promise of its one hand-back. */
export type Request = KnownRequest & {
  readonly done: Deferred<DelegateResult>;
  /** Told what the delegate says and does while it works on it. */
  watch: ((text: string) => void) | null;
  /** Somebody ended it, whatever it still comes to. */
  isCancelled: boolean;
};

/** A message that a working delegate has not read yet, as the request that it becomes if it comes too late for that. */
export type Steer = Pick<KnownRequest, 'turnId' | 'toolCallId' | 'prompt'> & {
  readonly stops: number;
};

/** A loop in memory and what it owns. */
export type LiveLoop = {
  readonly session: Session;
  /** True while a background process of the loop runs. */
  hasProcesses(): boolean;
  /** Kills every process group of the loop. Bounded. */
  stopProcesses(): Promise<void>;
  /** Ends what the loop owns besides its session. */
  dispose(): Promise<void>;
};

/** A loop of a session with its delegates: the root loop, or a delegate at some depth. */
export class LoopNode {
  readonly loopId: LoopId;
  readonly parent: LoopNode | null;
  /** Null for the root loop. */
  readonly origin: DelegateOrigin | null;
  readonly children = new Map<LoopId, LoopNode>();
  turns = new LoopTurns();
  /** Requests given to this loop in this process. */
  readonly requests = new Map<CommandId, Request>();
  readonly steers = new Map<MessageId, Steer>();
  /** The first request and the newest one; null for the root loop. */
  first: KnownRequest | null = null;
  newest: KnownRequest | null = null;
  /** Null while it only lies in the store. */
  live: LiveLoop | null = null;
  /** True if it can't be brought to life any more. */
  isGone = false;
  /** Counts the times it was stopped: what was being given to it or to its delegates then must not begin. */
  stops = 0;
  lastEventId = 0;
  subscription: Disposable | null = null;

  constructor(loopId: LoopId, parent: LoopNode | null, origin: DelegateOrigin | null) {
    this.loopId = loopId;
    this.parent = parent;
    this.origin = origin;
  }

  /** 0 for the root loop. */
  get depth(): number {
    return this.origin?.depth ?? 0;
  }

  get name(): string {
    return this.origin?.name ?? 'main';
  }

  /** The loop's id as that of an engine session, which each loop is. */
  get sessionId(): SessionId {
    return toSessionId(this.loopId);
  }

  /** The mode it works in now. */
  get mode(): Mode {
    const turn = this.turns.newest;
    if (turn !== null && turn.terminal === null) return turn.config.mode;
    return this.live?.session.config.mode ?? turn?.config.mode ?? 'architect';
  }

  /** Requests that were not handed back yet, oldest first. */
  openRequests(): readonly Request[] {
    return [...this.requests.values()].filter(({ done }) => !done.isSettled);
  }

  /** Its delegates, and theirs: parents before children. */
  *below(): Generator<LoopNode> {
    for (const child of this.children.values()) {
      yield child;
      yield* child.below();
    }
  }

  /** The delegate of the root loop that it belongs to; itself if it is one. */
  get top(): LoopNode {
    const { parent } = this;
    return parent === null || parent.parent === null ? this : parent.top;
  }

  /** The loops above it, the parent first. */
  get superiors(): readonly LoopNode[] {
    return this.parent === null ? [] : [this.parent, ...this.parent.superiors];
  }
}

/** A loop's id as that of an engine session. */
export function toSessionId(loopId: LoopId): SessionId {
  return String(loopId) as SessionId;
}
