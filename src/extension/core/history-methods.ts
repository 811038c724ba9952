import type { SessionConfigOption } from '../../protocol/acp.ts';
import type { Overwrite, SkippedPath } from '../../protocol/checkpoint-shapes.ts';
import type { MoveResponse } from '../../protocol/harn.ts';

/** Where a conversation is cut: before this message of the person's, or behind so many messages. */
export type CutParams = { beforeMessageId: string } | { keepFirst: number };

/**
 * Requests that move or copy a conversation, put files back, or decide about staged ones: method → [params, result].
 * Source: Harn control extension; what a rollback may overwrite, and where to cut by message, is ours.
 */
export type HistoryMethods = {
  'session/rollback': [
    { sessionId: string; checkpointId?: string; overwrite?: Overwrite },
    MoveResponse,
  ];
  'session/redo': [{ sessionId: string; overwrite?: Overwrite }, MoveResponse];
  'session/truncate': [
    { sessionId: string; reason?: string } & CutParams,
    { sessionId: string; keptTurnCount: number; removedTurnCount: number },
  ];
  'session/fork': [
    { sessionId: string } & Partial<CutParams>,
    { sessionId: string; configOptions?: readonly SessionConfigOption[] },
  ];
  'session/restore_tool_call': [
    { sessionId: string; toolCallId: string; overwrite?: Overwrite },
    { restoredPaths: readonly string[]; skippedPathsWithReasons: readonly SkippedPath[] },
  ];
  'session/fs_mode': [
    { sessionId: string; mode: 'immediate' | 'staged' },
    { previousMode: string; mode: string },
  ];
  'session/fs_commit_staged': [
    { sessionId: string; paths?: readonly string[] },
    {
      committedPaths: readonly string[];
      failedPathsWithReasons: readonly SkippedPath[];
    },
  ];
  'session/fs_discard_staged': [
    { sessionId: string; paths?: readonly string[] },
    { discardedPaths: readonly string[] },
  ];
};
