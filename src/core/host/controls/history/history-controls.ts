import { resolve } from 'node:path';
import { ControlRefused } from '../../../session/control/refusal.ts';
import type { RestoredFiles } from '../../../session/control-events.ts';
import type { Timeline } from '../../../session/history/timeline.ts';
import type { CheckpointId, ToolCallId } from '../../../session/words.ts';
import type { CheckpointInfo, ControlTarget, HistoryControls, MoveResult } from '../api.ts';
import type { Outcome } from '../receipts/receipt-of.ts';
import type { Receipted, ReceiptWriter } from '../receipts/receipted.ts';
import type { SessionForks } from './fork.ts';
import { redo, rollBack, type Truncated, truncate } from './history-moves.ts';
import type { HistorySession, HistorySessions } from './history-session.ts';
import { listedCheckpoints } from './listed-checkpoints.ts';
import { planFor, restored, restoreTarget } from './restores.ts';

/** What the history controls are made of. */
export type HistoryDeskParts = {
  readonly sessions: HistorySessions;
  readonly receipts: ReceiptWriter;
  readonly forks: SessionForks;
  /** What moved over a session's history, live or stored. Throws `host.unknown_session`. */
  readonly timeline: (sessionId: string) => Promise<Timeline>;
};

/** What moves or copies a conversation, each with its receipt. */
export class HistoryDesk implements HistoryControls {
  readonly #parts: HistoryDeskParts;

  constructor(parts: HistoryDeskParts) {
    this.#parts = parts;
  }

  rollback(
    target: ControlTarget,
    request: Parameters<HistoryControls['rollback']>[1],
  ): Promise<MoveResult> {
    const { checkpointId } = request;
    return this.#parts.receipts.run(
      'session/rollback',
      target,
      () =>
        this.#idle(target, async (session) =>
          moved(await rollBack(session, request, target.actor)),
        ),
      checkpointId === undefined ? {} : { checkpointId },
    );
  }

  redo(
    target: ControlTarget,
    request: Parameters<HistoryControls['redo']>[1],
  ): Promise<MoveResult> {
    return this.#parts.receipts.run('session/redo', target, () =>
      this.#idle(target, async (session) => moved(await redo(session, request, target.actor))),
    );
  }

  truncate(
    target: ControlTarget,
    request: Parameters<HistoryControls['truncate']>[1],
  ): Promise<Truncated> {
    const { at } = request;
    const { sessions, receipts } = this.#parts;
    return receipts.run('session/truncate', target, () => {
      const order = sessions.nextOrder();
      return sessions.using(target.sessionId, (session) => {
        // A cut that is refused stops nothing.
        session.conversation.marks.cut(at);
        const stop = (): void => {
          session.cancelBefore(order, { kind: 'cancelled', by: target.actor.clientId });
        };
        return session.exclusively(
          async () => cutOff(await truncate(session, at, target.actor), request.reason),
          stop,
        );
      });
    });
  }

  fork(
    target: ControlTarget,
    request: Parameters<HistoryControls['fork']>[1],
    client: Parameters<HistoryControls['fork']>[2],
  ): ReturnType<HistoryControls['fork']> {
    const { id } = request;
    return this.#parts.receipts.run(
      'session/fork',
      target,
      async () => {
        const forked = await this.#parts.forks.fork(target, request, client);
        const { sessionId, lastEventId, prefixHash } = forked.session.describe();
        return {
          result: forked,
          outcome: {
            outcome: 'forked',
            status: 'accepted',
            metadata: { branchedAt: forked.branchedAt, lastEventId, prefixHash },
          },
          target: { childId: sessionId },
        };
      },
      id === undefined ? {} : { childId: id },
    );
  }

  async checkpoints(sessionId: string): Promise<readonly CheckpointInfo[]> {
    return listedCheckpoints(await this.#parts.timeline(sessionId));
  }

  async planRestore(
    ...[sessionId, what]: Parameters<HistoryControls['planRestore']>
  ): ReturnType<HistoryControls['planRestore']> {
    return planFor(await this.#open(sessionId), what);
  }

  async readRestore(
    ...[sessionId, what, path, side]: Parameters<HistoryControls['readRestore']>
  ): ReturnType<HistoryControls['readRestore']> {
    const { timeline, checkpoints } = await this.#open(sessionId);
    const target = restoreTarget(timeline, what);
    return target === null || checkpoints === null ? null : checkpoints.read(target, path, side);
  }

  restoreFiles(
    target: ControlTarget,
    request: Parameters<HistoryControls['restoreFiles']>[1],
  ): Promise<RestoredFiles> {
    const checkpointId = request.checkpointId as CheckpointId;
    return this.#parts.receipts.run(
      '_pilothouse/checkpoints/restore',
      target,
      () =>
        this.#idle(target, async (session) => {
          const to = restoreTarget(session.timeline, { kind: 'files', checkpointId });
          const files = await restored(session.checkpoints, to, request.overwrite);
          return kept(session, target, files, { checkpointId, toolCallId: null });
        }),
      { checkpointId },
    );
  }

  restoreToolCall(
    target: ControlTarget,
    request: Parameters<HistoryControls['restoreToolCall']>[1],
  ): Promise<RestoredFiles> {
    const toolCallId = request.toolCallId as ToolCallId;
    return this.#parts.receipts.run(
      'session/restore_tool_call',
      target,
      () =>
        this.#idle(target, async (session) => {
          const call = restoreTarget(session.timeline, { kind: 'call', toolCallId });
          const paths = request.paths?.map((path) => resolve(session.workspace.cwd, path));
          const to = paths === undefined || call?.kind !== 'call' ? call : { ...call, paths };
          const files = await restored(session.checkpoints, to, request.overwrite);
          return kept(session, target, files, { checkpointId: null, toolCallId });
        }),
      { toolCallId },
    );
  }

  #idle<T>(target: ControlTarget, work: (session: HistorySession) => Promise<T>): Promise<T> {
    return this.#parts.sessions.using(target.sessionId, (session) =>
      session.exclusively(() => work(session)),
    );
  }

  async #open(sessionId: string): Promise<HistorySession> {
    const live = this.#parts.sessions.live(sessionId);
    if (live !== undefined) return live;
    await this.#parts.timeline(sessionId);
    throw new ControlRefused(
      'unknown_session',
      `Session ${sessionId} is stored but not open. Load or resume it first.`,
      { sessionId, liveState: 'persisted' },
    );
  }
}

function moved(result: MoveResult): Receipted<MoveResult> {
  const { status, checkpointId, files, ...counted } = result;
  const outcome: Outcome = {
    outcome: status,
    status: 'accepted',
    metadata: {
      ...counted,
      restoredFiles: files?.restored.length ?? 0,
      skippedFiles: files?.skipped.length ?? 0,
    },
  };
  return { result, outcome, target: { checkpointId } };
}

function cutOff(result: Truncated, reason: string | undefined): Receipted<Truncated> {
  const metadata = { ...result, ...(reason === undefined ? {} : { why: reason }) };
  return { result, outcome: { outcome: 'truncated', status: 'accepted', metadata } };
}

/** Records that files were put back, unless there were none. */
async function kept(
  session: HistorySession,
  { actor }: ControlTarget,
  files: RestoredFiles | null,
  of: { readonly checkpointId: CheckpointId | null; readonly toolCallId: ToolCallId | null },
): Promise<Receipted<RestoredFiles>> {
  if (files !== null) {
    await session.record({ type: 'files_restored', ...of, files, actor });
    await session.checkpoints?.settled();
  }
  const result = files ?? { undo: '', restored: [], skipped: [] };
  return {
    result,
    outcome: {
      outcome: 'restored',
      status: 'accepted',
      metadata: {
        restoredFiles: result.restored.length,
        skippedFiles: result.skipped.length,
        ...session.tip,
      },
    },
  };
}
