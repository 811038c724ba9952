import { codeOf, messageOf } from '../../../base/errors.ts';
import type { Control } from '../../../protocol/controls.ts';
import type { CommandState, ListedLoop } from '../../../protocol/pilothouse.ts';
import type { CompactionOutcome, LoopEntries } from '../../session/commands/entry-points.ts';
import type { CommandOrigin } from '../../session/commands/stamp.ts';
import { ControlRefused, type Refusal } from '../../session/control/refusal.ts';
import type { CommandId, GateId, LoopId, SessionId } from '../../session/words.ts';
import type { ControlTarget } from './api.ts';
import type { DurableControls } from './durable-api.ts';
import type { DurableSession } from './durable-session.ts';
import { answerOf, requireFitting } from './gate-response.ts';
import type { Receipted, ReceiptWriter } from './receipts/receipted.ts';
import { noSuchSession, unknownLoop } from './sessions-at-hand.ts';

/** What the desk needs around it. */
export type DurableSurroundings = {
  /** Synchronous, so that a control takes effect in its place among prompts and cancels. */
  readonly live: (sessionId: string) => DurableSession | undefined;
  readonly isStored: (sessionId: string) => Promise<boolean>;
  /** The loops of a stored session, parents before children. */
  readonly storedLoops: (sessionId: SessionId) => Promise<readonly ListedLoop[]>;
  /** What the records of one loop say of a command; null if there is none of this id in it. */
  readonly commandIn: (loopId: LoopId, commandId: CommandId) => Promise<CommandState | null>;
  readonly receipts: ReceiptWriter;
};

type Accepted = Receipted<unknown>['outcome']['status'];

/** Controls of durable commands, each with its receipt. */
export class DurableDesk implements DurableControls {
  readonly #around: DurableSurroundings;

  constructor(around: DurableSurroundings) {
    this.#around = around;
  }

  compact: DurableControls['compact'] = (target, { loopId, commandId }) =>
    this.#run('_pilothouse/compact', target, optional({ loopId }), async (session) => {
      const loop = requireLoop(session, loopId ?? session.activeLoopId);
      const outcome = await inLoop(loop, (entries) => entries.compact(originOf(target, commandId)));
      return receipted(done(outcome), 'compacted');
    });

  respondToGate: DurableControls['respondToGate'] = (target, response) => {
    const { gateId, commandId } = response;
    const method = '_pilothouse/gates/respond';
    return this.#run(method, target, { gateId }, async (session) => {
      const answer = answerOf(response);
      const gate = session.openGates().find((open) => open.gateId === gateId);
      if (gate !== undefined) requireFitting(gate.request, answer);
      else if (commandId === undefined) throw unknownGate(gateId);
      // A gate that is not open any more may still have a repeat of its answer.
      const loopId =
        gate === undefined
          ? await this.#loopOf(session, commandId as CommandId)
          : (gate.loopId ?? rootOf(session));
      const wasFirst = await inLoop(requireLoop(session, loopId), (entries) =>
        entries.respondToGate(gateId as GateId, answer, originOf(target, commandId)),
      );
      if (!wasFirst) throw unknownGate(gateId);
      return receipted(undefined, 'answered', gate === undefined ? 'idempotent' : 'accepted');
    });
  };

  withdraw: DurableControls['withdraw'] = (target, commandId) =>
    this.#run('_pilothouse/commands/withdraw', target, { commandId }, async (session) => {
      const loopId = await this.#loopOf(session, commandId as CommandId);
      const entries = await requireLoop(session, loopId);
      const result = await entries.withdraw(commandId as CommandId, originOf(target));
      return receipted(result, result, result === 'withdrawn' ? 'accepted' : 'idempotent');
    });

  activateLoop: DurableControls['activateLoop'] = (target, loopId) =>
    this.#run('_pilothouse/loops/activate', target, { loopId }, async (session) => {
      await requireLoop(session, loopId);
      if (session.activeLoopId === loopId) return receipted(undefined, 'unchanged', 'idempotent');
      await session.activate(loopId as LoopId, target.actor);
      return receipted(undefined, 'activated');
    });

  messageDelegate: DurableControls['messageDelegate'] = (target, { loopId, text, commandId }) =>
    this.#run('_pilothouse/delegates/message', target, { loopId }, async (session) => {
      await requireDelegate(session, loopId);
      const origin = originOf(target, commandId);
      const result = await session.messageDelegate(loopId as LoopId, text, origin);
      return receipted(result, result.delivery);
    });

  stopDelegate: DurableControls['stopDelegate'] = (target, loopId) =>
    this.#run('_pilothouse/delegates/stop', target, { loopId }, async (session) => {
      await requireDelegate(session, loopId);
      const didStop = await session.stopDelegate(loopId as LoopId, target.actor);
      return didStop
        ? receipted(true, 'stopped')
        : receipted(false, 'already_stopped', 'idempotent');
    });

  createCheckpoint: DurableControls['createCheckpoint'] = (target, { commandId } = {}) =>
    this.#run('_pilothouse/checkpoints/create', target, {}, async (session) => {
      const { isRepeat, ...result } = await session.createCheckpoint(originOf(target, commandId));
      const { checkpointId } = result;
      const status = isRepeat ? 'idempotent' : 'accepted';
      return { ...receipted(result, 'kept', status), target: { checkpointId } };
    });

  async command(sessionId: string, commandId: string): Promise<CommandState> {
    const { live, isStored, commandIn } = this.#around;
    const id = commandId as CommandId;
    if (live(sessionId) === undefined && !(await isStored(sessionId)))
      throw noSuchSession(sessionId);
    // Most are the root loop's, and finding the others may take a while.
    const inRoot = await commandIn(sessionId as LoopId, id);
    if (inRoot !== null) return inRoot;
    for (const { loopId } of (await this.loops(sessionId)).loops) {
      const state = loopId === sessionId ? null : await commandIn(loopId as LoopId, id);
      if (state !== null) return state;
    }
    return { commandId, state: 'unknown' };
  }

  async loops(
    sessionId: string,
  ): Promise<{ readonly activeLoopId: string; readonly loops: readonly ListedLoop[] }> {
    const live = this.#around.live(sessionId);
    if (live !== undefined) return { activeLoopId: live.activeLoopId, loops: live.listLoops() };
    if (!(await this.#around.isStored(sessionId))) throw noSuchSession(sessionId);
    const loops = await this.#around.storedLoops(sessionId as SessionId);
    return { activeLoopId: sessionId, loops };
  }

  /** The work takes place in the tick of the call where the session is live. */
  #run<T>(
    method: Control,
    target: ControlTarget,
    names: { readonly [name: string]: string },
    work: (session: DurableSession) => Promise<Receipted<T>>,
  ): Promise<T> {
    return this.#around.receipts.run(
      method,
      target,
      async () => {
        const { sessionId } = target;
        const live = this.#around.live(sessionId);
        if (live === undefined) throw await this.#notLive(sessionId);
        try {
          return await work(live);
        } catch (error) {
          throw asRefusal(error);
        }
      },
      names,
    );
  }

  async #notLive(sessionId: string): Promise<ControlRefused> {
    if (!(await this.#around.isStored(sessionId))) return noSuchSession(sessionId);
    return new ControlRefused(
      'unknown_session',
      `Session ${sessionId} is stored but not open. Load or resume it first.`,
      { sessionId, liveState: 'persisted' },
    );
  }

  /** The loop that has a command of this id; the root loop if none has. */
  async #loopOf(session: DurableSession, commandId: CommandId): Promise<LoopId> {
    const root = rootOf(session);
    for (const { loopId } of session.listLoops()) {
      if (loopId === root) continue;
      const state = await this.#around.commandIn(loopId as LoopId, commandId);
      if (state !== null) return loopId as LoopId;
    }
    return root;
  }
}

function receipted<T>(result: T, outcome: string, status: Accepted = 'accepted'): Receipted<T> {
  return { result, outcome: { outcome, status } };
}

function originOf({ actor }: ControlTarget, commandId?: string): CommandOrigin {
  return {
    actor,
    agency: 'user',
    ...(commandId === undefined ? {} : { commandId: commandId as CommandId }),
  };
}

/** The root loop has the id of its session. */
function rootOf({ sessionId }: DurableSession): LoopId {
  return sessionId as string as LoopId;
}

/** In the tick of the call where the loop is there, so that a control keeps its place. */
function inLoop<T>(
  loop: LoopEntries | Promise<LoopEntries>,
  work: (entries: LoopEntries) => Promise<T>,
): Promise<T> {
  return loop instanceof Promise ? loop.then(work) : work(loop);
}

/** Without a wait for the root loop, so that a control keeps its place. */
function requireLoop(session: DurableSession, loopId: string): LoopEntries | Promise<LoopEntries> {
  const entries = session.entries(loopId as LoopId);
  if (!(entries instanceof Promise)) return entries;
  return entries.then((found) => {
    if (found !== null) return found;
    throw unknownLoop(session.sessionId, loopId);
  });
}

async function requireDelegate(session: DurableSession, loopId: string): Promise<void> {
  await requireLoop(session, loopId);
  if (loopId !== rootOf(session)) return;
  throw new ControlRefused(
    'unknown_loop',
    `${loopId} is the root loop of its session, not a delegate. Use session/prompt, session/inject or session/cancel.`,
    { sessionId: session.sessionId, loopId },
  );
}

function unknownGate(gateId: string): ControlRefused {
  return new ControlRefused(
    'unknown_gate',
    `No gate ${gateId} is open: it was answered or withdrawn, or never was. List the open gates to see which there are.`,
    { gateId },
  );
}

const REJECTED: { readonly [R in RejectionReason]: Refusal } = {
  nothing_to_gain: 'nothing_to_gain',
  cancelled: 'cancelled',
  summary_failed: 'failed',
  shutting_down: 'session_closed',
  restart: 'cancelled',
};
type RejectionReason = Extract<CompactionOutcome, { kind: 'rejected' }>['reason'];

function done(
  outcome: CompactionOutcome,
): Pick<
  Extract<CompactionOutcome, { kind: 'compacted' }>,
  'beforeMessageCount' | 'afterMessageCount'
> {
  if (outcome.kind === 'rejected')
    throw new ControlRefused(REJECTED[outcome.reason], outcome.message);
  const { beforeMessageCount, afterMessageCount } = outcome;
  return { beforeMessageCount, afterMessageCount };
}

/** What sessions refuse in their own words, in the words of receipts. */
function asRefusal(error: unknown): unknown {
  const refusal = ENGINE.get(codeOf(error) ?? '');
  return refusal === undefined ? error : new ControlRefused(refusal, messageOf(error), {}, error);
}

const ENGINE: ReadonlyMap<string, Refusal> = new Map<string, Refusal>([
  ['session.command_collision', 'command_collision'],
  ['session.command_too_large', 'invalid_content'],
  ['session.closed', 'session_closed'],
]);

function optional(names: { readonly [name: string]: string | undefined }): {
  readonly [name: string]: string;
} {
  return Object.fromEntries(
    Object.entries(names).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
