import { rm } from 'node:fs/promises';
import path from 'node:path';
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../session/ports.ts';
import type { Workspace } from '../session/tool.ts';
import type { SessionId } from '../session/words.ts';
import { findOnHost } from '../tools/run/host-executables.ts';
import { sessionFolder } from './folder.ts';
import { type CheckpointLimits, DEFAULT_LIMITS } from './limits.ts';
import { SessionCheckpoints } from './session-checkpoints.ts';

/** What the checkpoints of one session are created from. */
export type CheckpointOptions = {
  readonly sessionId: SessionId;
  readonly workspace: Workspace;
  /** Where all sessions' checkpoints lie, in the data folder. */
  readonly folder: string;
  /** The environment of children, already cleaned. */
  readonly environment: NodeJS.ProcessEnv;
  readonly clock: Clock;
  readonly log: Log;
  readonly limits?: Partial<CheckpointLimits>;
};

/** Makes the checkpoints of a session. Nothing is read, written or started before its first effect. */
export function createCheckpoints(options: CheckpointOptions): SessionCheckpoints {
  const { sessionId, workspace, folder, environment, clock, log, limits } = options;
  return new SessionCheckpoints({
    roots: workspace.roots,
    folder: sessionFolder(folder, sessionId),
    ownFolder: path.dirname(folder),
    environment,
    findGit: () => findOnHost('git', environment),
    limits: { ...DEFAULT_LIMITS, ...limits },
    clock,
    log,
  });
}

/** Removes all that is kept of a session's files. Nothing happens if there is nothing. */
export async function deleteCheckpoints(folder: string, sessionId: SessionId): Promise<void> {
  await rm(sessionFolder(folder, sessionId), {
    recursive: true,
    force: true,
    maxRetries: 3,
  });
}
