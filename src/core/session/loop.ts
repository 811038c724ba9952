import { canonicalJson } from '../../base/canonical-json.ts';
import { messageOf } from '../../base/errors.ts';
import type { Actor } from '../../protocol/controls.ts';
import type { CompactDesk } from './control/compact-desk.ts';
import type { Inbox } from './control/inbox.ts';
import type { InjectDesk } from './control/inject-desk.ts';
import { type LoopDeskParts, loopDesks } from './control/loop-desks.ts';
import type { MachineDesk } from './control/machine-desk.ts';
import { type NextTurnDesk, type SentTurn, toCommandId } from './control/next-turn-desk.ts';
import type { Seams } from './control/seams.ts';
import type { CallCancelled } from './control/session-control.ts';
import type { PendingMessage } from './control-events.ts';
import type { SessionResources } from './deps.ts';
import type { NewRecord } from './ports.ts';
import type { SessionSnapshot } from './state/folded.ts';
import { type Gates, HOST } from './state/gates.ts';
import { type ParkedTurn, parkedTurn } from './state/parked.ts';
import type { PromptDesk } from './state/prompt-desk.ts';
import {
  type PendingPrompt,
  type Prompt,
  type PromptOutcome,
  pendingPrompt,
} from './state/prompts.ts';
import type { AbortReason } from './turn/aborts.ts';
import { type PromptTurn, type PromptTurnParts, runPromptTurn } from './turn/prompt-turn.ts';
import type { TextStream } from './turn/text-stream.ts';
import { cancelledCall, ToolCalls } from './turn/tool-calls.ts';
import type { TurnParts } from './turn/whole-turn.ts';
import type { CommandId, MessageId, ToolCallId, TurnId } from './words.ts';

type Running = {
  readonly turnId: TurnId;
  readonly prompt: PendingPrompt;
  readonly abort: AbortController;
  readonly done: Promise<void>;
};

/** What a loop shares with the session it belongs to. */
export type LoopParts = LoopDeskParts & {
  readonly resources: SessionResources;
  readonly gates: Gates;
  readonly inbox: Inbox;
};

/**
 * The actor that runs a session's turns, one at a time and in the order their prompts arrived (design §4.3, §4.5).
 * Its queue and its running turn change only in here.
 */
export class Loop {
  /** Messages for the running turn. */
  readonly injects: InjectDesk;
  /** Messages for turns of their own. */
  readonly nextTurns: NextTurnDesk;
  /** What the machine has to tell the model. */
  readonly machine: MachineDesk;
  /** Compactions that somebody asks for. */
  readonly compactions: CompactDesk;
  readonly #parts: LoopParts;
  readonly #prompts: PromptDesk;
  readonly #seams: Seams;
  readonly #turnParts: TurnParts;
  readonly #promptTurns: PromptTurnParts;
  readonly #calls = new ToolCalls();
  #announcedPending = false;
  #running: Running | null = null;
  #parked: ParkedTurn | null = null;
  #stream: TextStream | null = null;
  #holds = 0;
  /** Settles when the checkpoint of a turn that was stopped is journaled. */
  #late: Promise<void> | null = null;
  #fault: { readonly cause: unknown } | null = null;

  constructor(parts: LoopParts) {
    this.#parts = parts;
    const desks = loopDesks(parts, {
      isFaulted: () => this.#fault !== null,
      isRunning: () => this.#running !== null && !this.#running.abort.signal.aborted,
      begin: () => this.#begin(),
      hold: () => this.hold(),
      makeWay: (actor) => this.#makeWay(actor),
      announce: () => this.announce(),
      announcePending: () => this.announcePending(),
    });
    this.machine = desks.machine;
    this.compactions = desks.compactions;
    this.injects = desks.injects;
    this.nextTurns = desks.nextTurns;
    this.#prompts = desks.prompts;
    this.#seams = desks.seams;
    this.#turnParts = {
      ...parts,
      // Another one after each move of the history.
      get conversation() {
        return parts.conversation;
      },
      seams: this.#seams,
      compactions: this.compactions,
      calls: this.#calls,
      setStream: (stream) => {
        this.#stream = stream;
      },
      announcePending: () => this.announcePending(),
    };
    this.#promptTurns = {
      ...parts,
      conversation: () => this.#parts.conversation,
      seams: this.#seams,
      nextTurns: this.nextTurns,
      turnParts: this.#turnParts,
      isFollowed: () => this.#prompts.length > 0 || this.nextTurns.willSend,
      followUp: (late) => this.#followUp(late),
    };
  }

  /** True while a turn runs or a prompt waits for one. */
  get isActive(): boolean {
    return this.activeTurn !== null || this.#isAwaited;
  }

  /** True if a turn would begin as soon as it may. */
  get #isAwaited(): boolean {
    return this.#prompts.length > 0 || this.nextTurns.willSend || this.machine.willBegin;
  }

  /** True while a turn that a restart found stands at its question; see `goOn`. */
  get isParked(): boolean {
    return this.#parked !== null;
  }

  /** True while its turn stands at questions that a restart would find, and nothing waits behind it. */
  get isAtQuestion(): boolean {
    const { state, conversation } = this.#parts;
    const isStopped = this.#running?.abort.signal.aborted === true || this.#fault !== null;
    if (this.activeTurn === null || isStopped || this.#isAwaited) return false;
    return parkedTurn(state, conversation) !== null;
  }

  get activeTurn(): TurnId | null {
    return this.#running?.turnId ?? this.#parked?.turnId ?? null;
  }

  /** Resolves when the turn that runs now is sealed, with its checkpoint. */
  get done(): Promise<void> {
    const running = this.#running?.done ?? Promise.resolve();
    return running.then(() => this.#late ?? undefined).then(() => this.compactions.done);
  }

  /** Text that is shown and not yet in the delivered history. */
  partial(): SessionSnapshot['partial'] {
    const stream = this.#stream;
    return stream === null
      ? []
      : stream.partial().map((piece) => ({ messageId: stream.messageId, ...piece }));
  }

  /** What the calls that run now have said so far. */
  outputs(): SessionSnapshot['outputs'] {
    return this.#calls.outputs();
  }

  /** Messages that wait for a seam of this turn, or of the next. */
  pending(): readonly PendingMessage[] {
    return this.#seams.pending(this.#parts.gates.list().length > 0);
  }

  /** Tells subscribers what waits, if anything does or did a moment ago. */
  announcePending(): void {
    const pending = this.pending();
    const nextTurns = this.nextTurns.view;
    const isSomething =
      pending.length > 0 || nextTurns.items.length > 0 || nextTurns.paused !== null;
    if (!isSomething && !this.#announcedPending) return;
    this.#announcedPending = isSomething;
    this.#parts.recorder.emit({ type: 'pending_changed', pending, nextTurns });
  }

  /** Revokes what no seam will deliver any more. */
  giveBack(): readonly NewRecord[] {
    return this.#seams.givenBack();
  }

  /** See `SessionControl.cancelToolCall`. */
  cancelToolCall(
    toolCallId: ToolCallId,
    { reason, remind }: { readonly reason: string; readonly remind: boolean },
  ): CallCancelled {
    const cancelled = this.#calls.cancel(toolCallId, reason);
    if (cancelled.status === 'cancelled' && remind)
      this.#seams.tellDirective(cancelledCall(toolCallId, cancelled.tool, reason));
    return cancelled;
  }

  /** Fails what runs and what waits: the history can't be written any more. */
  stopForFault(cause: unknown): void {
    this.#fault = { cause };
    this.nextTurns.close();
    const reason: AbortReason = { kind: 'fault', cause };
    this.#running?.abort.abort(reason);
    this.#prompts.fail(cause);
    this.compactions.fail(cause);
  }

  /** Tells subscribers whether the session works and waits. */
  announce(): void {
    const { recorder, gates } = this.#parts;
    recorder.emit({
      type: 'activity_changed',
      activePrompt: this.isActive,
      openGates: gates.list().length,
      queued: this.#prompts.length,
    });
    this.announcePending();
  }

  /**
   * Admits a prompt. Resolves when its turn is sealed on disk, or at once when it was stopped before it began. The
   * same command id with the same body gets the same outcome; with another body it is refused.
   */
  prompt(prompt: Prompt): Promise<PromptOutcome> {
    if (this.#fault !== null) return Promise.reject(this.#fault.cause);
    return this.#prompts.admit(prompt);
  }

  /** Stops the running turn and every prompt that arrived before `order`. True if this call ended something. */
  cancelBefore(order: number, reason: AbortReason): boolean {
    if (reason.kind === 'cancelled') this.nextTurns.stopped();
    if (reason.kind === 'closed') this.nextTurns.close();
    this.machine.quiet();
    const didCompact = this.compactions.stop(
      reason.kind === 'closed' ? 'shutting_down' : 'cancelled',
    );
    const didWait = this.#prompts.cancelBefore(order) || didCompact;
    // What is stopped has to be sealed first of all.
    if (reason.kind !== 'closed') this.goOn();
    const running = this.#running;
    if (running === null || running.prompt.order >= order || running.abort.signal.aborted)
      return didWait;
    running.abort.abort(reason);
    return true;
  }

  /** Takes back an input that waits here for its turn; null if there is none of this id. */
  withdraw(commandId: CommandId, reason: string): Promise<void> | null {
    return this.#prompts.withdrawOne(commandId, reason);
  }

  /** Stops the running turn if this command began it. */
  cancelTurnOf(commandId: CommandId, reason: AbortReason): boolean {
    const running = this.#running;
    if (running?.prompt.commandId !== commandId || running.abort.signal.aborted) return false;
    running.abort.abort(reason);
    return true;
  }

  /** Keeps turns from beginning until what it returns is called; prompts wait. */
  hold(): () => void {
    this.#holds += 1;
    return () => {
      this.#holds -= 1;
      this.#begin();
    };
  }

  /** Begins the next turn, unless one runs or none may begin now. */
  #begin(): void {
    if (this.#running !== null || this.#parked !== null || this.#fault !== null) return;
    if (this.#holds > 0 || this.compactions.whenIdle() || !this.#isAwaited) return;
    const ids = this.#newIds();
    const prompt = ids === null ? null : this.#nextPrompt();
    if (ids === null || prompt === null) return;
    const { config } = this.#parts.state;
    this.#run({ ...ids, prompt, config, abort: new AbortController(), parked: null });
  }

  /** Null where there are none to be had: prompts that wait for their turn are rejected, what is held stays. */
  #newIds(): Pick<PromptTurn, 'turnId' | 'messageId'> | null {
    const { deps, sessionId } = this.#parts;
    try {
      const turnId = deps.ids.unique() as TurnId;
      return { turnId, messageId: deps.ids.unique() as MessageId };
    } catch (failure) {
      deps.log.error('A turn could not be begun', { sessionId, error: messageOf(failure) });
      this.#prompts.reject(failure);
      return null;
    }
  }

  #run(turn: PromptTurn): void {
    const { prompt, turnId, abort } = turn;
    const done = runPromptTurn(this.#promptTurns, turn).then(
      (outcome) => this.#settle(prompt, (target) => target.resolve(outcome)),
      (failure: unknown) => this.#settle(prompt, (target) => target.reject(failure)),
    );
    this.#running = { turnId, prompt, abort, done };
    this.announce();
  }

  /** A turn that a restart found at its question; it waits there until `goOn`. */
  park(parked: ParkedTurn): void {
    this.#parked = parked;
    this.#parts.gates.restore(parked.gates);
  }

  /** The parked turn goes on: its questions are asked again, and what they held up happens when they are answered. */
  goOn(): void {
    const parked = this.#parked;
    if (parked === null || this.#running !== null || this.#fault !== null) return;
    this.#parked = null;
    const { turnId, config } = parked;
    const prompt = this.#standIn(parked);
    const abort = new AbortController();
    this.#run({ prompt, turnId, messageId: null, config, abort, parked });
  }

  /** The prompt of a parked turn; nobody waits for its answer any more. */
  #standIn({ commandId, content }: ParkedTurn): PendingPrompt {
    const bodyHash = this.#parts.deps.digest(canonicalJson(content));
    const asked = { order: 0, commandId, content, actor: HOST };
    const prompt = pendingPrompt(asked, this.#prompts.issued(asked, bodyHash));
    prompt.accepted = true;
    return this.#unattended(prompt, 'A turn failed');
  }

  /** Nobody waits for the outcome of this prompt. */
  #unattended(prompt: PendingPrompt, warning: string): PendingPrompt {
    const { deps, sessionId } = this.#parts;
    this.#prompts.open(prompt);
    prompt.outcome.promise.catch((failure: unknown) =>
      deps.log.warn(warning, { sessionId, error: messageOf(failure) }),
    );
    return prompt;
  }

  /** What a person sent themselves goes before what is held for later, unless they want one of those now. */
  #nextPrompt(): PendingPrompt | null {
    const prompt = this.nextTurns.isUrgent ? undefined : this.#prompts.shift();
    if (prompt !== undefined) return prompt;
    const held = this.nextTurns.take();
    if (held !== null) return this.#heldPrompt(held);
    const told = this.machine.take();
    return told === null ? null : this.#unattended(told, 'A turn that a result began failed');
  }

  #heldPrompt({ item, sent }: SentTurn): PendingPrompt {
    const { deps } = this.#parts;
    const { content, owner, itemId } = item;
    const commandId = toCommandId(itemId);
    // Every Stop that is heard from now on was meant for it.
    const asked = { order: 0, commandId, content, actor: owner };
    const issued = this.#prompts.issued(asked, deps.digest(canonicalJson(content)));
    const prompt = pendingPrompt(asked, issued, sent);
    // It was accepted before a restart and held since.
    prompt.accepted = this.#parts.state.command(commandId)?.resolution === 'held';
    return this.#unattended(prompt, 'A turn from the queue failed');
  }

  /** Stops what runs and what waits, for a message that is to be sent now. */
  #makeWay(actor: Actor): void {
    this.#prompts.cancelWaiting();
    const reason: AbortReason = {
      kind: 'cancelled',
      by: actor.clientId,
      why: 'Stopped by the user to send another message now',
    };
    this.#running?.abort.abort(reason);
  }

  #settle(prompt: PendingPrompt, finish: (outcome: PendingPrompt['outcome']) => void): void {
    this.#running = null;
    this.#stream = null;
    this.#prompts.close(prompt);
    this.announce();
    finish(prompt.outcome);
    this.#begin();
  }

  /** No turn begins before what the stopped one started is gone and it has its checkpoint. */
  #followUp(late: Promise<void>): void {
    this.#late = late.finally(this.hold());
  }
}
