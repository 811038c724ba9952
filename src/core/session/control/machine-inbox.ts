import type { ProcessNotification, SubagentResult } from '../commands/command.ts';
import type { ControlEvent } from '../control-events.ts';
import type { HistoryEvent } from '../events.ts';
import type { CommandId, LoopId, ProcessId } from '../words.ts';
import { textOf } from './directives.ts';

/** A command whose text the model has to read. */
export type MachineCommand = ProcessNotification | SubagentResult;

/** The record of such a command. */
export type IssuedMachineCommand = Extract<ControlEvent, { type: 'command_issued' }> & {
  readonly command: MachineCommand;
};

/** What is known of the thing that a command tells the end of, for its text. */
export type MachineNames = {
  /** The command line of the process. */
  readonly commandLine?: string;
  /** What the delegate is called. */
  readonly delegate?: string;
};

/**
 * What the machine has to say and the model has still to read, folded from both streams: commands that were issued
 * without a `machine_message` or a turn that names them. Live, an event is applied when its append is asked for. It
 * doesn't matter which stream is folded first, and an event that is applied twice counts once.
 */
export class MachineInbox {
  readonly #issued = new Map<CommandId, string>();
  readonly #waiting = new Map<CommandId, IssuedMachineCommand>();
  readonly #read = new Set<CommandId>();
  readonly #resolved = new Set<CommandId>();
  readonly #commandLines = new Map<ProcessId, string>();
  readonly #delegates = new Map<LoopId, string>();

  applyControl(event: ControlEvent): void {
    if (event.type === 'command_resolved') this.#resolve(event.commandId);
    if (event.type !== 'command_issued') return;
    const { command, bodyHash } = event;
    if (command.type !== 'process_notification' && command.type !== 'subagent_result') return;
    const { command_id: commandId } = command;
    if (this.#issued.has(commandId)) return;
    this.#issued.set(commandId, bodyHash);
    if (isForModel(command) && !this.#isOver(commandId))
      this.#waiting.set(commandId, { ...event, command });
  }

  /** `causes` are the ids in the cause of the event's record. */
  applyHistory(event: HistoryEvent, causes: readonly CommandId[]): void {
    switch (event.type) {
      case 'machine_message':
        for (const commandId of causes) this.#markRead(commandId);
        break;
      case 'turn_started':
        this.#markRead(event.commandId);
        break;
      case 'process_started':
        this.#commandLines.set(event.processId, event.command);
        break;
      case 'delegate_started':
        this.#delegates.set(event.loopId, event.name);
        break;
      default:
        break;
    }
  }

  /** The body that a command id was issued with; undefined for one that was not. */
  issued(commandId: CommandId): string | undefined {
    return this.#issued.get(commandId);
  }

  /** What the model has not read yet, oldest first. */
  waiting(): readonly IssuedMachineCommand[] {
    return [...this.#waiting.values()];
  }

  /** The text that the model reads. */
  textOf(command: MachineCommand): string {
    return machineText(command, this.#namesOf(command));
  }

  #namesOf(command: MachineCommand): MachineNames {
    if (command.type === 'process_notification') {
      const commandLine = this.#commandLines.get(command.process_id);
      return commandLine === undefined ? {} : { commandLine };
    }
    const loopId = command.cause?.loop_id;
    const delegate = loopId === undefined ? undefined : this.#delegates.get(loopId);
    return delegate === undefined ? {} : { delegate };
  }

  #markRead(commandId: CommandId): void {
    this.#read.add(commandId);
    this.#waiting.delete(commandId);
  }

  #resolve(commandId: CommandId): void {
    this.#resolved.add(commandId);
    this.#waiting.delete(commandId);
  }

  #isOver(commandId: CommandId): boolean {
    return this.#read.has(commandId) || this.#resolved.has(commandId);
  }
}

/** A foreground result is read as the result of the call that waited for it. */
function isForModel(command: MachineCommand): boolean {
  return command.type === 'process_notification' || command.background;
}

/** What the model reads of a command: the same words for the same command. */
export function machineText(command: MachineCommand, names: MachineNames = {}): string {
  return command.type === 'process_notification'
    ? processText(command, names.commandLine)
    : resultText(command, names.delegate);
}

function processText(command: ProcessNotification, commandLine: string | undefined): string {
  const { process_id: processId, state, exit_code: exitCode, signal } = command;
  const process =
    commandLine === undefined
      ? `The background process ${processId}`
      : `The background process ${processId} (${commandLine})`;
  if (state === 'lost')
    return `${process} is lost: the program that ran it ended. It and its process group are gone; how it ended is not known. Start it again if it is still needed.`;
  const how = signal === null ? `exit code ${exitCode ?? 'unknown'}` : `signal ${signal}`;
  return `${process} ${state === 'stopped' ? 'was stopped' : 'ended'} with ${how}.`;
}

const OUTCOMES: Readonly<Record<SubagentResult['outcome'], string>> = {
  completed: 'has done its task',
  failed: 'failed',
  cancelled: 'was cancelled',
  interrupted: 'was interrupted',
};

function resultText(command: SubagentResult, name: string | undefined): string {
  const loopId = command.cause?.loop_id ?? 'unknown';
  const who = name === undefined ? `The delegate ${loopId}` : `The delegate "${name}" (${loopId})`;
  return `${who} ${OUTCOMES[command.outcome]}. Its result for request ${command.request_id}:\n${textOf(command.blocks)}`;
}
