import { canonicalJson } from '../../../base/canonical-json.ts';
import type { HandBack } from '../commands/entry-points.ts';
import type { CommandOrigin, CommandStamp } from '../commands/stamp.ts';
import type { ControlEvent } from '../control-events.ts';
import type { HistoryEvent } from '../events.ts';
import type { NewRecord } from '../ports.ts';
import { controlRecords } from '../records.ts';
import { HOST } from '../state/gates.ts';
import { type PendingPrompt, pendingPrompt } from '../state/prompts.ts';
import type { Recorder } from '../state/recorder.ts';
import type { ProcessInfo } from '../tool.ts';
import type { CommandId, MessageId, ProcessId, TurnId } from '../words.ts';
import type { IssuedMachineCommand, MachineCommand, MachineInbox } from './machine-inbox.ts';

/** What the desk works with. */
export type MachineDeskParts = {
  readonly inbox: MachineInbox;
  readonly recorder: Recorder;
  readonly stamp: CommandStamp;
  /** SHA-256 of UTF-8 text. */
  readonly digest: (text: string) => string;
  /** True once nothing can be recorded any more. */
  readonly isStopped: () => boolean;
  /** True while the next-turn queue is paused: then nothing begins by itself. */
  readonly isPaused: () => boolean;
  /** Begins the next turn if none runs. */
  readonly wake: () => void;
};

type EndedProcess = Extract<HistoryEvent, { type: 'process_ended' }>;

/**
 * Takes what the machine has to tell the model: ends of processes, results of delegates. Each is on disk before
 * anything comes of it, and the model reads it once: at a seam of a turn, or, a delegate's result that finds the loop
 * idle, as the beginning of a turn. After a Stop or a restart nothing begins by itself until a turn has begun.
 */
export class MachineDesk {
  readonly #parts: MachineDeskParts;
  /** As it is before the first turn in this process. */
  #isQuiet = true;

  constructor(parts: MachineDeskParts) {
    this.#parts = parts;
  }

  /** See `LoopEntries.notifyProcess`. */
  async notifyProcess(
    info: ProcessInfo,
  ): Promise<'accepted' | 'duplicate' | 'collision' | 'stopped'> {
    const { processId, exitCode, signal } = info;
    const state = info.state === 'stopped' ? 'stopped' : 'exited';
    const ended: EndedProcess = { type: 'process_ended', processId, state, exitCode, signal };
    const issued = this.#issuedEnd(ended);
    const known = this.#parts.inbox.issued(issued.command.command_id);
    if (known !== undefined) {
      await this.#parts.recorder.settled();
      return known === issued.bodyHash ? 'duplicate' : 'collision';
    }
    if (this.#parts.isStopped()) return 'stopped';
    await this.#append(issued, ended);
    return 'accepted';
  }

  /** See `LoopEntries.handBack`. */
  async handBack(result: HandBack): Promise<'accepted' | 'duplicate' | 'stopped'> {
    const { inbox, recorder, isStopped, wake } = this.#parts;
    const { requestId, loopId, outcome, text, usage, background } = result;
    if (inbox.issued(resultId(requestId)) !== undefined) {
      await recorder.settled();
      return 'duplicate';
    }
    if (isStopped()) return 'stopped';
    const issued = this.#issuedResult(result);
    const ended: HistoryEvent = {
      type: 'delegate_ended',
      requestId,
      loopId,
      outcome,
      text,
      usage,
    };
    await this.#append(issued, ended, background ? [] : [resolved(resultId(requestId), 'applied')]);
    if (background) wake();
    return 'accepted';
  }

  /**
   * The records of what a restart found, with the notification of each process that was lost with the one before this:
   * the model reads it in its next turn, which does not begin by itself.
   */
  restored(found: readonly NewRecord[]): readonly NewRecord[] {
    const { inbox } = this.#parts;
    return found.flatMap((record): readonly NewRecord[] => {
      const { event } = record;
      if (event.type !== 'process_ended') return [record];
      const issued = this.#issuedEnd(event);
      if (inbox.issued(issued.command.command_id) !== undefined) return [record];
      inbox.applyControl(issued);
      return issuedRecords(issued, event);
    });
  }

  /** Nothing begins by itself until a turn has begun: somebody pressed Stop. */
  quiet(): void {
    this.#isQuiet = true;
  }

  /** A turn begins: whoever sent it is there. */
  awake(): void {
    this.#isQuiet = false;
  }

  /** True if a turn would begin as soon as nothing runs. */
  get willBegin(): boolean {
    return this.#next() !== null;
  }

  /** The prompt that stands for a delegate's result, whose turn it is now; null if there is none. It counts as read. */
  take(): PendingPrompt | null {
    const issued = this.#next();
    if (issued === null) return null;
    const { inbox } = this.#parts;
    const { command_id: commandId, actor, agency } = issued.command;
    const content = [{ type: 'text', text: inbox.textOf(issued.command) }] as const;
    inbox.applyControl(resolved(commandId, 'started'));
    // Every Stop that is heard from now on was meant for it.
    const prompt = pendingPrompt({ order: 0, commandId, content, actor, agency }, issued);
    prompt.accepted = true;
    return prompt;
  }

  /** The messages of everything that waits, each once, with the end of its command; they count as read. */
  messages(turnId: TurnId, newMessageId: () => MessageId): readonly NewRecord[] {
    const { inbox } = this.#parts;
    return inbox.waiting().flatMap(({ command }): readonly NewRecord[] => {
      const { command_id: commandId } = command;
      const text = inbox.textOf(command);
      const event: HistoryEvent = {
        type: 'machine_message',
        turnId,
        messageId: newMessageId(),
        text,
      };
      inbox.applyHistory(event, [commandId]);
      return [
        { stream: 'history', event, cause: { command_ids: [commandId] } },
        { stream: 'control', event: resolved(commandId, 'folded') },
      ];
    });
  }

  /** A person's turn reads what waits at its first seam; only a result is worth a turn of its own. */
  #next(): IssuedMachineCommand | null {
    if (this.#isQuiet || this.#parts.isPaused()) return null;
    const waiting = this.#parts.inbox.waiting();
    return waiting.find(({ command }) => command.type === 'subagent_result') ?? null;
  }

  #issuedEnd({ processId, state, exitCode, signal }: EndedProcess): IssuedMachineCommand {
    return this.#issued(
      this.#parts.stamp.stamp(
        'process_notification',
        { process_id: processId, state, exit_code: exitCode, signal },
        machine(endId(processId)),
      ),
    );
  }

  #issuedResult({ requestId, loopId, outcome, text, background }: HandBack): IssuedMachineCommand {
    const cause = { command_ids: [requestId], loop_id: loopId };
    return this.#issued(
      this.#parts.stamp.stamp(
        'subagent_result',
        { request_id: requestId, outcome, background, blocks: [{ type: 'text', text }] },
        { ...machine(resultId(requestId)), cause },
      ),
    );
  }

  #issued(command: MachineCommand): IssuedMachineCommand {
    const bodyHash = this.#parts.digest(canonicalJson(command));
    return { type: 'command_issued', command, bodyHash };
  }

  async #append(
    issued: IssuedMachineCommand,
    ended: HistoryEvent,
    resolution: readonly ControlEvent[] = [],
  ): Promise<void> {
    const { inbox, recorder } = this.#parts;
    inbox.applyControl(issued);
    await recorder.append([...issuedRecords(issued, ended), ...controlRecords(resolution)]);
  }
}

/** A command with what it tells the end of. */
function issuedRecords(issued: IssuedMachineCommand, ended: HistoryEvent): readonly NewRecord[] {
  const cause = { command_ids: [issued.command.command_id] };
  return [
    { stream: 'control', event: issued },
    { stream: 'history', event: ended, cause },
  ];
}

/** The id of the notification of a process: it can be told again. */
export function endId(processId: ProcessId): CommandId {
  return `${processId}/ended` as CommandId;
}

/** The id of the hand-back of a request: there is one. */
export function resultId(requestId: CommandId): CommandId {
  return `${requestId}/result` as CommandId;
}

function machine(commandId: CommandId): CommandOrigin {
  return { actor: HOST, agency: 'machine', commandId };
}

function resolved(
  commandId: CommandId,
  resolution: 'applied' | 'folded' | 'started',
): ControlEvent {
  return { type: 'command_resolved', commandId, resolution };
}
