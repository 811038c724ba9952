import type { SessionUpdate } from '../../../protocol/acp.ts';
import type { DelegateMark } from '../../../protocol/acp-meta.ts';
import type { HistoryEvent } from '../../session/events.ts';
import { type Audience, metaFor } from './projected.ts';

type Of<T extends HistoryEvent['type']> = Extract<HistoryEvent, { type: T }>;
type Begun = Pick<Of<'delegate_started'>, 'toolCallId' | 'name' | 'background' | 'prompt'>;

/** What the tool call that began a delegate says of it, to clients of ours. */
export class DelegateMarks {
  readonly #audience: Audience;
  /** By request, those that are not handed back. */
  readonly #begun = new Map<string, Begun>();

  constructor(audience: Audience) {
    this.#audience = audience;
  }

  started(event: Of<'delegate_started'>): readonly SessionUpdate[] {
    const { requestId, loopId, toolCallId, name, background, prompt } = event;
    this.#begun.set(requestId, { toolCallId, name, background, prompt });
    return this.#mark(toolCallId, { loopId, name, state: 'running', background, prompt });
  }

  /** Where its beginning is not known (a page that begins behind it), the mark names no call. */
  ended({ requestId, loopId, outcome }: Of<'delegate_ended'>): readonly SessionUpdate[] {
    const begun = this.#begun.get(requestId);
    this.#begun.delete(requestId);
    const known = begun === undefined ? {} : { name: begun.name, background: begun.background };
    return this.#mark(begun?.toolCallId, { loopId, state: outcome, ...known });
  }

  #mark(toolCallId: string | undefined, delegate: DelegateMark): readonly SessionUpdate[] {
    if (!this.#audience.extras) return [];
    const meta = metaFor(this.#audience, { pilothouse: { delegate } });
    if (toolCallId === undefined) return [{ sessionUpdate: 'session_info_update', ...meta }];
    return [{ sessionUpdate: 'tool_call_update', toolCallId, ...meta }];
  }
}
