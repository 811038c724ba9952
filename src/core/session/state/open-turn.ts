import type { ContentBlock } from '../../../protocol/acp.ts';
import type { Actor } from '../../../protocol/controls.ts';
import type { ControlEvent } from '../control-events.ts';
import type { HistoryEvent } from '../events.ts';
import type { GateAnswer, GateRequest } from '../gate-words.ts';
import { addUsage, NO_USAGE } from '../turn/budget.ts';
import type { CommandId, GateId, SessionConfig, ToolCallId, TurnId, Usage } from '../words.ts';

/** A question of the open turn, as far as it is recorded. */
export type RecordedGate = {
  readonly gateId: GateId;
  readonly turnId: TurnId;
  readonly request: GateRequest;
  readonly openedAt: number;
  /** Null where an older version asked. */
  readonly fingerprint: string | null;
  readonly answer: { readonly answer: GateAnswer; readonly actor: Actor } | null;
};

/** How a turn began, and how far it came. */
export type TurnProgress = {
  readonly turnId: TurnId;
  readonly commandId: CommandId;
  readonly content: readonly ContentBlock[];
  readonly config: SessionConfig;
  /** The event before the turn's first one. */
  readonly beforeEventId: number;
  readonly startedAt: number;
  readonly lastAt: number;
  /** Of the newest reply; 0 before the first. */
  readonly iteration: number;
  readonly finish: Extract<HistoryEvent, { type: 'model_replied' }>['finish'] | null;
  readonly usage: Usage;
  /** Its prompt's command first, then those of what was folded into it. */
  readonly commandIds: readonly CommandId[];
  /** The gate whose answer is the newest thing that happened in the turn. */
  readonly answeredLast: GateId | null;
};

/** Folds what is recorded of the turn that is open, if one is. */
export class OpenTurn {
  #turn: TurnProgress | null = null;
  readonly #gates = new Map<GateId, RecordedGate>();
  readonly #fingerprints = new Map<GateId, string>();
  readonly #started = new Set<ToolCallId>();

  get progress(): TurnProgress | null {
    return this.#turn;
  }

  /** Every question of the turn, answered or not, oldest first. */
  get gates(): readonly RecordedGate[] {
    return [...this.#gates.values()].map((gate) => ({
      ...gate,
      fingerprint: this.#fingerprints.get(gate.gateId) ?? null,
    }));
  }

  /** True for a call that was started, whether or not it has its result. */
  hasStarted(toolCallId: ToolCallId): boolean {
    return this.#started.has(toolCallId);
  }

  /** `seq` and `commandIds` are those of the record. */
  applyHistory(
    event: HistoryEvent,
    at: number,
    seq: number,
    commandIds: readonly CommandId[],
  ): void {
    if (event.type === 'turn_started') {
      this.#begin(event, at, seq);
      return;
    }
    const turn = this.#turn;
    if (turn === null || !('turnId' in event) || event.turnId !== turn.turnId) return;
    if (event.type === 'turn_ended') {
      this.#turn = null;
      return;
    }
    this.#turn = { ...turn, lastAt: at, answeredLast: null };
    this.#advance(event, at, commandIds);
  }

  applyControl(event: ControlEvent): void {
    if (event.type === 'gate_prepared') this.#fingerprints.set(event.gateId, event.fingerprint);
  }

  #begin(event: Extract<HistoryEvent, { type: 'turn_started' }>, at: number, seq: number): void {
    this.#gates.clear();
    this.#fingerprints.clear();
    this.#started.clear();
    const { turnId, commandId, content, config } = event;
    this.#turn = {
      turnId,
      commandId,
      content,
      config,
      beforeEventId: seq - 1,
      startedAt: at,
      lastAt: at,
      iteration: 0,
      finish: null,
      usage: NO_USAGE,
      commandIds: [commandId],
      answeredLast: null,
    };
  }

  #advance(event: HistoryEvent, at: number, commandIds: readonly CommandId[]): void {
    switch (event.type) {
      case 'model_replied':
        this.#replied(event);
        break;
      case 'tool_started':
        this.#started.add(event.toolCallId);
        break;
      case 'gate_opened': {
        const { gateId, turnId, request } = event;
        const gate = { gateId, turnId, request, openedAt: at, fingerprint: null, answer: null };
        this.#gates.set(gateId, gate);
        break;
      }
      case 'gate_resolved':
        this.#answered(event);
        break;
      case 'inject_delivered':
      case 'directives_issued':
      case 'machine_message':
        this.#folded(commandIds);
        break;
      default:
        break;
    }
  }

  #replied(event: Extract<HistoryEvent, { type: 'model_replied' }>): void {
    const turn = this.#turn;
    if (turn === null) return;
    const { iteration, finish } = event;
    this.#turn = { ...turn, iteration, finish, usage: addUsage(turn.usage, event.usage) };
  }

  #answered({ gateId, answer, actor }: Extract<HistoryEvent, { type: 'gate_resolved' }>): void {
    const gate = this.#gates.get(gateId);
    if (gate === undefined || this.#turn === null) return;
    this.#gates.set(gateId, { ...gate, answer: { answer, actor } });
    this.#turn = { ...this.#turn, answeredLast: gateId };
  }

  #folded(commandIds: readonly CommandId[]): void {
    if (this.#turn === null) return;
    const all = [...new Set([...this.#turn.commandIds, ...commandIds])];
    this.#turn = { ...this.#turn, commandIds: all };
  }
}
