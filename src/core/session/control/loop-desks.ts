import type { CommandStamp } from '../commands/stamp.ts';
import type { SessionDeps } from '../deps.ts';
import type { Conversation } from '../state/conversation.ts';
import type { Recorder } from '../state/recorder.ts';
import type { SessionState } from '../state/session-state.ts';
import type { CommandId, SessionId } from '../words.ts';
import { CompactDesk } from './compact-desk.ts';
import type { Compactions } from './compactions.ts';
import { MachineDesk } from './machine-desk.ts';
import type { MachineInbox } from './machine-inbox.ts';
import type { NextTurnQueue } from './next-turns.ts';

/** What a loop gives to the desks that act beside its turns. */
export type LoopDeskParts = {
  readonly sessionId: SessionId;
  readonly deps: SessionDeps;
  readonly recorder: Recorder;
  readonly stamp: CommandStamp;
  readonly state: SessionState;
  /** The current one; another after each move of the history. */
  readonly conversation: Conversation;
  readonly nextTurns: NextTurnQueue;
  readonly machine: MachineInbox;
  readonly compactions: Compactions;
};

/** What the desks ask of their loop. */
export type LoopHooks = {
  readonly isFaulted: () => boolean;
  /** True if the id belongs to a command of another kind. */
  readonly isTaken: (commandId: CommandId) => boolean;
  /** Begins what waits if nothing runs. */
  readonly wake: () => void;
  /** Keeps turns from beginning until what it returns is called. */
  readonly hold: () => () => void;
};

/** The desks of one loop. */
export function loopDesks(
  parts: LoopDeskParts,
  { isFaulted, isTaken, wake, hold }: LoopHooks,
): { readonly machine: MachineDesk; readonly compactions: CompactDesk } {
  const { sessionId, deps, recorder, stamp } = parts;
  return {
    machine: new MachineDesk({
      inbox: parts.machine,
      recorder,
      stamp,
      digest: deps.digest,
      isStopped: () => isFaulted() || recorder.isDisposed,
      isPaused: () => parts.nextTurns.paused !== null,
      wake,
    }),
    compactions: new CompactDesk({
      sessionId,
      deps,
      recorder,
      stamp,
      compactions: parts.compactions,
      conversation: () => parts.conversation,
      config: () => parts.state.config,
      isTaken,
      wake,
      hold,
    }),
  };
}
