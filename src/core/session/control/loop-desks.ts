import type { Actor } from '../../../protocol/controls.ts';
import type { CommandStamp } from '../commands/stamp.ts';
import type { SessionDeps } from '../deps.ts';
import type { Conversation } from '../state/conversation.ts';
import { PromptDesk } from '../state/prompt-desk.ts';
import type { Recorder } from '../state/recorder.ts';
import type { SessionState } from '../state/session-state.ts';
import type { CommandId, SessionId } from '../words.ts';
import { CompactDesk } from './compact-desk.ts';
import type { Compactions } from './compactions.ts';
import type { Inbox } from './inbox.ts';
import { InjectDesk } from './inject-desk.ts';
import { MachineDesk } from './machine-desk.ts';
import type { MachineInbox } from './machine-inbox.ts';
import { NextTurnDesk } from './next-turn-desk.ts';
import type { NextTurnQueue } from './next-turns.ts';
import { Seams } from './seams.ts';

/** What a loop gives to the desks that act beside its turns. */
export type LoopDeskParts = {
  readonly sessionId: SessionId;
  readonly deps: SessionDeps;
  readonly recorder: Recorder;
  readonly stamp: CommandStamp;
  readonly state: SessionState;
  /** The current one; another after each move of the history. */
  readonly conversation: Conversation;
  readonly inbox: Inbox;
  readonly nextTurns: NextTurnQueue;
  readonly machine: MachineInbox;
  readonly compactions: Compactions;
};

/** What the desks ask of their loop. */
export type LoopHooks = {
  readonly isFaulted: () => boolean;
  /** True while a turn runs and was not stopped. */
  readonly isRunning: () => boolean;
  /** Begins what waits, unless that has to wait still. */
  readonly begin: () => void;
  /** Keeps turns from beginning until what it returns is called. */
  readonly hold: () => () => void;
  /** Stops the running turn and every prompt that waits, so that a message can be sent now. */
  readonly makeWay: (actor: Actor) => void;
  /** Tells subscribers whether the session works and waits. */
  readonly announce: () => void;
  /** Tells subscribers what waits. */
  readonly announcePending: () => void;
};

/** The desks of one loop. */
export type LoopDesks = {
  readonly prompts: PromptDesk;
  readonly nextTurns: NextTurnDesk;
  readonly seams: Seams;
  readonly injects: InjectDesk;
  readonly machine: MachineDesk;
  readonly compactions: CompactDesk;
};

/** Makes them. */
export function loopDesks(parts: LoopDeskParts, hooks: LoopHooks): LoopDesks {
  const { sessionId, deps, recorder, stamp, inbox } = parts;
  const { prompts, nextTurns } = turnDesks(parts, hooks);
  const { machine, compactions } = sideDesks(parts, hooks, (commandId) => {
    return prompts.knows(commandId) || nextTurns.reserves(commandId);
  });
  const seams = new Seams({
    sessionId,
    recorder,
    inbox,
    machine,
    directives: () => parts.conversation.directives,
    clock: deps.clock,
    ids: deps.ids,
    withDirectives: deps.directives ?? true,
  });
  const { isRunning, announcePending: announce } = hooks;
  const injects = new InjectDesk({
    sessionId,
    deps,
    recorder,
    stamp,
    inbox,
    seams,
    isRunning,
    announce,
  });
  return { prompts, nextTurns, seams, injects, machine, compactions };
}

/** Those that keep what waits for a turn of its own. */
function turnDesks(
  { deps, recorder, stamp, state, nextTurns: queue }: LoopDeskParts,
  { begin, makeWay, announce, announcePending }: LoopHooks,
): Pick<LoopDesks, 'prompts' | 'nextTurns'> {
  const prompts = new PromptDesk({
    recorder,
    state,
    stamp,
    digest: deps.digest,
    isReserved: (commandId) => nextTurns.reserves(commandId),
    begin,
    announce,
  });
  const nextTurns = new NextTurnDesk({
    queue,
    recorder,
    ids: deps.ids,
    clock: deps.clock,
    isTaken: (commandId) => prompts.knows(commandId),
    isHeld: (commandId) => state.command(commandId)?.resolution === 'held',
    wake: begin,
    makeWay,
    announce: announcePending,
  });
  return { prompts, nextTurns };
}

/** Those that act beside turns. */
function sideDesks(
  parts: LoopDeskParts,
  { isFaulted, begin, hold }: LoopHooks,
  isTaken: (commandId: CommandId) => boolean,
): Pick<LoopDesks, 'machine' | 'compactions'> {
  const { sessionId, deps, recorder, stamp } = parts;
  return {
    machine: new MachineDesk({
      inbox: parts.machine,
      recorder,
      stamp,
      digest: deps.digest,
      isStopped: () => isFaulted() || recorder.isDisposed,
      isPaused: () => parts.nextTurns.paused !== null,
      wake: begin,
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
      wake: begin,
      hold,
    }),
  };
}
