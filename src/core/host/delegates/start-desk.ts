import { messageOf } from '../../../base/errors.ts';
import type { SessionDeps } from '../../session/deps.ts';
import type { DelegateRequest } from '../../session/tool.ts';
import type { CommandId, LoopId, SessionConfig, SessionId } from '../../session/words.ts';
import type { DelegateBook } from './delegate-book.ts';
import { DelegateError, delegatesClosed } from './delegate-error.ts';
import { LoopNode } from './loops/loop-node.ts';
import { configBelow } from './narrow/request-config.ts';
import type { RequestDesk } from './request-desk.ts';

/** The deepest a delegate may be, and how many one session may ever have. */
export const MAX_DEPTH = 3;
export const MAX_DELEGATES = 64;

/** What the desk works with. */
export type StartDeskParts = {
  readonly deps: SessionDeps;
  readonly rootId: SessionId;
  readonly desk: RequestDesk;
  /** Brings a loop whose streams are there to life. */
  readonly open: (node: LoopNode) => Promise<void>;
  /** Ends a loop and all it owns. */
  readonly discard: (node: LoopNode) => Promise<void>;
};

/** Starts delegates: the streams first, then the loop, then its first request; or nothing of it. */
export class StartDesk {
  readonly #parts: StartDeskParts;
  #started = 0;

  constructor(parts: StartDeskParts) {
    this.#parts = parts;
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
    const { deps, rootId, desk } = this.#parts;
    this.#refuse(parent);
    const config = configBelow(parent, request.mode, deps.clock.now());
    const requestId = deps.ids.unique() as CommandId;
    const loopId = deps.ids.unique() as LoopId;
    const name = newName(this.#names(parent), request.name);
    const depth = parent.depth + 1;
    const origin = { rootId, parentId: parent.loopId, requestId, name, depth };
    const node = new LoopNode(loopId, parent, origin);
    this.#started += 1;
    parent.children.set(loopId, node);
    try {
      await this.#create(node, config);
      const { turnId, toolCallId, prompt, background } = request;
      await desk.give(node, { requestId, turnId, toolCallId, prompt, background }, config);
      return node;
    } catch (failure) {
      this.#started -= 1;
      parent.children.delete(loopId);
      await this.#undo(node);
      throw failure;
    }
  }

  /** The names of a session's delegates, at every depth: a person tells them apart by these. */
  #names(parent: LoopNode): ReadonlySet<string> {
    const root = parent.superiors.at(-1) ?? parent;
    return new Set([...root.below()].map(({ name }) => name));
  }

  #refuse(parent: LoopNode): void {
    if (this.#parts.desk.isClosed) throw delegatesClosed();
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

  async #create(node: LoopNode, config: SessionConfig): Promise<void> {
    const { origin, parent } = node;
    if (origin === null || parent === null) throw new TypeError('The root loop is no delegate');
    const workspace = parent.live?.session.workspace;
    if (workspace === undefined) throw delegatesClosed();
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
      this.#parts.deps.log.warn('What a failed start of a delegate left could not be removed', {
        loopId: node.loopId,
        error: messageOf(failure),
      });
    }
  }
}

/** A name that is not taken: the one wished for if it can be, else numbered. */
function newName(taken: ReadonlySet<string>, wish: string | undefined): string {
  const base = wish?.trim() ?? '';
  if (base !== '' && !taken.has(base)) return base;
  for (let number = base === '' ? 1 : 2; ; number += 1) {
    const name = `${base === '' ? 'delegate' : base} ${number}`;
    if (!taken.has(name)) return name;
  }
}
