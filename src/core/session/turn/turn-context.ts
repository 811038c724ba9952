import type { SessionDeps, SessionResources } from '../deps.ts';
import type { Model, ToolDefinition } from '../model.ts';
import type { Conversation } from '../state/conversation.ts';
import type { Gates } from '../state/gates.ts';
import type { Recorder } from '../state/recorder.ts';
import type { Tool } from '../tool.ts';
import type { Seam, SessionConfig, SessionId, TurnId } from '../words.ts';
import type { TextStream } from './text-stream.ts';

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
  readonly gates: Gates;
  readonly conversation: Conversation;
  readonly signal: AbortSignal;
  /** Visits a seam: delivers what is due there and announces the pass. */
  readonly passSeam: (seam: Seam, iteration: number) => Promise<void>;
  /** Makes the text that is streaming visible to late subscribers; null when a reply is complete. */
  readonly setStream: (stream: TextStream | null) => void;
  /** The model of this turn; resolved anew for each attempt, since a sign-in may have changed it. */
  readonly resolveModel: () => Promise<Model>;
};
