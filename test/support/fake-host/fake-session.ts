import { Emitter } from '../../../src/base/emitter.ts';
import type {
  ListedSession,
  LiveSession,
  OpenGate,
  PromptOutcome,
  PromptRequest,
  Snapshot,
} from '../../../src/core/host/api.ts';
import type { ControlEvent } from '../../../src/core/session/control-events.ts';
import type { EphemeralEvent } from '../../../src/core/session/ephemeral-events.ts';
import type {
  HistoryEvent,
  LoopSignal,
  SessionSignal,
  Stored,
} from '../../../src/core/session/events.ts';
import type { GateAnswer, GateRequest } from '../../../src/core/session/gate-words.ts';
import type { DelegateOrigin } from '../../../src/core/session/words.ts';
import {
  type CommandId,
  type GateId,
  type LoopId,
  type MessageId,
  MODES,
  type Mode,
  type SessionConfig,
  type SessionId,
  type TurnId,
} from '../../../src/core/session/words.ts';
import type { AvailableCommand, SessionConfigOption } from '../../../src/protocol/acp.ts';
import type { Actor } from '../../../src/protocol/controls.ts';
import { RpcError } from '../../../src/protocol/errors.ts';
import { FakeDurable } from './fake-durable.ts';
import { FakeSessionControl } from './fake-session-control.ts';

const CONFIG: SessionConfig = {
  mode: 'ask',
  model: 'fake/model',
  thoughtLevel: 'auto',
  budget: {},
};

/** What a turn does; resolves with how it ended. */
export type TurnScript = (turn: FakeTurn) => Promise<'end_turn' | 'cancelled'>;

/** A running turn of a script. */
export type FakeTurn = {
  readonly session: FakeSession;
  readonly turnId: TurnId;
  readonly text: string;
  readonly signal: AbortSignal;
  /** Streams text live and journals it. */
  readonly say: (text: string) => void;
};

type Running = { readonly order: number; readonly abort: AbortController };

/** A live session without an engine: tests decide what happens in it. */
export class FakeSession implements LiveSession {
  readonly sessionId: SessionId;
  readonly cwd: string;
  readonly records: Stored<HistoryEvent>[] = [];
  readonly prompts: PromptRequest[] = [];
  readonly answers: { gateId: GateId; answer: GateAnswer; actor: Actor }[] = [];
  commands: readonly AvailableCommand[] = [];
  partial: Snapshot['partial'] = [];
  outputs: Snapshot['outputs'] = [];
  script: TurnScript;
  /** Told of every prompt before it is taken. */
  onPrompt: (request: PromptRequest) => void = () => undefined;
  readonly inbox: FakeSessionControl;
  readonly durable: FakeDurable;
  readonly #signals = new Emitter<SessionSignal>();
  readonly #gates = new Map<GateId, OpenGate>();
  readonly #running = new Set<Running>();
  #queue: Promise<unknown> = Promise.resolve();
  #config = CONFIG;
  #turns = 0;

  constructor(sessionId: string, cwd: string, script: TurnScript) {
    this.sessionId = sessionId as SessionId;
    this.cwd = cwd;
    this.script = script;
    this.durable = new FakeDurable(this);
    this.inbox = new FakeSessionControl(
      () => this.isActive,
      (event) => this.control(event),
    );
    this.append({ type: 'session_created', cwd, additionalDirectories: [], config: CONFIG });
  }

  pending: FakeSessionControl['pending'] = () => this.inbox.pending();
  nextTurns: FakeSessionControl['nextTurns'] = () => this.inbox.nextTurns();
  inject: FakeSessionControl['inject'] = (message) => this.inbox.inject(message);
  revoke: FakeSessionControl['revoke'] = (id, actor) => this.inbox.revoke(id, actor);
  replace: FakeSessionControl['replace'] = (id, content, actor) =>
    this.inbox.replace(id, content, actor);
  cancelToolCall: FakeSessionControl['cancelToolCall'] = (id) => this.inbox.cancelToolCall(id);
  changeQueue: FakeSessionControl['changeQueue'] = (change, actor) =>
    this.inbox.changeQueue(change, actor);

  get isActive(): boolean {
    return this.#running.size > 0;
  }

  /** Journals and announces an event. */
  append(event: HistoryEvent, commandIds: readonly CommandId[] = []): number {
    const seq = this.records.length + 1;
    const record = {
      sessionId: this.sessionId,
      seq,
      at: seq * 1000,
      event,
      cause: { command_ids: commandIds },
      hash: `hash-${seq}`,
    };
    this.records.push(record);
    this.#signals.fire({ stream: 'history', record });
    return seq;
  }

  control(event: ControlEvent): void {
    const record = {
      sessionId: this.sessionId,
      seq: 1,
      at: 0,
      event,
      cause: { command_ids: [] },
      hash: '',
    };
    this.#signals.fire({ stream: 'control', record });
  }

  /** Tells what happens in a delegate. */
  tellLoop(loopId: LoopId, origin: DelegateOrigin, signal: LoopSignal): void {
    this.#signals.fire({ stream: 'loop', loopId, origin, signal });
  }

  /** A stored event of a delegate. */
  loopRecord(loopId: LoopId, seq: number, event: HistoryEvent): LoopSignal {
    const sessionId = loopId as string as SessionId;
    const record = { sessionId, seq, at: seq, event, cause: { command_ids: [] }, hash: '' };
    return { stream: 'history', record };
  }

  emit(event: EphemeralEvent): void {
    this.#signals.fire({ stream: 'ephemeral', event });
  }

  openGate(gateId: string, request: GateRequest): void {
    const gate = { gateId: gateId as GateId, turnId: 'turn' as TurnId, request, openedAt: 0 };
    this.#gates.set(gate.gateId, gate);
    this.append({ type: 'gate_opened', turnId: gate.turnId, gateId: gate.gateId, request });
  }

  async answerGate(gateId: GateId, answer: GateAnswer, actor: Actor): Promise<boolean> {
    const gate = this.#gates.get(gateId);
    if (!gate) return false;
    this.#gates.delete(gateId);
    this.answers.push({ gateId, answer, actor });
    this.append({ type: 'gate_resolved', turnId: gate.turnId, gateId, answer, actor });
    return true;
  }

  openGates(): readonly OpenGate[] {
    return [...this.#gates.values()];
  }

  describe(): ListedSession {
    const last = this.records.at(-1);
    const titled = this.records.findLast(({ event }) => event.type === 'title_changed')?.event;
    return {
      sessionId: this.sessionId,
      cwd: this.cwd,
      additionalDirectories: [],
      title: titled?.type === 'title_changed' ? titled.title : null,
      createdAt: 0,
      lastMessageAt: last?.at ?? 0,
      lastEventId: last?.seq ?? 0,
      prefixHash: last?.hash ?? '',
      liveState: 'live',
      activePrompt: this.isActive,
      openGates: this.#gates.size,
      currentModeId: this.#config.mode,
    };
  }

  async configOptions(): Promise<readonly SessionConfigOption[]> {
    return [
      {
        id: 'mode',
        name: 'Mode',
        category: 'mode',
        type: 'select',
        currentValue: this.#config.mode,
        options: MODES.map((value) => ({ value, name: value })),
      },
    ];
  }

  async setOption(
    configId: string,
    value: string,
    actor: Actor,
  ): Promise<readonly SessionConfigOption[]> {
    const mode = MODES.find((candidate): candidate is Mode => candidate === value);
    if (configId !== 'mode' || !mode)
      throw new RpcError('invalidParams', `No such choice: ${configId}=${value}`);
    this.#config = { ...this.#config, mode };
    this.append({ type: 'config_changed', config: this.#config, actor });
    return await this.configOptions();
  }

  async prompt(request: PromptRequest): Promise<PromptOutcome> {
    this.onPrompt(request);
    this.prompts.push(request);
    const running = { order: request.admission.order, abort: new AbortController() };
    this.#running.add(running);
    const turn = this.#queue.then(() => this.#turn(request, running.abort.signal));
    this.#queue = turn.catch(() => undefined);
    try {
      return await turn;
    } finally {
      this.#running.delete(running);
    }
  }

  async #turn(request: PromptRequest, signal: AbortSignal): Promise<PromptOutcome> {
    if (signal.aborted) return outcome(null, 'cancelled');
    this.#turns += 1;
    const turnId = `turn-${this.#turns}` as TurnId;
    const messageId = `message-${this.#turns}` as MessageId;
    const text = request.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
    const commandId = request.commandId ?? ('none' as NonNullable<typeof request.commandId>);
    this.append({
      type: 'turn_started',
      turnId,
      commandId,
      messageId: `prompt-${this.#turns}` as MessageId,
      content: request.content,
      config: this.#config,
    });
    let offset = 0;
    const say = (piece: string): void => {
      const part = { turnId, messageId, kind: 'text', offset, text: piece } as const;
      this.emit({ type: 'message_chunk', ...part, afterEventId: this.records.length });
      this.append({ type: 'message_delta', ...part });
      offset += piece.length;
    };
    const stopReason = await this.script({ session: this, turnId, text, signal, say });
    const result = outcome(turnId, stopReason);
    const { terminal, usage } = result;
    this.append({ type: 'turn_ended', turnId, terminal, stopReason, usage, iterations: 1 });
    return result;
  }

  /** True if a prompt that arrived earlier was stopped. */
  cancelBefore(order: number): boolean {
    const hit = [...this.#running].filter(
      (running) => running.order < order && !running.abort.signal.aborted,
    );
    for (const { abort } of hit) abort.abort();
    return hit.length > 0;
  }

  subscribe(listener: (signal: SessionSignal) => void): ReturnType<LiveSession['subscribe']> {
    const last = this.records.at(-1);
    const snapshot = {
      lastEventId: last?.seq ?? 0,
      prefixHash: last?.hash ?? '',
      activeTurn: null,
      gates: this.openGates(),
      partial: this.partial,
      outputs: this.outputs,
      commands: this.commands,
      pending: this.inbox.pending(),
      nextTurns: this.inbox.nextTurns(),
    };
    return { snapshot, subscription: this.#signals.event(listener) };
  }
}

function outcome(turnId: TurnId | null, stopReason: 'end_turn' | 'cancelled'): PromptOutcome {
  const terminal =
    stopReason === 'cancelled'
      ? ({ kind: 'user_cancelled', owner: 'user', reason: 'Stopped by the user' } as const)
      : ({ kind: 'natural', owner: 'agent', reason: 'completed' } as const);
  return { turnId, stopReason, terminal, usage: { inputTokens: 1, outputTokens: 1 } };
}
