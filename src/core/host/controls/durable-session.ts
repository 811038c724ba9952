import type { Actor } from '../../../protocol/controls.ts';
import type { ListedLoop } from '../../../protocol/pilothouse.ts';
import type { LoopEntries } from '../../session/commands/entry-points.ts';
import type { CommandOrigin } from '../../session/commands/stamp.ts';
import type { CheckpointFiles } from '../../session/control-events.ts';
import type { LoopId, SessionId } from '../../session/words.ts';
import type { OpenGate } from '../api.ts';

/** A live session with its delegates, as durable commands reach it. */
export interface DurableSession {
  readonly sessionId: SessionId;
  /** Where prompts go that name no loop. */
  readonly activeLoopId: LoopId;
  /**
   * The ways into a loop: at once for the root loop; a delegate may have to be brought to life. Null if the session has
   * none of this id, or it has ended.
   */
  entries(loopId: LoopId): LoopEntries | Promise<LoopEntries | null>;
  /** Its own and those of its delegates. */
  openGates(): readonly OpenGate[];
  /** The root loop and its delegates, parents before children. */
  listLoops(): readonly ListedLoop[];
  /** Resolves when it is on disk. The loop is one of this session. */
  activate(loopId: LoopId, actor: Actor): Promise<void>;
  /** Steers a delegate that runs, or gives one that idles another request. */
  messageDelegate(
    loopId: LoopId,
    text: string,
    origin: CommandOrigin,
  ): Promise<{ readonly requestId: string; readonly delivery: 'steered' | 'started' }>;
  /** False if nothing ran in it. */
  stopDelegate(loopId: LoopId, actor: Actor): Promise<boolean>;
  /** Keeps the files of the workspace as they are; resolves when that is on disk. A repeat keeps nothing anew. */
  createCheckpoint(origin: CommandOrigin): Promise<{
    readonly checkpointId: string;
    readonly files: CheckpointFiles;
    readonly isRepeat: boolean;
  }>;
}
