import type { SessionUpdate } from '../../../protocol/acp.ts';
import type { EphemeralEvent } from '../../session/ephemeral-events.ts';
import type { HistoryEvent } from '../../session/events.ts';
import { type Audience, metaFor } from './projected.ts';

type Of<T extends HistoryEvent['type']> = Extract<HistoryEvent, { type: T }>;
type Started = Extract<EphemeralEvent, { type: 'compaction_started' }>;
type Update = Extract<SessionUpdate, { sessionUpdate: 'compaction_update' }>;

/**
 * Compactions as ACP tells them, for clients that take them: under way from when the summary is being written, and
 * over by a durable event. One of which only the end is known is told as completed; one that came to nothing is not
 * told to whom its beginning was not told. Source: ACP v1, `compaction_update`.
 */
export class Compactions {
  readonly #audience: Audience;
  #underWay: string | null = null;

  constructor(audience: Audience) {
    this.#audience = audience;
  }

  /** The summary is being written. One that was put off and begins anew ends first. */
  started({ messageId }: Started): readonly SessionUpdate[] {
    if (!this.#audience.compaction) return [];
    const before = this.#underWay;
    this.#underWay = messageId;
    return [
      ...(before === null ? [] : [update(before, { status: 'cancelled' })]),
      update(messageId, { status: 'in_progress' }),
    ];
  }

  /** The model reads the summary from here on. */
  completed(event: Of<'compacted'>): readonly SessionUpdate[] {
    this.#underWay = null;
    const { messageId, summary, beforeMessageCount: before, afterMessageCount: after } = event;
    const meta = metaFor(this.#audience, { pilothouse: { compacted: { before, after } } });
    if (!this.#audience.compaction)
      return this.#audience.extras ? [{ sessionUpdate: 'session_info_update', ...meta }] : [];
    return [
      {
        ...update(messageId, { status: 'completed', summary: [{ type: 'text', text: summary }] }),
        ...meta,
      },
    ];
  }

  /** The conversation is as it was. */
  rejected({ reason, message }: Of<'compaction_rejected'>): readonly SessionUpdate[] {
    const compactionId = this.#underWay;
    this.#underWay = null;
    if (compactionId === null) return [];
    return reason === 'summary_failed' || reason === 'nothing_to_gain'
      ? [update(compactionId, { status: 'failed', error: message })]
      : [update(compactionId, { status: 'cancelled' })];
  }
}

function update(
  compactionId: string,
  rest: Pick<Update, 'status' | 'summary' | 'error'>,
): SessionUpdate {
  return { sessionUpdate: 'compaction_update', compactionId, ...rest };
}
