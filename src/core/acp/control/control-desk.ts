import { messageOf } from '../../../base/errors.ts';
import type { Control } from '../../../protocol/controls.ts';
import { RpcError } from '../../../protocol/errors.ts';
import type { ArrivedCall, IncomingRequest, Reply } from '../../../protocol/transport/rpc-types.ts';
import type { ControlNames, ControlTarget } from '../../host/controls/api.ts';
import type { Log } from '../../session/ports.ts';
import { type Actors, observerRefused } from '../access/actors.ts';
import { requireValid } from '../params.ts';
import { asControlError, invalidParams } from './control-errors.ts';
import type { ControlMethod, ControlRoom } from './control-method.ts';
import { normalised, requireCommandId, textMember } from './control-params.ts';
import { DURABLE_METHODS } from './durable-methods.ts';
import { MESSAGE_METHODS } from './message-methods.ts';
import { SHAPE_METHODS } from './shape-methods.ts';

const METHODS: ReadonlyMap<string, ControlMethod> = new Map([
  ...[...MESSAGE_METHODS, ...SHAPE_METHODS, ...DURABLE_METHODS].map(
    (method): [string, ControlMethod] => [method.control, method],
  ),
]);

/** Older names. Source: Harn session control, rollback. */
const OTHER_NAMES: ReadonlyMap<string, Control> = new Map<string, Control>([
  ['harn.session_rollback', 'session/rollback'],
  ['harn.session_redo', 'session/redo'],
]);

/** Controls that Harn also takes as notifications. */
const NOTIFIABLE: ReadonlySet<Control> = new Set<Control>(['session/remind']);

/** What they bring about in the session is told before they are answered. */
const TOLD_FIRST: ReadonlySet<Control> = new Set<Control>(['_pilothouse/compact']);

/** What the desk needs around it. */
export type ControlDeskDeps = {
  readonly room: ControlRoom;
  readonly actors: Actors;
  readonly log: Log;
  /** False until the client may act at all. */
  readonly isOpen: () => boolean;
  /** Does the work in its place among the prompts and cancels of the session. */
  readonly inOrder: <T>(sessionId: string, work: () => Promise<T>) => Promise<T>;
  /** The same; prompts that arrive later begin when it is over. */
  readonly beforeLaterPrompts: <T>(sessionId: string, work: () => Promise<T>) => Promise<T>;
  /** Resolves when everything that has happened in the session so far was sent to this client. */
  readonly drained: (sessionId: string) => Promise<void>;
  /** The session that a call means which names none. */
  readonly fallbackSession: () => string | undefined;
};

/**
 * Answers the controls that Harn and this product add. Each takes its place when its frame is read, so that it never
 * waits behind a long request, and each has exactly one receipt, also when it is refused here (design §4.4, §4.5).
 */
export class ControlDesk {
  readonly #deps: ControlDeskDeps;
  readonly #begun = new Map<number, Promise<Reply>>();

  constructor(deps: ControlDeskDeps) {
    this.#deps = deps;
  }

  /** Looks at every call as it is read. True if it has been dealt with. */
  arrived(call: ArrivedCall): boolean {
    const method = methodOf(call.method);
    if (method === undefined || !this.#deps.isOpen()) return false;
    if (call.requestId !== undefined) {
      const begun = this.#begin(method, call.params);
      // Its failure is reported by the request's own handler, which may not be waiting yet.
      begun.catch(() => undefined);
      this.#begun.set(call.requestId, begun);
      return false;
    }
    if (!NOTIFIABLE.has(method.control)) return false;
    this.#begin(method, call.params).catch((error: unknown) =>
      this.#deps.log.warn('A control that came as a notification was refused', {
        method: method.control,
        message: messageOf(error),
      }),
    );
    return true;
  }

  /** What answers the method; undefined if it is no control of this desk. */
  handler(name: string): ((request: IncomingRequest) => Promise<Reply>) | undefined {
    const method = methodOf(name);
    return method && ((request) => this.#answer(method, request));
  }

  async #answer(method: ControlMethod, request: IncomingRequest): Promise<Reply> {
    const begun = this.#begun.get(request.requestId) ?? this.#begin(method, request.params);
    this.#begun.delete(request.requestId);
    return await begun;
  }

  async #begin(method: ControlMethod, given: unknown): Promise<Reply> {
    const params = this.#named(method, given);
    const sessionId = textMember(params, 'sessionId');
    const actor = this.#deps.actors.of(given, sessionId);
    const names = namesOf(params);
    const named = { actor, ...(sessionId === undefined ? {} : { sessionId }), ...names };
    const { controls } = this.#deps.room;
    if (actor.role === 'observer') {
      await controls.refuse(method.control, named, 'observer_may_not_control');
      throw observerRefused();
    }
    try {
      requireCommandId(given);
      requireValid(method.check, params);
    } catch (error) {
      await controls.refuse(method.control, named, 'invalid_params');
      throw error instanceof RpcError ? invalidParams(error, method.family) : error;
    }
    return await this.#run(method, params, { sessionId: sessionId ?? '', actor });
  }

  async #run(method: ControlMethod, params: unknown, target: ControlTarget): Promise<Reply> {
    const { sessionId } = target;
    const { room, inOrder, beforeLaterPrompts, drained } = this.#deps;
    const work = (): Promise<Reply> => method.run(params, target, room);
    try {
      if (method.family === 'message') {
        const reply = await inOrder(sessionId, work);
        if (TOLD_FIRST.has(method.control)) await drained(sessionId);
        return reply;
      }
      const reply = await beforeLaterPrompts(sessionId, work);
      await drained(sessionId);
      return reply;
    } catch (error) {
      throw asControlError(error, sessionId, method.family);
    }
  }

  /** A reminder may leave out its session. Source: Harn session control, remind. */
  #named(method: ControlMethod, given: unknown): unknown {
    const params = normalised(given);
    if (method.control !== 'session/remind' || typeof params !== 'object' || params === null)
      return params;
    const fallback = this.#deps.fallbackSession();
    return 'sessionId' in params || fallback === undefined
      ? params
      : { ...params, sessionId: fallback };
  }
}

function methodOf(name: string): ControlMethod | undefined {
  return METHODS.get(OTHER_NAMES.get(name) ?? name);
}

const NAMES = [
  'messageId',
  'reminderId',
  'toolCallId',
  'itemId',
  'gateId',
  'commandId',
  'loopId',
] as const satisfies readonly (keyof ControlNames)[];

function namesOf(params: unknown): ControlNames {
  return Object.fromEntries(
    NAMES.flatMap((name) => {
      const value = textMember(params, name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
