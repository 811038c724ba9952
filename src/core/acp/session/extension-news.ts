import type { Disposable } from '../../../base/disposables.ts';
import type { EphemeralEvent } from '../../session/ephemeral-events.ts';
import type { HistoryEvent } from '../../session/events.ts';
import type { SessionId } from '../../session/words.ts';
import type { ClientFacts } from '../client-facts.ts';
import { shownPending, shownQueue } from '../control/shown-pending.ts';
import type { EventMark, UpdateSender } from './sender.ts';

type Judged = Extract<HistoryEvent, { type: 'judge_decision' }>;
type Signal<T extends EphemeralEvent['type']> = Extract<EphemeralEvent, { type: T }>;

const LIVE = { replayed: false } as const;

/** Tells a client that declared an extension what ACP has no word for. */
export class ExtensionNews implements Disposable {
  readonly #sessionId: SessionId;
  readonly #facts: ClientFacts;
  readonly #sender: UpdateSender;
  #waiting: Signal<'pending_changed'> | null = null;
  #isPendingTold = false;
  #isDisposed = false;

  constructor(sessionId: SessionId, facts: ClientFacts, sender: UpdateSender) {
    this.#sessionId = sessionId;
    this.#facts = facts;
    this.#sender = sender;
  }

  get #knowsAgentEvents(): boolean {
    return this.#facts.harn || this.#facts.pilothouse;
  }

  /** What has an agent event of its own, live or replayed. */
  happened(event: HistoryEvent, mark: EventMark): void {
    if (!this.#knowsAgentEvents) return;
    if (event.type === 'judge_decision') this.#judged(event, mark);
    if (event.type === 'turn_ended' && event.terminal.limit !== undefined) {
      const { kind, value } = event.terminal.limit;
      const { iterations, usage } = event;
      const payload = { budgetKind: kind, limit: kind, limitValue: value, iteration: iterations };
      const spent = {
        sessionCostUsd: usage.costUsd ?? null,
        projectedInputTokens: usage.inputTokens,
        projectedOutputTokens: usage.outputTokens,
      };
      this.#sender.agentEvent(this.#sessionId, 'budget_exhausted', { ...payload, ...spent }, mark);
    }
  }

  #judged(event: Judged, mark: EventMark): void {
    const { iteration, judge, verdict, reason, correction } = event;
    const vetoed = verdict === 'vetoed';
    const payload = { iteration, judge, verdict, vetoed, reason, correction };
    this.#sender.agentEvent(this.#sessionId, 'judge_decision', payload, mark);
  }

  seamPassed(event: Signal<'seam_passed'>): void {
    if (!this.#knowsAgentEvents) return;
    const { iteration, seam, delivered, messageIds, dispatchSkipped } = event;
    const payload = {
      iteration,
      seam,
      delivered,
      message_ids: [...messageIds],
      dispatch_skipped: dispatchSkipped,
      ...(dispatchSkipped ? { skip_reason: 'interrupt_immediate' } : {}),
    };
    this.#sender.agentEvent(this.#sessionId, 'loop_checkpoint', payload, LIVE);
  }

  /** Each tells everything that waits, so of many in a row only the first and the newest are sent. */
  pendingChanged(signal: Signal<'pending_changed'>): void {
    if (!this.#facts.pilothouse) return;
    if (this.#isPendingTold) {
      this.#waiting = signal;
      return;
    }
    this.#isPendingTold = true;
    this.#tellPending(signal);
    setImmediate(() => {
      this.#isPendingTold = false;
      const newest = this.#waiting;
      this.#waiting = null;
      if (newest !== null && !this.#isDisposed) this.pendingChanged(newest);
    });
  }

  dispose(): void {
    this.#isDisposed = true;
  }

  #tellPending({ pending, nextTurns }: Signal<'pending_changed'>): void {
    this.#sender.extension('_pilothouse/pending_changed', {
      sessionId: this.#sessionId,
      pending: pending.map(shownPending),
      queue: shownQueue(nextTurns),
    });
  }

  stagedChanged({ mode, paths }: Signal<'staged_changed'>): void {
    const sessionId = this.#sessionId;
    if (this.#facts.pilothouse)
      this.#sender.extension('_pilothouse/staged_changed', { sessionId, mode, paths });
    if (!this.#facts.harn) return;
    const message = `${paths.length} staged`;
    const harn = { phase: 'fs_staging', message, data: { mode, paths } };
    this.#sender.update(sessionId, { sessionUpdate: 'progress', _meta: { harn } }, LIVE);
  }
}
