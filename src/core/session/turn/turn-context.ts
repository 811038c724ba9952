import type { CompactDesk } from '../control/compact-desk.ts';
import type { NewDirective } from '../control/directives.ts';
import type { SeamPass } from '../control/seams.ts';
import type { SessionDeps, SessionResources } from '../deps.ts';
import type { HistoryEvent } from '../events.ts';
import type { GateAnswer } from '../gate-words.ts';
import type { Model, ToolDefinition } from '../model.ts';
import type { Conversation } from '../state/conversation.ts';
import type { ParkedTurn } from '../state/parked.ts';
import type { Recorder } from '../state/recorder.ts';
import type { Tool } from '../tool.ts';
import type { Seam, SessionConfig, SessionId, ToolCallId, TurnId } from '../words.ts';
import type { AskGate } from './ask-gate.ts';
import type { ProgressWatch } from './progress.ts';
import type { RuleNews } from './rule-news.ts';
import type { TextStream } from './text-stream.ts';
import type { ToolCalls } from './tool-calls.ts';

/** What a running turn works with; the snapshot it began with does not change (design §4.6). */
export type TurnContext = {
  readonly sessionId: SessionId;
  readonly turnId: TurnId;
  readonly config: SessionConfig;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly definitions: readonly ToolDefinition[];
  readonly deps: SessionDeps;
  readonly resources: SessionResources;
  readonly recorder: Recorder;
  /** Asks a person; see `AskGate`. */
  readonly ask: AskGate;
  /** What the person said before a restart about a call whose turn goes on now; null for every other. */
  readonly answerBefore: (toolCallId: ToolCallId) => Promise<GateAnswer | null>;
  /** Withdraws the questions of before a restart that were not asked again. */
  readonly abandonRestored: () => Promise<void>;
  /** Of the rules that lasting answers store. */
  readonly rules: RuleNews;
  /** Where a turn stood that goes on after a restart. */
  readonly parked: ParkedTurn | null;
  readonly conversation: Conversation;
  readonly signal: AbortSignal;
  /** Visits a seam: delivers what is due there and announces the pass. `dropped` are the results of a batch that an interrupt drops here. */
  readonly passSeam: (
    seam: Seam,
    iteration: number,
    dropped?: () => readonly HistoryEvent[],
  ) => Promise<SeamPass>;
  /** Visits a seam in the middle of a batch, whose calls must have their results first: nothing is delivered. */
  readonly announceSeam: (seam: Seam) => Promise<void>;
  /** Aborts on Stop and as soon as an interrupt waits for its seam; ask anew after each seam. */
  readonly attention: () => AbortSignal;
  /** Closes the turn to messages; false if one waits that the agent must read first, unless it is forced. */
  readonly closeSeams: (isForced: boolean) => boolean;
  /** A directive of the engine's own, issued at the next seam between two replies. */
  readonly tellDirective: (directive: NewDirective) => void;
  /** Compactions that somebody asked for. */
  readonly compactions: Pick<CompactDesk, 'atBoundary'>;
  /** The calls that have no result yet. */
  readonly calls: ToolCalls;
  readonly watch: ProgressWatch;
  /** Stops the turn because something threw that should not have. */
  readonly fail: (cause: unknown) => void;
  /** Makes the text that is streaming visible to late subscribers; null when a reply is complete. */
  readonly setStream: (stream: TextStream | null) => void;
  /** The model of this turn; resolved anew for each attempt, since a sign-in may have changed it. */
  readonly resolveModel: () => Promise<Model>;
};
