import type { MoveResponse } from '../../../protocol/harn.ts';
import type { Reply } from '../../../protocol/transport/rpc-types.ts';
import type { CutPoint, MoveResult, Overwrite } from '../../host/controls/api.ts';
import type { RestoredFiles } from '../../session/control-events.ts';
import type { EnvironmentPolicy } from '../../session/words.ts';
import * as checks from '../generated/schema-checks.mjs';
import { isoTime } from '../projection/turn-updates.ts';
import { type ControlMethod, type ControlRoom, controlMethod } from './control-method.ts';

type Session = { readonly sessionId: string };
type Overwriting = { readonly overwrite?: Overwrite };
type Cut = { readonly keepFirst?: number; readonly beforeMessageId?: string };
type ForkParams = Session &
  Cut & {
    readonly id?: string;
    readonly branchName?: string;
    readonly environmentPolicy?: EnvironmentPolicy;
  };

/** What moves or copies a conversation, or decides about files. */
export const SHAPE_METHODS: readonly ControlMethod[] = [
  controlMethod<Session & Overwriting & { checkpointId?: string }>(
    'session/rollback',
    checks.rollback,
    'shape',
    async ({ checkpointId, overwrite = [] }, target, { controls }) =>
      moved(
        await controls.rollback(target, {
          overwrite,
          ...(checkpointId === undefined ? {} : { checkpointId }),
        }),
      ),
  ),
  controlMethod<Session & Overwriting>(
    'session/redo',
    checks.redo,
    'shape',
    async ({ overwrite = [] }, target, { controls }) =>
      moved(await controls.redo(target, { overwrite })),
  ),
  controlMethod<Session & Cut & { reason?: string }>(
    'session/truncate',
    checks.truncate,
    'shape',
    async (params, target, { controls }) => {
      const { reason } = params;
      const { prefixHash, ...kept } = await controls.truncate(target, {
        at: cutOf(params),
        ...(reason === undefined ? {} : { reason }),
      });
      return { result: { sessionId: target.sessionId, ...kept, prefix_hash: prefixHash } };
    },
  ),
  controlMethod<ForkParams>('session/fork', checks.fork, 'shape', async (params, target, room) => {
    const { id, branchName, environmentPolicy } = params;
    const request = {
      at: cutOf(params),
      ...(id === undefined ? {} : { id }),
      ...(branchName === undefined ? {} : { branchName }),
      ...(environmentPolicy === undefined ? {} : { environmentPolicy }),
    };
    return await forked(await room.controls.fork(target, request, room.client), branchName, room);
  }),
  controlMethod<Session & { mode?: unknown }>(
    'session/fs_mode',
    checks.sessionOnly,
    'shape',
    async ({ mode }, target, { controls }) => ({ result: await controls.setFsMode(target, mode) }),
  ),
  controlMethod<Session & { paths?: readonly string[] }>(
    'session/fs_commit_staged',
    checks.fsPaths,
    'shape',
    async ({ paths }, target, { controls }) => ({
      result: await controls.commitStaged(target, paths),
    }),
  ),
  controlMethod<Session & { paths?: readonly string[] }>(
    'session/fs_discard_staged',
    checks.fsPaths,
    'shape',
    async ({ paths }, target, { controls }) => ({
      result: await controls.discardStaged(target, paths),
    }),
  ),
  controlMethod<Session & Overwriting & { toolCallId: string; paths?: readonly string[] }>(
    'session/restore_tool_call',
    checks.restoreCall,
    'shape',
    async ({ toolCallId, paths, overwrite = [] }, target, { controls }) => {
      const files = await controls.restoreToolCall(target, {
        toolCallId,
        overwrite,
        ...(paths === undefined ? {} : { paths }),
      });
      return { result: { toolCallId, ...restored(files) } };
    },
  ),
  controlMethod<Session & { path: string; disk?: string; staged: string | null }>(
    '_pilothouse/staged/edit',
    checks.stagedEdit,
    'shape',
    async ({ path, disk, staged }, target, { controls }) => {
      const edit = { path, staged, ...(disk === undefined ? {} : { disk }) };
      await controls.editStaged(target, edit);
      return { result: {} };
    },
  ),
  controlMethod<Session & Overwriting & { checkpointId: string }>(
    '_pilothouse/checkpoints/restore',
    checks.checkpointsRestore,
    'shape',
    async ({ checkpointId, overwrite = [] }, target, { controls }) => ({
      result: restored(await controls.restoreFiles(target, { checkpointId, overwrite })),
    }),
  ),
];

/** A count wins over a message; without either everything is meant. */
function cutOf({ keepFirst, beforeMessageId }: Cut): CutPoint {
  if (keepFirst !== undefined) return { keepFirst };
  return beforeMessageId === undefined ? { whole: true } : { beforeMessageId };
}

function moved(done: MoveResult): { result: MoveResponse } {
  const { files, prefixHash, status, checkpointId, lastEventId } = done;
  const { beforeMessageCount, afterMessageCount } = done;
  return {
    result: {
      status,
      checkpointId,
      beforeMessageCount,
      afterMessageCount,
      fsSnapshotIds: files === null ? [] : [checkpointId],
      redoFsSnapshotIds: files === null ? [] : [files.undo],
      fsRestores: files === null ? [] : [{ snapshotId: checkpointId, ...restored(files) }],
      lastEventId,
      prefix_hash: prefixHash,
    },
  };
}

function restored(files: RestoredFiles): {
  restoredPaths: readonly string[];
  skippedPathsWithReasons: readonly { readonly path: string; readonly reason: string }[];
} {
  return { restoredPaths: files.restored, skippedPathsWithReasons: files.skipped };
}

/** The child says what it is before the answer names it. Source: Harn session control, fork. */
async function forked(
  done: Awaited<ReturnType<ControlRoom['controls']['fork']>>,
  branchName: string | undefined,
  room: ControlRoom,
): Promise<Reply> {
  const { session, parentId, branchedAt, at } = done;
  const { title } = session.describe();
  const facts = {
    state: 'forked',
    parent_id: parentId,
    branched_at: branchedAt,
    ...(branchName === undefined ? {} : { branch_name: branchName }),
  };
  const { result, goLive } = await room.join(session);
  room.tell(session.sessionId, {
    sessionUpdate: 'session_info_update',
    ...(title === null ? {} : { title }),
    _meta: { ...facts, harn: { ...facts, at: isoTime(at) } },
  });
  return { result: { ...result, ...facts }, after: goLive };
}
