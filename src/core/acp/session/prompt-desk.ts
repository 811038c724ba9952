import { codeOf, messageOf } from '../../../base/errors.ts';
import type { Actor } from '../../../protocol/controls.ts';
import { RpcError } from '../../../protocol/errors.ts';
import type { ArrivedCall, IncomingRequest, Reply } from '../../../protocol/transport/rpc-types.ts';
import type {
  Admission,
  CancelResult,
  Client,
  PromptOutcome,
  SessionHost,
} from '../../host/api.ts';
import type { Log } from '../../session/ports.ts';
import type { CommandId, LoopId, SessionId } from '../../session/words.ts';
import { type Actors, requireOwner } from '../access/actors.ts';
import { commandIdOf, namedSession, requireCommandId } from '../control/control-params.ts';
import type { Refusals } from '../control/refusals.ts';
import { badField, checkParams, metaOf } from '../params.ts';
import { asRpcError, notAttached } from '../wire-errors.ts';
import type { Attachment } from './attachment.ts';

/** A prompt that arrived. `fence` comes right after it, so that cancelling up to there spares all later ones. */
type Arrived = {
  readonly sessionId: string;
  readonly params: unknown;
  readonly admission: Admission;
  readonly fence: Admission;
  outcome: Promise<PromptOutcome> | undefined;
  /** Known from when it is handed over. */
  commandId: CommandId | undefined;
  isCancelled: boolean;
};

/** What the desk needs around it. */
export type PromptDeskDeps = {
  readonly host: SessionHost;
  readonly client: Client;
  readonly log: Log;
  readonly attachment: (sessionId: string) => Attachment | undefined;
  /** Resolves when a load or resume of the session that is under way is over. */
  readonly opened: (sessionId: string) => Promise<unknown>;
  readonly actors: Actors;
  readonly refusals: Refusals;
  /** False until the client may act at all. */
  readonly isOpen: () => boolean;
  /** A new command id, remembered as this client's own. */
  readonly ownCommand: (asked: string | undefined) => CommandId;
};

/**
 * Prompts and cancels, in the order of arrival (design §4.5). Both take their place when their frame is read; a
 * cancel also takes effect then, and before that hands over the prompts that arrived earlier and were not handed
 * over yet, so that the host knows what it cancels.
 */
export class PromptDesk {
  readonly #deps: PromptDeskDeps;
  readonly #prompts = new Map<number, Arrived>();
  readonly #cancels = new Map<number, Promise<CancelResult['status']>>();
  #isOver: (sessionId: string) => boolean = () => false;

  constructor(deps: PromptDeskDeps) {
    this.#deps = deps;
  }

  /** Looks at every call as it is read. True if it has been dealt with. */
  arrived(call: ArrivedCall): boolean {
    if (!this.#deps.isOpen()) return false;
    if (call.method === 'session/prompt' && call.requestId !== undefined)
      this.#promptArrived(call.requestId, call.params);
    if (call.method !== 'session/cancel') return false;
    const result = this.#cancelArrived(call.params);
    if (call.requestId === undefined) {
      result.then(
        (status) => {
          if (status === 'unknown_session')
            this.#deps.log.warn('A cancel named a session that is not there');
        },
        (error: unknown) =>
          this.#deps.log.warn('A cancel was refused', { error: messageOf(error) }),
      );
      return true;
    }
    // Its failure is reported by the request's own handler, which may not be waiting yet.
    result.catch(ignore);
    this.#cancels.set(call.requestId, result);
    return false;
  }

  /** Takes effect before it first waits. */
  async #cancelArrived(params: unknown): Promise<CancelResult['status']> {
    const { refusals, actors } = this.#deps;
    const sessionId = namedSession(params);
    const actor = actors.of(params, sessionId ?? undefined);
    if (sessionId === null || actor.role === 'observer') {
      await refusals.owned('session/cancel', params, () => {
        checkParams('session/cancel', params);
        throw badField('/sessionId', 'is empty');
      });
    }
    try {
      requireCommandId(params);
    } catch (problem) {
      await refusals.refuse('session/cancel', params, 'invalid_params', actor);
      throw problem;
    }
    const { commandId } = commandIdOf(params);
    const cancelled = this.#tryCancel(
      sessionId as SessionId,
      actor,
      commandId as CommandId | undefined,
    );
    if ('collision' in cancelled) {
      await refusals.refuse('session/cancel', params, 'command_collision', actor);
      throw cancelled.collision;
    }
    await cancelled.receipt;
    return cancelled.status;
  }

  /** The id may be another command's: then nothing is stopped, and the caller has to know. */
  #tryCancel(
    sessionId: SessionId,
    actor: Actor,
    commandId?: CommandId,
  ): CancelResult | { readonly collision: Error } {
    try {
      return this.#cancel(sessionId, actor, commandId);
    } catch (failure) {
      if (failure instanceof Error && codeOf(failure) === 'session.command_collision')
        return { collision: failure };
      throw failure;
    }
  }

  /** Hands over the prompts of a session that arrived so far, as they will be: what comes next finds them running. */
  handOver(sessionId: string): void {
    for (const prompt of this.#prompts.values()) {
      if (prompt.sessionId !== sessionId || prompt.outcome !== undefined || prompt.isCancelled)
        continue;
      if (this.#deps.attachment(sessionId) !== undefined) void this.#start(prompt);
    }
  }

  #promptArrived(requestId: number, params: unknown): Arrived {
    const admission = this.#deps.host.admit();
    const fence = this.#deps.host.admit();
    const arrived: Arrived = {
      sessionId: namedSession(params) ?? '',
      params,
      admission,
      fence,
      outcome: undefined,
      commandId: undefined,
      isCancelled: false,
    };
    this.#prompts.set(requestId, arrived);
    return arrived;
  }

  #cancel(sessionId: SessionId, actor: Actor, commandId?: CommandId): CancelResult {
    const admission = this.#deps.host.admit();
    for (const prompt of this.#prompts.values()) {
      if (prompt.sessionId !== sessionId || prompt.outcome !== undefined) continue;
      if (this.#deps.attachment(sessionId) === undefined) prompt.isCancelled = true;
      else void this.#start(prompt);
    }
    return this.#deps.host.cancel(sessionId, admission, actor, commandId);
  }

  /** Answers `session/cancel` in its request form. */
  async cancelled(request: IncomingRequest): Promise<Reply> {
    const begun = this.#cancels.get(request.requestId) ?? this.#cancelArrived(request.params);
    this.#cancels.delete(request.requestId);
    const sessionId = namedSession(request.params) ?? '';
    const status = await begun.catch((error: unknown) => {
      throw asRpcError(error);
    });
    if (status === 'unknown_session')
      throw new RpcError('noSuchSession', `Session not found: ${sessionId}`, {
        sessionId,
        reason: 'unknown_session',
      });
    const harn = { actor: { ...this.#deps.actors.of(request.params, sessionId) } };
    return { result: { sessionId, status, _meta: { harn } } };
  }

  /** Answers `session/prompt` when its turn is sealed and all its updates were sent. */
  async prompt(request: IncomingRequest): Promise<Reply> {
    const { requestId, params } = request;
    const arrived = this.#prompts.get(requestId) ?? this.#promptArrived(requestId, params);
    const { sessionId } = arrived;
    try {
      await this.#deps.opened(sessionId);
      const outcome = await this.#outcome(arrived, request.signal);
      await this.#deps.attachment(sessionId)?.drained();
      return { result: promptResult(outcome, arrived.commandId) };
    } catch (error) {
      throw asRpcError(error, { sessionId });
    } finally {
      this.#prompts.delete(request.requestId);
    }
  }

  async #outcome(arrived: Arrived, signal: AbortSignal): Promise<PromptOutcome> {
    if (arrived.isCancelled || this.#isOver(arrived.sessionId) || signal.aborted) {
      checkParams('session/prompt', arrived.params);
      if (arrived.outcome === undefined) return NEVER_BEGAN;
    }
    const { sessionId, fence, params } = arrived;
    const stop = (): void => {
      const actor = this.#deps.actors.of(params, sessionId);
      this.#deps.host.cancel(sessionId as SessionId, fence, actor).receipt.catch(ignore);
    };
    signal.addEventListener('abort', stop, { once: true });
    try {
      return await (arrived.outcome ?? this.#start(arrived));
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  #start(arrived: Arrived): Promise<PromptOutcome> {
    const outcome = this.#handOver(arrived);
    arrived.outcome = outcome;
    // Its failure is reported by the prompt's own handler, which may not be waiting yet.
    outcome.catch(ignore);
    return outcome;
  }

  /** Synchronous up to the host's own call, so that the host has the prompt when this returns. */
  async #handOver(arrived: Arrived): Promise<PromptOutcome> {
    const params = checkParams('session/prompt', arrived.params);
    if (params.prompt.length === 0) throw badField('/prompt', 'must hold at least one block');
    requireCommandId(params);
    const attachment = this.#deps.attachment(params.sessionId);
    if (attachment === undefined) throw notAttached(params.sessionId);
    const actor = this.#deps.actors.of(params, params.sessionId);
    requireOwner(actor);
    const { loopId } = metaOf(params, 'pilothouse');
    arrived.commandId = this.#deps.ownCommand(commandIdOf(params).commandId);
    return await attachment.session.prompt({
      admission: arrived.admission,
      commandId: arrived.commandId,
      content: params.prompt,
      actor,
      client: this.#deps.client,
      ...(typeof loopId === 'string' && loopId !== '' ? { loopId: loopId as LoopId } : {}),
    });
  }

  /** The client is gone: what has not begun never will, but in sessions in which its work is kept. */
  close(isKept: (sessionId: string) => boolean): void {
    this.#isOver = (sessionId) => !isKept(sessionId);
  }
}

const NEVER_BEGAN: PromptOutcome = {
  turnId: null,
  stopReason: 'cancelled',
  terminal: { kind: 'user_cancelled', owner: 'user', reason: 'Cancelled before it began' },
  usage: { inputTokens: 0, outputTokens: 0 },
};

/** A turn that a provider or this program failed is an error: a client that reads only `stopReason` must not take it for done. */
function promptResult(outcome: PromptOutcome, commandId: CommandId | undefined): object {
  const { stopReason, terminal, turnId, usage } = outcome;
  const command = commandId === undefined ? {} : { commandId };
  if (
    stopReason !== 'cancelled' &&
    (terminal.kind === 'provider_error' || terminal.kind === 'runtime_error')
  ) {
    throw new RpcError('internalError', terminal.reason, { terminal, turnId, ...command });
  }
  return {
    stopReason,
    _meta: { harn: { terminal, turnId }, pilothouse: { turnId, usage, ...command } },
  };
}

function ignore(): void {
  // Reported elsewhere.
}
