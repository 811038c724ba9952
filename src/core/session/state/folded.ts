import type { AvailableCommand } from '../../../protocol/acp.ts';
import type { Compactions } from '../control/compactions.ts';
import type { Inbox } from '../control/inbox.ts';
import type { MachineInbox } from '../control/machine-inbox.ts';
import type { NextTurnQueue } from '../control/next-turns.ts';
import type { NextTurns, PendingMessage } from '../control-events.ts';
import type { LoopSignal } from '../events.ts';
import type { CallOutput } from '../turn/tool-calls.ts';
import type { ToolCallId, TurnId } from '../words.ts';
import type { Conversation } from './conversation.ts';
import type { OpenGate } from './gates.ts';
import type { Tip } from './recorder.ts';
import type { SessionState } from './session-state.ts';

/** The state at the moment of a subscription; with the signals that follow there is no gap and no repeat. */
export type SessionSnapshot = Tip & {
  readonly commands: readonly AvailableCommand[];
  readonly activeTurn: TurnId | null;
  readonly gates: readonly OpenGate[];
  /** Text already streamed but not yet in the history, per message and kind. */
  readonly partial: readonly {
    readonly messageId: string;
    readonly kind: 'text' | 'thought';
    readonly offset: number;
    readonly text: string;
  }[];
  /** The end of what calls that run now have said, and what they show in front of it. */
  readonly outputs: readonly ({ readonly toolCallId: ToolCallId } & CallOutput)[];
  /** Messages that wait for their seam, and for their turn. */
  readonly pending: readonly PendingMessage[];
  readonly nextTurns: NextTurns;
};

/** The folds of a stored session. */
export type Folded = {
  readonly state: SessionState;
  readonly conversation: Conversation;
  readonly inbox: Inbox;
  readonly nextTurns: NextTurnQueue;
  readonly machine: MachineInbox;
  readonly compactions: Compactions;
};

/** Takes a record of the live session into its folds, all but the conversation, which may be another after a move. */
export function foldSignal({ state, machine, compactions }: Folded, signal: LoopSignal): void {
  if (signal.stream === 'history') {
    const { event, seq, at, cause } = signal.record;
    state.applyHistory(event, at, { seq, commandIds: cause.command_ids });
    machine.applyHistory(event, cause.command_ids);
    compactions.applyHistory(event, cause.command_ids);
  } else if (signal.stream === 'control') state.applyControl(signal.record.event, signal.record.at);
}
