import type { Disposable } from '../../base/disposables.ts';
import { messageOf } from '../../base/errors.ts';
import type { ContentBlock } from '../../protocol/acp.ts';
import type { Actor, ControlOutcome } from '../../protocol/controls.ts';
import type { AbortReason } from './aborts.ts';
import { canonical, SessionError } from './commands.ts';
import type { Conversation } from './conversation.ts';
import type { SessionDeps, SessionResources } from './deps.ts';
import type { GateAnswer, HistoryEvent, SessionSignal } from './events.ts';
import { Gates, HOST, type OpenGate } from './gates.ts';
import type { NewRecord } from './ports.ts';
import {
  neverBegan,
  type PendingPrompt,
  type Prompt,
  type PromptOutcome,
  PromptQueue,
  pendingPrompt,
} from './prompts.ts';
import { Recorder, type Tip } from './recorder.ts';
import type { SessionState } from './session-state.ts';
import type { TextStream } from './text-stream.ts';
import { titleFrom } from './title.ts';
import type { ProcessInfo } from './tool.ts';
import { runTurn } from './turn.ts';
import type { TurnContext } from './turn-context.ts';
import type {
  CommandId,
  GateId,
  MessageId,
  Seam,
  SessionConfig,
  SessionId,
  TurnId,
} from './words.ts';

/** The state at the moment of a subscription; with the signals that follow there is no gap and no repeat. */
export type SessionSnapshot = Tip & {
  readonly activeTurn: TurnId | null;
  readonly gates: readonly OpenGate[];
  readonly partial: readonly {
    readonly messageId: string;
    readonly kind: 'text' | 'thought';
    readonly offset: number;
    readonly text: string;
  }[];
};

/** The folds of a stored session. */
export type Folded = { readonly state: SessionState; readonly conversation: Conversation };

type Running = {
  readonly turnId: TurnId;
  readonly prompt: PendingPrompt;
  readonly abort: AbortController;
  readonly done: Promise<void>;
};

/** How long Stop waits for background processes to be gone before it seals the turn anyway. */
const STOP_PROCESSES_MS = 1_000;

/** A live session: the one owner of its queue, gates, history and running turn (design §4.6). */
export class Session implements Disposable {
  readonly sessionId: SessionId;
  readonly #deps: SessionDeps;
  readonly #resources: SessionResources;
  readonly #recorder: Recorder;
  readonly #gates: Gates;
  readonly #state: SessionState;
  readonly #conversation: Conversation;
  readonly #queue = new PromptQueue();
  readonly #pending = new Map<CommandId, PendingPrompt>();
  readonly #machine: string[] = [];
  #running: Running | null = null;
  #stream: TextStream | null = null;
  #cancelledBefore = 0;
  #closed = false;
  #fault: { readonly cause: unknown } | null = null;

  constructor(
    sessionId: SessionId,
    deps: SessionDeps,
    resources: SessionResources,
    tip: Tip,
    folded: Folded,
  ) {
    this.sessionId = sessionId;
    this.#deps = deps;
    this.#resources = resources;
    this.#state = folded.state;
    this.#conversation = folded.conversation;
    const onListenerError = (error: unknown): void =>
      deps.log.error('A session listener failed', { sessionId, error: messageOf(error) });
    this.#recorder = new Recorder(
      sessionId,
      deps.journal,
      tip,
      (cause) => this.#stopForFault(cause),
      onListenerError,
    );
    this.#recorder.onSignal((signal) => this.#fold(signal));
    this.#gates = new Gates(this.#recorder, deps.ids, deps.clock, () => this.#announce());
  }

  get config(): SessionConfig {
    return this.#state.config;
  }

  get title(): string | null {
    return this.#state.title;
  }

  get tip(): Tip {
    return this.#recorder.tip;
  }

  /** True while a turn runs or a prompt waits for one. */
  get isActive(): boolean {
    return this.#running !== null || this.#queue.length > 0;
  }

  get openGates(): readonly OpenGate[] {
    return this.#gates.list();
  }

  get workspace(): SessionResources['workspace'] {
    return this.#resources.workspace;
  }

  /** Signals from now on; see `SessionSnapshot`. */
  subscribe(listener: (signal: SessionSignal) => void): {
    readonly snapshot: SessionSnapshot;
    readonly subscription: Disposable;
  } {
    const stream = this.#stream;
    const partial =
      stream === null
        ? []
        : stream.partial().map((piece) => ({ messageId: stream.messageId, ...piece }));
    const snapshot = {
      ...this.#recorder.tip,
      activeTurn: this.#running?.turnId ?? null,
      gates: this.#gates.list(),
      partial,
    };
    return { snapshot, subscription: this.#recorder.onSignal(listener) };
  }

  /**
   * Admits a prompt. Resolves when its turn is sealed on disk, or at once when it was stopped before it began. The
   * same command id with the same body gets the same outcome; with another body it is refused.
   */
  prompt(prompt: Prompt): Promise<PromptOutcome> {
    if (this.#fault !== null) return Promise.reject(this.#fault.cause);
    if (this.#closed)
      return Promise.reject(
        new SessionError('session.closed', 'The session is closed. Load or resume it first.'),
      );
    if (isEmpty(prompt.content))
      return Promise.reject(
        new SessionError(
          'session.empty_prompt',
          'The prompt is empty. Send at least one content block with something in it.',
        ),
      );
    const bodyHash = this.#deps.digest(canonical(prompt.content));
    const repeated = this.#repeated(prompt.commandId, bodyHash);
    if (repeated !== null) return repeated;
    const pending = pendingPrompt(prompt, bodyHash);
    this.#pending.set(prompt.commandId, pending);
    if (prompt.order < this.#cancelledBefore) this.#withdraw([pending]);
    else {
      this.#queue.push(pending);
      if (this.#running === null) this.#pump();
      else this.#accept(pending);
    }
    return pending.outcome.promise;
  }

  /** Stops the running turn and every prompt that arrived before `order`. True if this call ended something. */
  cancelBefore(order: number, reason: AbortReason): boolean {
    this.#cancelledBefore = Math.max(this.#cancelledBefore, order);
    const waiting = this.#queue.takeBefore(order);
    this.#withdraw(waiting);
    const running = this.#running;
    if (running === null || running.prompt.order >= order || running.abort.signal.aborted)
      return waiting.length > 0;
    running.abort.abort(reason);
    return true;
  }

  /** Changes what the next turn begins with; resolves when it is on disk. */
  async setConfig(config: SessionConfig, actor: Actor): Promise<void> {
    if (canonical(config) === canonical(this.config)) return;
    await this.#recorder.history({ type: 'config_changed', config, actor });
  }

  /** False if the gate is not open any more. */
  answerGate(gateId: GateId, answer: GateAnswer, actor: Actor): boolean {
    return this.#gates.answer(gateId, answer, actor);
  }

  /** Journals a receipt. */
  async receipt(receipt: ControlOutcome): Promise<void> {
    await this.#recorder.control({ type: 'control_outcome', receipt });
  }

  /** Journals events that come from outside a turn (commands changed, a process ended). */
  async record(...events: readonly HistoryEvent[]): Promise<void> {
    await this.#recorder.history(...events);
  }

  /** Journals what restoring found; called once, before the session is used. */
  async restored(events: readonly HistoryEvent[], interruptedTurnId: TurnId | null): Promise<void> {
    if (events.length === 0) return;
    const records: NewRecord[] = events.map((event) => ({ stream: 'history', event }));
    await this.#recorder.append([
      ...records,
      { stream: 'control', event: { type: 'session_restored', interruptedTurnId } },
    ]);
  }

  /** A background process ended: recorded now, told to the model at the next seam. */
  async processEnded(info: ProcessInfo): Promise<void> {
    if (this.#closed || this.#fault !== null) return;
    const how =
      info.signal === null ? `exit code ${info.exitCode ?? 'unknown'}` : `signal ${info.signal}`;
    this.#machine.push(
      `The background process ${info.processId} (${info.command}) ended with ${how}.`,
    );
    const state = info.state === 'stopped' ? 'stopped' : 'exited';
    await this.#recorder.history({
      type: 'process_ended',
      processId: info.processId,
      state,
      exitCode: info.exitCode,
      signal: info.signal,
    });
  }

  /** Stops everything, waits until the history is on disk, and frees the session. Idempotent. */
  async close(reason: Extract<AbortReason, { kind: 'closed' }>, actor: Actor): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.cancelBefore(Number.POSITIVE_INFINITY, reason);
    await this.#running?.done;
    await this.#resources.processes.stopAll();
    if (this.#fault === null)
      await this.#recorder.control({ type: 'session_closed', actor, reason: reason.why });
    await this.#recorder.settled();
    this.#recorder.dispose();
  }

  dispose(): void {
    this.#recorder.dispose();
  }

  #repeated(commandId: CommandId, bodyHash: string): Promise<PromptOutcome> | null {
    const pending = this.#pending.get(commandId);
    const known = this.#state.command(commandId);
    const hash = pending?.bodyHash ?? known?.bodyHash;
    if (hash === undefined || (pending === undefined && known === undefined)) return null;
    if (hash !== bodyHash) {
      return Promise.reject(
        new SessionError(
          'session.command_collision',
          `The command id ${commandId} was used before with another body. Use a new id.`,
        ),
      );
    }
    if (pending !== undefined) return pending.outcome.promise;
    return Promise.resolve(known?.ended ?? neverBegan('It was not begun before the process ended'));
  }

  #pump(): void {
    if (this.#running !== null || this.#fault !== null) return;
    const prompt = this.#queue.shift();
    if (prompt === undefined) return;
    const turnId = this.#deps.ids.unique() as TurnId;
    const abort = new AbortController();
    const turn = this.#runPrompt(prompt, turnId, abort);
    const done = turn.then(
      (outcome) => this.#settle(prompt, (target) => target.resolve(outcome)),
      (failure: unknown) => this.#settle(prompt, (target) => target.reject(failure)),
    );
    this.#running = { turnId, prompt, abort, done };
    this.#announce();
  }

  #settle(prompt: PendingPrompt, finish: (outcome: PendingPrompt['outcome']) => void): void {
    this.#running = null;
    this.#stream = null;
    this.#pending.delete(prompt.commandId);
    this.#announce();
    finish(prompt.outcome);
    this.#pump();
  }

  async #runPrompt(
    prompt: PendingPrompt,
    turnId: TurnId,
    abort: AbortController,
  ): Promise<PromptOutcome> {
    const { config } = this;
    await this.#recorder.append(this.#beginning(prompt, turnId, config));
    const clockStop = new AbortController();
    if (config.budget.seconds !== undefined) {
      const outOfTime: AbortReason = { kind: 'out_of_time' };
      this.#deps.clock.sleep(config.budget.seconds * 1000, clockStop.signal).then(
        () => abort.abort(outOfTime),
        () => undefined,
      );
    }
    const stopping = onAbort(abort.signal, () => this.#stopProcesses());
    try {
      const { ending, usage, iterations } = await runTurn(
        this.#context(turnId, config, abort.signal),
      );
      await stopping();
      await this.#recorder.append([
        {
          stream: 'history',
          event: {
            type: 'turn_ended',
            turnId,
            terminal: ending.terminal,
            stopReason: ending.stopReason,
            usage,
            iterations,
          },
        },
        {
          stream: 'control',
          event: { type: 'command_resolved', commandId: prompt.commandId, resolution: 'started' },
        },
      ]);
      return { turnId, stopReason: ending.stopReason, terminal: ending.terminal, usage };
    } finally {
      clockStop.abort();
    }
  }

  #beginning(prompt: PendingPrompt, turnId: TurnId, config: SessionConfig): readonly NewRecord[] {
    const modelText = expansion(prompt.content, this.#resources.expand);
    const records: NewRecord[] = prompt.accepted
      ? []
      : [{ stream: 'control', event: accepted(prompt) }];
    prompt.accepted = true;
    const messageId = this.#deps.ids.unique() as MessageId;
    const { commandId, content } = prompt;
    records.push({
      stream: 'history',
      event: {
        type: 'turn_started',
        turnId,
        commandId,
        messageId,
        content,
        ...(modelText === null ? {} : { modelText }),
        config,
      },
    });
    if (this.title === null)
      records.push({
        stream: 'history',
        event: { type: 'title_changed', title: titleFrom(content) },
      });
    return records;
  }

  #context(turnId: TurnId, config: SessionConfig, signal: AbortSignal): TurnContext {
    const tools = new Map(this.#resources.tools().map((tool) => [tool.definition.name, tool]));
    return {
      sessionId: this.sessionId,
      turnId,
      config,
      tools,
      definitions: [...tools.values()].map((tool) => tool.definition),
      deps: this.#deps,
      resources: this.#resources,
      recorder: this.#recorder,
      gates: this.#gates,
      conversation: this.#conversation,
      signal,
      passSeam: (seam, iteration) => this.#passSeam(turnId, seam, iteration),
      setStream: (stream) => {
        this.#stream = stream;
      },
      resolveModel: () => this.#deps.models.resolve(config.model, { sessionId: this.sessionId }),
    };
  }

  async #passSeam(turnId: TurnId, seam: Seam, iteration: number): Promise<void> {
    const due =
      seam === 'iteration_start' || seam === 'post_tool_dispatch' ? this.#machine.splice(0) : [];
    const events = due.map(
      (text): HistoryEvent => ({
        type: 'machine_message',
        turnId,
        messageId: this.#deps.ids.unique() as MessageId,
        text,
      }),
    );
    if (events.length > 0) await this.#recorder.history(...events);
    this.#recorder.emit({ type: 'seam_passed', turnId, iteration, seam, delivered: events.length });
  }

  async #stopProcesses(): Promise<void> {
    const deadline = new AbortController();
    const gone = this.#resources.processes.stopAll();
    const late = this.#deps.clock.sleep(STOP_PROCESSES_MS, deadline.signal).catch(() => undefined);
    await Promise.race([gone, late]);
    deadline.abort();
  }

  /** A prompt that has to wait is on disk before it waits. */
  #accept(prompt: PendingPrompt): void {
    prompt.accepted = true;
    this.#announce();
    this.#recorder
      .control(accepted(prompt))
      .catch((cause: unknown) => prompt.outcome.reject(cause));
  }

  #withdraw(prompts: readonly PendingPrompt[]): void {
    for (const prompt of prompts) {
      const resolved = {
        type: 'command_resolved',
        commandId: prompt.commandId,
        resolution: 'cancelled',
        reason: 'user_cancelled',
      } as const;
      const events = prompt.accepted ? [resolved] : [accepted(prompt), resolved];
      this.#recorder.control(...events).then(
        () => prompt.outcome.resolve(neverBegan()),
        (cause: unknown) => prompt.outcome.reject(cause),
      );
      this.#pending.delete(prompt.commandId);
    }
    if (prompts.length > 0) this.#announce();
  }

  #fold(signal: SessionSignal): void {
    if (signal.stream === 'history') {
      this.#state.applyHistory(signal.record.event);
      this.#conversation.apply(signal.record.event);
    } else if (signal.stream === 'control') this.#state.applyControl(signal.record.event);
  }

  #stopForFault(cause: unknown): void {
    this.#fault = { cause };
    this.#deps.log.error('The session stopped: its history could not be written', {
      sessionId: this.sessionId,
      error: messageOf(cause),
    });
    const reason: AbortReason = { kind: 'fault', cause };
    this.#running?.abort.abort(reason);
    for (const prompt of this.#queue.takeBefore(Number.POSITIVE_INFINITY))
      prompt.outcome.reject(cause);
  }

  #announce(): void {
    this.#recorder.emit({
      type: 'activity_changed',
      activePrompt: this.isActive,
      openGates: this.#gates.list().length,
      queued: this.#queue.length,
    });
  }
}

function accepted(prompt: PendingPrompt): {
  type: 'command_accepted';
  commandId: CommandId;
  command: 'session/prompt';
  bodyHash: string;
  actor: Actor;
} {
  return {
    type: 'command_accepted',
    commandId: prompt.commandId,
    command: 'session/prompt',
    bodyHash: prompt.bodyHash,
    actor: prompt.actor,
  };
}

function isEmpty(content: readonly ContentBlock[]): boolean {
  return content.every((block) => block.type === 'text' && block.text.trim() === '');
}

function expansion(
  content: readonly ContentBlock[],
  expand: (text: string) => string | null,
): string | null {
  const [only, ...rest] = content;
  return only?.type === 'text' && rest.length === 0 ? expand(only.text) : null;
}

/** Runs the work when the signal aborts; the returned function waits for it if it began. */
function onAbort(signal: AbortSignal, work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null;
  signal.addEventListener(
    'abort',
    () => {
      running = work();
    },
    { once: true },
  );
  return async () => {
    await running;
  };
}

export { HOST };
