import type { UpdateExtras } from '../../../protocol/acp-meta.ts';
import type { WireUpdate } from '../../../protocol/harn.ts';
import type { HistoryEvent } from '../../session/events.ts';
import { type Audience, metaFor } from './projected.ts';

type Of<T extends HistoryEvent['type']> = Extract<HistoryEvent, { type: T }>;

const TYPES = [
  'inject_delivered',
  'judge_decision',
  'turn_checkpoint',
  'history_moved',
  'files_restored',
  'model_replied',
  'directives_issued',
  'workspace_checkpointed',
] as const;

/** Events that controls bring about. */
export type ControlHistory = Of<(typeof TYPES)[number]>;

export function isControlHistory(event: HistoryEvent): event is ControlHistory {
  return TYPES.some((type) => type === event.type);
}

/** The updates of what controls bring about; none where ACP has no word and the client knows no extension. */
export function controlUpdates(event: ControlHistory, audience: Audience): readonly WireUpdate[] {
  switch (event.type) {
    case 'inject_delivered':
      return delivered(event, audience);
    case 'history_moved':
      return moved(event, audience);
    case 'files_restored':
      return restored(event, audience);
    case 'judge_decision': {
      const { judge, verdict, reason, correction } = event;
      return extra(audience, { judge: { judge, verdict, reason, correction } });
    }
    case 'turn_checkpoint':
      return extra(audience, { checkpoint: checkpointOf(event) });
    case 'model_replied':
      return event.finish === 'interrupted'
        ? extra(audience, { interrupted: { messageId: event.messageId } })
        : [];
    case 'directives_issued':
    case 'workspace_checkpointed':
      return [];
  }
}

function extra(audience: Audience, pilothouse: UpdateExtras): readonly WireUpdate[] {
  if (!audience.extras) return [];
  return [{ sessionUpdate: 'session_info_update', ...metaFor(audience, { pilothouse }) }];
}

/** Harn's clients get the message whole, all others as ACP's chunks. */
function delivered(event: Of<'inject_delivered'>, audience: Audience): readonly WireUpdate[] {
  const { messageId, mode, seam, content } = event;
  const inject = { messageId, mode, seam };
  const meta = metaFor(audience, {
    ...(audience.harn ? { harn: { injectedMode: mode, seam } } : {}),
    pilothouse: { inject },
  });
  if (audience.harn) return [{ sessionUpdate: 'user_message', messageId, content, ...meta }];
  return content.map((block) => ({
    sessionUpdate: 'user_message_chunk',
    messageId,
    content: block,
    ...meta,
  }));
}

function moved(event: Of<'history_moved'>, audience: Audience): readonly WireUpdate[] {
  if (!audience.extras && !audience.harn) return [];
  const { reason, to, checkpointId, beforeMessageCount, afterMessageCount } = event;
  const turns = event.turns ?? { kept: 0, removed: 0, tip: null };
  const meta = metaFor(audience, { pilothouse: { moved: { reason, to } } });
  if (reason === 'truncate')
    return [
      {
        sessionUpdate: 'session_truncated',
        keptTurnCount: turns.kept,
        removedTurnCount: turns.removed,
        newTipTurnId: turns.tip,
        keptMessageCount: afterMessageCount,
        removedMessageCount: beforeMessageCount - afterMessageCount,
        ...meta,
      },
    ];
  const isRollback = reason === 'rollback';
  return [
    {
      sessionUpdate: isRollback ? 'session_rollback' : 'session_redo',
      checkpointId,
      status: isRollback ? 'rolled_back' : 'redone',
      beforeMessageCount,
      afterMessageCount,
      ...meta,
    },
  ];
}

/** ACP's statuses have no `restored`: the call stays as it ended, and the extension says what was put back. */
function restored(event: Of<'files_restored'>, audience: Audience): readonly WireUpdate[] {
  if (!audience.extras && !audience.harn) return [];
  const { toolCallId, files } = event;
  const paths = [...files.restored];
  const pilothouse = { restored: { paths, ...(toolCallId === null ? {} : { toolCallId }) } };
  if (toolCallId === null)
    return [{ sessionUpdate: 'session_info_update', ...metaFor(audience, { pilothouse }) }];
  const harn = {
    kind: 'tool_call_restored',
    restoredPaths: paths,
    skippedPathsWithReasons: files.skipped.map((skipped) => ({ ...skipped })),
  };
  return [
    { sessionUpdate: 'tool_call_update', toolCallId, ...metaFor(audience, { harn, pilothouse }) },
  ];
}

function checkpointOf(event: Of<'turn_checkpoint'>): NonNullable<UpdateExtras['checkpoint']> {
  const { checkpointId, turnId, onStack, files } = event;
  return {
    checkpointId,
    turnId,
    onStack,
    files: files?.changed.length ?? 0,
    coverage: files?.coverage ?? 'none',
  };
}
