import type { AvailableCommand, ContentBlock, StopReason } from '../../../protocol/acp.ts';
import type { Actor } from '../../../protocol/controls.ts';
import type { DurableCommand } from '../commands/command.ts';
import type { ControlEvent } from '../control-events.ts';
import type { HistoryEvent } from '../events.ts';
import { Timeline } from '../history/timeline.ts';
import type {
  CommandId,
  DelegateOrigin,
  GateId,
  LoopId,
  ProcessId,
  SessionConfig,
  Terminal,
  ToolCallId,
  TurnId,
  Usage,
} from '../words.ts';
import { DelegateCalls, type HandedBack } from './delegate-calls.ts';
import { OpenTurn } from './open-turn.ts';

/** How a turn that is over ended. */
export type EndedTurn = {
  readonly turnId: TurnId;
  readonly terminal: Terminal;
  readonly stopReason: StopReason;
  readonly usage: Usage;
};

/** A prompt or other command as the control stream knows it. */
export type KnownCommand = {
  readonly type: DurableCommand['type'];
  readonly bodyHash: string;
  readonly turnId: TurnId | null;
  readonly ended: EndedTurn | null;
  /** How it ended; null while it waits, or runs as a turn of an older version. */
  readonly resolution: string | null;
  readonly reason: string | null;
  /** What a prompt says, until it is resolved. */
  readonly waiting: { readonly content: readonly ContentBlock[]; readonly actor: Actor } | null;
};

/** A prompt that was accepted and has not begun. */
export type WaitingInput = {
  readonly commandId: CommandId;
  readonly content: readonly ContentBlock[];
  readonly actor: Actor;
};

/** Where a record stands, and what brought it about. */
export type RecordPlace = { readonly seq: number; readonly commandIds: readonly CommandId[] };

const NOWHERE: RecordPlace = { seq: 0, commandIds: [] };

/** What a session is, folded from its two streams; the same fold live and after a restart. */
export class SessionState {
  #config: SessionConfig | null = null;
  #title: string | null = null;
  #delegate: DelegateOrigin | null = null;
  #commands: readonly AvailableCommand[] = [];
  #openTurn: TurnId | null = null;
  #activeLoop: LoopId | null = null;
  readonly #started = new Set<ToolCallId>();
  readonly #delegateCalls = new DelegateCalls();
  readonly #openGates = new Set<GateId>();
  readonly #processes = new Set<ProcessId>();
  readonly #accepted = new Map<CommandId, KnownCommand>();
  readonly #turnCommands = new Map<TurnId, CommandId>();
  /** Branches, checkpoints and what can be redone. */
  readonly timeline = new Timeline();
  /** The turn that is open, and its questions. */
  readonly open = new OpenTurn();

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

  /** Whose delegate it is; null for a session's own loop. */
  get delegate(): DelegateOrigin | null {
    return this.#delegate;
  }

  /** Where prompts go that name no loop; null before anybody chose one. */
  get activeLoop(): LoopId | null {
    return this.#activeLoop;
  }

  /** A turn that began and has not ended; after a crash it is the interrupted one. */
  get openTurn(): TurnId | null {
    return this.#openTurn;
  }

  /** Calls that were started and have no result. */
  hasStarted(toolCallId: ToolCallId): boolean {
    return this.#started.has(toolCallId);
  }

  /** What a delegate handed back to a call that has no result yet. */
  handedBack(toolCallId: ToolCallId): HandedBack | undefined {
    return this.#delegateCalls.handedBack(toolCallId);
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

  /** Prompts that were accepted and neither began nor ended, oldest first. */
  get waitingInputs(): readonly WaitingInput[] {
    return [...this.#accepted].flatMap(([commandId, { type, resolution, turnId, waiting }]) => {
      const waits = type === 'user_input' && resolution === null && turnId === null;
      return waits ? [{ commandId, ...(waiting ?? NOTHING_KNOWN) }] : [];
    });
  }

  /** Commands to end or to take back something whose process died before it said what came of them, oldest first. */
  get strandedCommands(): readonly CommandId[] {
    return [...this.#accepted].flatMap(([commandId, { type, resolution }]) =>
      resolution === null && ENDS_AT_ONCE.has(type) ? [commandId] : [],
    );
  }

  /** Takes the next event of the whole history; `at` in milliseconds since the epoch. */
  applyHistory(event: HistoryEvent, at = 0, { seq, commandIds } = NOWHERE): void {
    this.timeline.applyHistory(event, at);
    this.#delegateCalls.apply(event);
    this.open.applyHistory(event, at, seq, commandIds);
    switch (event.type) {
      case 'session_created':
        this.#delegate = event.delegate ?? null;
        this.#config = event.config;
        break;
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
        this.#update(event.commandId, { turnId: event.turnId, waiting: null });
        break;
      case 'turn_ended':
        this.#endTurn(event);
        break;
      default:
        this.#applyOpen(event);
        break;
    }
  }

  /** What is open while it has no end. */
  #applyOpen(event: HistoryEvent): void {
    switch (event.type) {
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
    this.open.applyControl(event);
    switch (event.type) {
      case 'command_issued':
        this.#issued(event);
        break;
      case 'active_loop_changed':
        this.#activeLoop = event.active;
        break;
      case 'command_accepted':
        this.#update(event.commandId, { bodyHash: event.bodyHash });
        break;
      case 'inject_accepted':
        if (event.commandId !== undefined && event.bodyHash !== undefined)
          this.#update(event.commandId, { type: 'inject', bodyHash: event.bodyHash });
        break;
      case 'command_resolved':
        this.#update(event.commandId, {
          resolution: event.resolution,
          reason: event.reason ?? null,
          waiting: null,
        });
        break;
      default:
        break;
    }
  }

  #issued({ command, bodyHash }: Extract<ControlEvent, { type: 'command_issued' }>): void {
    const { command_id, type, actor } = command;
    // A restart reads the history first: what has begun need not be kept.
    const begun = this.#accepted.get(command_id)?.turnId ?? null;
    const waiting =
      command.type === 'user_input' && begun === null ? { content: command.blocks, actor } : null;
    this.#update(command_id, { type, bodyHash, waiting });
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
      type: 'user_input',
      bodyHash: '',
      turnId: null,
      ended: null,
      resolution: null,
      reason: null,
      waiting: null,
    };
    this.#accepted.set(commandId, { ...known, ...change });
  }
}

/** What is resolved as soon as it is issued; what it was about is settled by a restart in any case. */
const ENDS_AT_ONCE: ReadonlySet<DurableCommand['type']> = new Set([
  'cancel',
  'cancel_queued_input',
  'cancel_delegate_request',
  'shutdown',
]);

/** What older versions kept of a prompt that waited. */
const NOTHING_KNOWN = {
  content: [],
  actor: { clientId: 'unknown', role: 'host_owner', source: 'acp' },
} as const satisfies Omit<WaitingInput, 'commandId'>;
