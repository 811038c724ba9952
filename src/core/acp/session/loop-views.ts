import type { LoopMark } from '../../../protocol/acp-meta.ts';
import type { LiveSession } from '../../host/api.ts';
import type { HistoryEvent, LoopSignal, SessionSignal, Stored } from '../../session/events.ts';
import type { DelegateOrigin, LoopId } from '../../session/words.ts';
import type { Role } from '../access/credential.ts';
import type { ClientFacts } from '../client-facts.ts';
import { audienceOf } from '../client-facts.ts';
import type { GateDesk } from '../gates/gate-desk.ts';
import type { Projected } from '../projection/projected.ts';
import { Projector } from '../projection/projector.ts';
import type { UpdateSender } from './sender.ts';

/** A signal of a delegate of the session. */
export type LoopNews = Extract<SessionSignal, { stream: 'loop' }>;

/** What the views work with. */
export type LoopViewParts = {
  readonly session: LiveSession;
  readonly facts: ClientFacts;
  readonly sender: UpdateSender;
  readonly gates: Pick<GateDesk, 'opened' | 'resolved'>;
  readonly role: () => Role;
};

type View = { readonly origin: DelegateOrigin; readonly projector: Projector; passed: number };

/**
 * The delegates of a session as one client sees them. Their questions are asked in the session's name. What they say
 * and do goes to clients of ours alone, each update as it would be in a session of its own, inside a mark: to all
 * others a delegate is a tool call of its parent.
 */
export class LoopViews {
  readonly #parts: LoopViewParts;
  readonly #views = new Map<LoopId, View>();

  constructor(parts: LoopViewParts) {
    this.#parts = parts;
  }

  /** The last event of a loop that was passed on; null if none was yet. */
  passed(loopId: LoopId): number | null {
    return this.#views.get(loopId)?.passed ?? null;
  }

  pass({ loopId, origin, signal }: LoopNews): void {
    if (signal.stream === 'control') return;
    if (signal.stream === 'history') this.history(loopId, origin, signal.record);
    else this.#ephemeral(loopId, this.#view(loopId, origin), signal.event);
  }

  /** What was passed on already is left out. */
  history(loopId: LoopId, origin: DelegateOrigin, record: Stored<HistoryEvent>): void {
    const view = this.#view(loopId, origin);
    const { event, seq } = record;
    if (seq <= view.passed) return;
    view.passed = seq;
    this.#gate(loopId, origin, event);
    this.#tell(loopId, view, view.projector.history(record, { skipPrompt: false }), seq);
  }

  #gate(loopId: LoopId, origin: DelegateOrigin, event: HistoryEvent): void {
    const { session, gates, role } = this.#parts;
    if (event.type === 'gate_resolved') gates.resolved(event.gateId);
    if (event.type !== 'gate_opened' || role() !== 'host_owner') return;
    const { gateId, request } = event;
    gates.opened(session, { gateId, request, loopId, loopName: origin.name });
  }

  #ephemeral(
    loopId: LoopId,
    view: View,
    event: Extract<LoopSignal, { stream: 'ephemeral' }>['event'],
  ): void {
    switch (event.type) {
      case 'message_chunk':
        this.#tell(loopId, view, view.projector.chunk(event));
        break;
      case 'tool_output':
        this.#tell(loopId, view, [{ update: view.projector.output(event) }]);
        break;
      case 'compaction_started':
        this.#tell(
          loopId,
          view,
          view.projector.compacting(event).map((update) => ({ update })),
        );
        break;
      default:
        break;
    }
  }

  #tell(loopId: LoopId, { origin }: View, projected: readonly Projected[], eventId?: number): void {
    const { session, facts, sender } = this.#parts;
    if (!facts.pilothouse) return;
    for (const { update, offset } of projected) {
      const loop: LoopMark = {
        loopId,
        parentLoopId: origin.parentId,
        name: origin.name,
        depth: origin.depth,
        ...(eventId === undefined ? {} : { eventId }),
        ...(offset === undefined ? {} : { offset }),
        update,
      };
      sender.update(
        session.sessionId,
        { sessionUpdate: 'session_info_update', _meta: { pilothouse: { loop } } },
        { replayed: false },
      );
    }
  }

  #view(loopId: LoopId, origin: DelegateOrigin): View {
    const known = this.#views.get(loopId);
    if (known !== undefined) return known;
    const projector = new Projector(audienceOf(this.#parts.facts));
    const view = { origin, projector, passed: 0 };
    this.#views.set(loopId, view);
    return view;
  }
}
