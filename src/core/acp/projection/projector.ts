import type { SessionUpdate } from '../../../protocol/acp.ts';
import type { WireUpdate } from '../../../protocol/harn.ts';
import type { EphemeralEvent } from '../../session/ephemeral-events.ts';
import type { HistoryEvent, Stored } from '../../session/events.ts';
import type { Mode } from '../../session/words.ts';
import { Compactions } from './compactions.ts';
import { type ControlHistory, controlUpdates, isControlHistory } from './control-updates.ts';
import { DelegateMarks } from './delegate-marks.ts';
import type { Audience, Projected } from './projected.ts';
import * as tools from './tool-updates.ts';
import * as turns from './turn-updates.ts';

type Of<T extends HistoryEvent['type']> = Extract<HistoryEvent, { type: T }>;
type Chunk = { readonly messageId: string } & Pick<Of<'message_delta'>, 'kind' | 'offset' | 'text'>;

/** How an event is to be shown. */
export type ProjectionOptions = {
  /** True to leave out the person's own message: the client that sent it shows it already. */
  readonly skipPrompt: boolean;
};

/**
 * The one mapping from events to ACP updates, used for live events, replays and pages alike (design §5).
 *
 * Streamed text comes twice, first as live chunks and then as the durable delta that holds the same text. Each is
 * placed by its offset, and only what lies past the text already passed on is passed on: a follower gets the live
 * chunks, a replay gets the deltas, one that joins in between gets each character once.
 */
export class Projector {
  readonly #audience: Audience;
  /** Per message and kind, where the text passed on ends, in UTF-16 units. */
  readonly #ends = new Map<string, number>();
  readonly #compactions: Compactions;
  readonly #delegates: DelegateMarks;
  #mode: Mode | undefined;

  constructor(audience: Audience) {
    this.#audience = audience;
    this.#compactions = new Compactions(audience);
    this.#delegates = new DelegateMarks(audience);
  }

  /** The updates of a durable event; none for bookkeeping. */
  history(record: Stored<HistoryEvent>, options: ProjectionOptions): readonly Projected[] {
    const { event } = record;
    if (event.type === 'message_delta') return this.chunk(event);
    if (event.type === 'turn_ended') this.#ends.clear();
    if (isControlHistory(event))
      return controlUpdates(event, this.#audience).map((update) => ({ update }));
    return this.#updates(event, record.at, options).map((update) => ({ update }));
  }

  /** The part of streamed text that was not passed on yet. */
  chunk(chunk: Chunk): readonly Projected[] {
    const key = `${chunk.kind} ${chunk.messageId}`;
    const from = Math.max(this.#ends.get(key) ?? chunk.offset, chunk.offset);
    const text = chunk.text.slice(from - chunk.offset);
    if (text === '') return [];
    this.#ends.set(key, from + text.length);
    return [{ update: textUpdate(chunk.kind, chunk.messageId, text), offset: from }];
  }

  /** A summary is being written. */
  compacting(
    event: Extract<EphemeralEvent, { type: 'compaction_started' }>,
  ): readonly SessionUpdate[] {
    return this.#compactions.started(event);
  }

  /** Live output of a tool, for clients that append it. */
  output({ toolCallId, text }: { toolCallId: string; text: string }): SessionUpdate {
    return {
      sessionUpdate: 'tool_call_update',
      toolCallId,
      _meta: { pilothouse: { output: text } },
    };
  }

  #updates(
    event: Exclude<HistoryEvent, { type: 'message_delta' } | ControlHistory>,
    at: number,
    options: ProjectionOptions,
  ): readonly WireUpdate[] {
    switch (event.type) {
      case 'turn_started':
        return [
          ...(options.skipPrompt ? [] : turns.promptOf(event, this.#audience)),
          ...turns.turnStarted(event, this.#audience),
        ];
      case 'turn_ended':
        return turns.turnEnded(event, at, this.#audience);
      case 'tool_proposed':
        return [tools.proposed(event)];
      case 'tool_started':
        return [tools.started(event)];
      case 'tool_ended':
        return [tools.ended(event, this.#audience)];
      case 'gate_opened':
        return turns.gateOpened(event, this.#audience);
      case 'gate_resolved':
        return turns.gateResolved(event, this.#audience);
      case 'machine_message':
        return turns.machineMessage(event, this.#audience);
      case 'compacted':
        return this.#compactions.completed(event);
      case 'compaction_rejected':
        return this.#compactions.rejected(event);
      case 'delegate_started':
        return this.#delegates.started(event);
      case 'delegate_ended':
        return this.#delegates.ended(event);
      default:
        return this.#sessionUpdates(event, at);
    }
  }

  #sessionUpdates(
    event: Of<
      | 'session_created'
      | 'config_changed'
      | 'title_changed'
      | 'commands_changed'
      | 'plan_changed'
      | 'usage_changed'
      | 'notice'
      | 'model_failed'
      | 'process_started'
      | 'process_ended'
    >,
    at: number,
  ): readonly SessionUpdate[] {
    switch (event.type) {
      case 'config_changed':
        return this.#modeChange(event.config.mode);
      case 'title_changed':
        return [
          {
            sessionUpdate: 'session_info_update',
            title: event.title,
            updatedAt: turns.isoTime(at),
          },
        ];
      case 'commands_changed':
        return [
          { sessionUpdate: 'available_commands_update', availableCommands: [...event.commands] },
        ];
      case 'plan_changed':
        return [{ sessionUpdate: 'plan', entries: [...event.entries] }];
      case 'usage_changed':
        return [usage(event)];
      case 'notice':
        return this.#notice(event.severity, event.title, event.description);
      case 'model_failed':
        return event.retryInMs === null
          ? []
          : this.#notice('warning', 'The model did not answer; trying again', event.message);
      case 'session_created':
        this.#mode = event.config.mode;
        return [];
      case 'process_started':
      case 'process_ended':
        return [];
    }
  }

  #modeChange(mode: Mode): readonly SessionUpdate[] {
    const isSame = this.#mode === mode;
    this.#mode = mode;
    return isSame ? [] : [{ sessionUpdate: 'current_mode_update', currentModeId: mode }];
  }

  /** A client without notices is not told: nothing it promised to show would hold them. */
  #notice(
    severity: 'info' | 'warning' | 'error',
    title: string,
    description: string,
  ): readonly SessionUpdate[] {
    if (!this.#audience.notices) return [];
    return [{ sessionUpdate: 'notice', severity, title, description }];
  }

  /** The mode before the first event, where that event is not replayed. */
  startIn(mode: Mode): void {
    this.#mode = mode;
  }
}

function textUpdate(kind: 'text' | 'thought', messageId: string, text: string): SessionUpdate {
  return {
    sessionUpdate: kind === 'text' ? 'agent_message_chunk' : 'agent_thought_chunk',
    messageId,
    content: { type: 'text', text },
  };
}

function usage(event: Of<'usage_changed'>): SessionUpdate {
  const { used, size, costUsd } = event;
  const cost = costUsd === null ? {} : { cost: { amount: costUsd, currency: 'USD' } };
  return { sessionUpdate: 'usage_update', used, size, ...cost };
}
