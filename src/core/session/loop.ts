import { canonicalJson } from '../../base/canonical-json.ts';
import { messageOf } from '../../base/errors.ts';
import type { Actor } from '../../protocol/controls.ts';
import type { Inbox } from './control/inbox.ts';
import { InjectDesk } from './control/inject-desk.ts';
import { NextTurnDesk, type SentTurn, toCommandId } from './control/next-turn-desk.ts';
import type { NextTurnQueue } from './control/next-turns.ts';
import { Seams } from './control/seams.ts';
import type { CallCancelled } from './control/session-control.ts';
import type { PendingMessage } from './control-events.ts';
import type { SessionDeps, SessionResources } from './deps.ts';
import type { NewRecord } from './ports.ts';
import type { Conversation } from './state/conversation.ts';
import type { Gates } from './state/gates.ts';
import { PromptDesk } from './state/prompt-desk.ts';
import {
  type PendingPrompt,
  type Prompt,
  type PromptOutcome,
  pendingPrompt,
} from './state/prompts.ts';
import type { Recorder } from './state/recorder.ts';
import { looseEnds } from './state/restore.ts';
import type { SessionState } from './state/session-state.ts';
import { beginningOf, endOf } from './state/turn-records.ts';
import { type AbortReason, abortReason, onAbort } from './turn/aborts.ts';
import { stopProcesses } from './turn/stop-processes.ts';
import type { TextStream } from './turn/text-stream.ts';
import { ToolCalls } from './turn/tool-calls.ts';
import { TurnCheckpoint } from './turn/turn-checkpoint.ts';
import { runWholeTurn, type TurnParts } from './turn/whole-turn.ts';
import type { MessageId, SessionConfig, SessionId, ToolCallId, TurnId } from './words.ts';

type Running = {
  readonly turnId: TurnId;
  readonly prompt: PendingPrompt;
  readonly abort: AbortController;
  readonly done: Promise<void>;
};

/** What a loop shares with the session it belongs to. */
export type LoopParts = {
  readonly sessionId: SessionId;
  readonly deps: SessionDeps;
  readonly resources: SessionResources;
  readonly recorder: Recorder;
  readonly gates: Gates;
  readonly state: SessionState;
  readonly conversation: Conversation;
  readonly inbox: Inbox;
  readonly nextTurns: NextTurnQueue;
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
  readonly #parts: LoopParts;
  readonly #prompts: PromptDesk;
  readonly #seams: Seams;
  readonly #turnParts: TurnParts;
  readonly #calls = new ToolCalls();
  #announcedPending = false;
  #running: Running | null = null;
  #stream: TextStream | null = null;
  #holds = 0;
  /** Settles when the checkpoint of a turn that was stopped is journaled. */
  #late: Promise<void> | null = null;
  #fault: { readonly cause: unknown } | null = null;

  constructor(parts: LoopParts) {
    this.#parts = parts;
    const { sessionId, recorder, inbox, deps } = parts;
    this.#seams = new Seams({
      sessionId,
      recorder,
      inbox,
      directives: () => this.#parts.conversation.directives,
      clock: deps.clock,
      ids: deps.ids,
      withDirectives: deps.directives ?? true,
    });
    this.#turnParts = {
      ...parts,
      // Another one after each move of the history.
      get conversation() {
        return parts.conversation;
      },
      seams: this.#seams,
      calls: this.#calls,
      setStream: (stream) => {
        this.#stream = stream;
      },
      announcePending: () => this.announcePending(),
    };
    this.injects = new InjectDesk({
      sessionId,
      deps,
      recorder,
      inbox,
      seams: this.#seams,
      isRunning: () => this.#running !== null && !this.#running.abort.signal.aborted,
      announce: () => this.announcePending(),
    });
    this.#prompts = new PromptDesk({
      recorder,
      state: parts.state,
      digest: deps.digest,
      isReserved: (commandId) => this.nextTurns.reserves(commandId),
      begin: () => this.#begin(),
      announce: () => this.announce(),
    });
    this.nextTurns = new NextTurnDesk({
      queue: parts.nextTurns,
      recorder,
      ids: deps.ids,
      clock: deps.clock,
      isTaken: (commandId) => this.#prompts.knows(commandId),
      wake: () => this.#begin(),
      makeWay: (actor) => this.#makeWay(actor),
      announce: () => this.announcePending(),
    });
  }

  /** True while a turn runs or a prompt waits for one. */
  get isActive(): boolean {
    return this.#running !== null || this.#prompts.length > 0 || this.nextTurns.willSend;
  }

  get activeTurn(): TurnId | null {
    return this.#running?.turnId ?? null;
  }

  /** Resolves when the turn that runs now is sealed, with its checkpoint. */
  get done(): Promise<void> {
    if (this.#running === null) return this.#late ?? Promise.resolve();
    return this.#running.done.then(() => this.#late ?? undefined);
  }

  /** Text that is shown and not yet in the delivered history. */
  partial(): readonly {
    messageId: MessageId;
    kind: 'text' | 'thought';
    offset: number;
    text: string;
  }[] {
    const stream = this.#stream;
    return stream === null
      ? []
      : stream.partial().map((piece) => ({ messageId: stream.messageId, ...piece }));
  }

  /** Text from the machine that the model reads at the next seam. */
  tell(text: string): void {
    this.#seams.tell(text);
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
      this.#seams.tellDirective({
        key: `call_cancelled/${toolCallId}`,
        authority: 'advisory',
        source: 'reminder',
        text: `The user cancelled the tool call ${toolCallId} (${cancelled.tool}): ${reason}. Do not repeat it unless they ask for it.`,
      });
    return cancelled;
  }

  /** Fails what runs and what waits: the history can't be written any more. */
  stopForFault(cause: unknown): void {
    this.#fault = { cause };
    this.nextTurns.close();
    const reason: AbortReason = { kind: 'fault', cause };
    this.#running?.abort.abort(reason);
    this.#prompts.fail(cause);
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
    const didWait = this.#prompts.cancelBefore(order);
    const running = this.#running;
    if (running === null || running.prompt.order >= order || running.abort.signal.aborted)
      return didWait;
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

  /** Begins the next turn; false if one runs, or none may begin now. */
  #begin(): boolean {
    if (this.#running !== null || this.#fault !== null || this.#holds > 0) return false;
    const prompt = this.#nextPrompt();
    if (prompt === null) return false;
    const turnId = this.#parts.deps.ids.unique() as TurnId;
    const abort = new AbortController();
    const turn = this.#runPrompt(prompt, turnId, abort);
    const done = turn.then(
      (outcome) => this.#settle(prompt, (target) => target.resolve(outcome)),
      (failure: unknown) => this.#settle(prompt, (target) => target.reject(failure)),
    );
    this.#running = { turnId, prompt, abort, done };
    this.announce();
    return true;
  }

  /** What a person sent themselves goes before what is held for later, unless they want one of those now. */
  #nextPrompt(): PendingPrompt | null {
    const prompt = this.nextTurns.isUrgent ? undefined : this.#prompts.shift();
    if (prompt !== undefined) return prompt;
    const held = this.nextTurns.take();
    return held === null ? null : this.#heldPrompt(held);
  }

  #heldPrompt({ item, sent }: SentTurn): PendingPrompt {
    const { deps, sessionId } = this.#parts;
    const { content, owner, itemId } = item;
    const prompt = pendingPrompt(
      // Every Stop that is heard from now on was meant for it.
      { order: 0, commandId: toCommandId(itemId), content, actor: owner },
      deps.digest(canonicalJson(content)),
      sent,
    );
    this.#prompts.open(prompt);
    prompt.outcome.promise.catch((failure: unknown) =>
      deps.log.warn('A turn from the queue failed', { sessionId, error: messageOf(failure) }),
    );
    return prompt;
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

  async #runPrompt(
    prompt: PendingPrompt,
    turnId: TurnId,
    abort: AbortController,
  ): Promise<PromptOutcome> {
    const { config } = this.#parts.state;
    this.#seams.open();
    const checkpoint = this.#checkpointOf(turnId);
    const begun = this.#parts.recorder.append(this.#beginning(prompt, turnId, config));
    if (prompt.sent !== null) this.nextTurns.began(prompt.commandId, begun);
    await begun;
    const clockStop = new AbortController();
    if (config.budget.seconds !== undefined) {
      const outOfTime: AbortReason = { kind: 'out_of_time' };
      this.#parts.deps.clock.sleep(config.budget.seconds * 1000, clockStop.signal).then(
        () => abort.abort(outOfTime),
        () => undefined,
      );
    }
    const stopping = onAbort(abort.signal, () =>
      stopProcesses(this.#parts.deps, this.#parts.resources),
    );
    try {
      const result = await runWholeTurn(this.#turnParts, { turnId, config, abort });
      const { usage, iterations } = result;
      this.#seams.close(true);
      if (!wasStopped(abort.signal)) await stopping();
      const { ending, records } = await checkpoint.seal(result.ending, abort.signal);
      if (!wasStopped(abort.signal)) await stopping();
      const loose =
        ending.terminal.kind === 'runtime_error'
          ? looseEnds(this.#parts.state, this.#parts.conversation, turnId)
          : [];
      const paused = this.nextTurns.turnEnded(ending.terminal);
      const isFollowed = this.#prompts.length > 0 || this.nextTurns.willSend;
      await this.#parts.recorder.append([
        ...loose.map((event): NewRecord => ({ stream: 'history', event })),
        ...(isFollowed ? [] : this.#seams.givenBack()),
        ...records,
        ...endOf(prompt.commandId, turnId, { ending, usage, iterations }),
        ...paused.map((event): NewRecord => ({ stream: 'control', event })),
      ]);
      if (abort.signal.aborted)
        this.#followUp(stopping().then(() => checkpoint.late(ending) ?? undefined));
      return { turnId, stopReason: ending.stopReason, terminal: ending.terminal, usage };
    } finally {
      clockStop.abort();
    }
  }

  /** No turn begins before what the stopped one started is gone and it has its checkpoint. */
  #followUp(late: Promise<void>): void {
    this.#late = late.finally(this.hold());
  }

  #checkpointOf(turnId: TurnId): TurnCheckpoint {
    const { recorder, resources } = this.#parts;
    const { ids, clock, log } = this.#parts.deps;
    const checkpoints = resources.checkpoints ?? null;
    const messageCount = (): number => this.#parts.conversation.messageCount;
    return new TurnCheckpoint({ checkpoints, recorder, ids, clock, log, messageCount }, turnId);
  }

  #beginning(prompt: PendingPrompt, turnId: TurnId, config: SessionConfig): readonly NewRecord[] {
    const { deps, resources, state } = this.#parts;
    const records = beginningOf({
      prompt,
      turnId,
      messageId: deps.ids.unique() as MessageId,
      config,
      expand: resources.expand,
      hasTitle: state.title !== null,
    });
    prompt.accepted = true;
    return records;
  }
}

/** A person waits for their Stop to show: what the turn started is being killed, and is not waited for. */
function wasStopped(signal: AbortSignal): boolean {
  return signal.aborted && abortReason(signal).kind === 'cancelled';
}
