import type { AvailableCommand, StopReason } from '../../../protocol/acp.ts';
import type { ControlEvent } from '../control-events.ts';
import type { HistoryEvent } from '../events.ts';
import { Timeline } from '../history/timeline.ts';
import type {
  CommandId,
  GateId,
  ProcessId,
  SessionConfig,
  Terminal,
  ToolCallId,
  TurnId,
  Usage,
} from '../words.ts';

/** How a turn that is over ended. */
export type EndedTurn = {
  readonly turnId: TurnId;
  readonly terminal: Terminal;
  readonly stopReason: StopReason;
  readonly usage: Usage;
};

/** A prompt or other command as the control stream knows it. */
export type KnownCommand = {
  readonly bodyHash: string;
  readonly turnId: TurnId | null;
  readonly ended: EndedTurn | null;
  readonly cancelled: boolean;
};

/** What a session is, folded from its two streams; the same fold live and after a restart. */
export class SessionState {
  #config: SessionConfig | null = null;
  #title: string | null = null;
  #commands: readonly AvailableCommand[] = [];
  #openTurn: TurnId | null = null;
  readonly #started = new Set<ToolCallId>();
  readonly #openGates = new Set<GateId>();
  readonly #processes = new Set<ProcessId>();
  readonly #accepted = new Map<CommandId, KnownCommand>();
  readonly #turnCommands = new Map<TurnId, CommandId>();
  /** Branches, checkpoints and what can be redone. */
  readonly timeline = new Timeline();

  get config(): SessionConfig {
    if (this.#config === null) throw new TypeError('A history begins with session_created');
    return this.#config;
  }

  get title(): string | null {
    return this.#title;
  }

  /** The slash commands offered now. */
  get commands(): readonly AvailableCommand[] {
    return this.#commands;
  }

  /** A turn that began and has not ended; after a crash it is the interrupted one. */
  get openTurn(): TurnId | null {
    return this.#openTurn;
  }

  /** Calls that were started and have no result. */
  hasStarted(toolCallId: ToolCallId): boolean {
    return this.#started.has(toolCallId);
  }

  /** Gates without an answer; after a crash nobody waits for them any more. */
  get openGates(): readonly GateId[] {
    return [...this.#openGates];
  }

  /** Background processes without an end; after a crash they are lost. */
  get openProcesses(): readonly ProcessId[] {
    return [...this.#processes];
  }

  command(commandId: CommandId): KnownCommand | undefined {
    return this.#accepted.get(commandId);
  }

  /** Takes the next event of the whole history; `at` in milliseconds since the epoch. */
  applyHistory(event: HistoryEvent, at = 0): void {
    this.timeline.applyHistory(event, at);
    switch (event.type) {
      case 'session_created':
      case 'config_changed':
        this.#config = event.config;
        break;
      case 'commands_changed':
        this.#commands = event.commands;
        break;
      case 'title_changed':
        this.#title = event.title;
        break;
      case 'turn_started':
        this.#openTurn = event.turnId;
        this.#turnCommands.set(event.turnId, event.commandId);
        this.#update(event.commandId, { turnId: event.turnId });
        break;
      case 'turn_ended':
        this.#endTurn(event);
        break;
      case 'tool_started':
        this.#started.add(event.toolCallId);
        break;
      case 'tool_ended':
        this.#started.delete(event.toolCallId);
        break;
      case 'gate_opened':
        this.#openGates.add(event.gateId);
        break;
      case 'gate_resolved':
        this.#openGates.delete(event.gateId);
        break;
      case 'process_started':
        this.#processes.add(event.processId);
        break;
      case 'process_ended':
        this.#processes.delete(event.processId);
        break;
      default:
        break;
    }
  }

  applyControl(event: ControlEvent, at = 0): void {
    this.timeline.applyControl(event, at);
    if (event.type === 'command_accepted')
      this.#update(event.commandId, { bodyHash: event.bodyHash });
    else if (event.type === 'command_resolved')
      this.#update(event.commandId, { cancelled: event.resolution === 'cancelled' });
  }

  #endTurn(event: Extract<HistoryEvent, { type: 'turn_ended' }>): void {
    this.#openTurn = null;
    const commandId = this.#turnCommands.get(event.turnId);
    // A turn that ended is sealed again where a cut went through it; its prompt was answered with the first end.
    const ended = commandId === undefined ? null : this.#accepted.get(commandId)?.ended;
    if (commandId === undefined || (ended !== undefined && ended !== null)) return;
    const { turnId, terminal, stopReason, usage } = event;
    this.#update(commandId, { ended: { turnId, terminal, stopReason, usage } });
  }

  #update(commandId: CommandId, change: Partial<KnownCommand>): void {
    const known = this.#accepted.get(commandId) ?? {
      bodyHash: '',
      turnId: null,
      ended: null,
      cancelled: false,
    };
    this.#accepted.set(commandId, { ...known, ...change });
  }
}
