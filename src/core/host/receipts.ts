import type { Actor, Control, ControlOutcome } from '../../protocol/controls.ts';

/** What a control came to; the rest of a receipt follows from the call. */
export type Outcome = {
  readonly outcome: string;
  readonly status: ControlOutcome['status'];
  readonly reason?: string;
  readonly metadata?: ControlOutcome['metadata'];
};

/** Writes the receipt of a control; `names` is what it named besides the session. Source: Harn session control, Receipts. */
export function receiptOf(
  controlId: string,
  method: Control,
  { sessionId, actor }: { readonly sessionId: string; readonly actor: Actor },
  outcome: Outcome,
  names: ControlOutcome['target'] = {},
): ControlOutcome {
  return {
    session_id: sessionId,
    control_id: controlId,
    method,
    outcome: outcome.outcome,
    status: outcome.status,
    actor,
    target: { sessionId, ...names },
    ...(outcome.reason === undefined ? {} : { reason: outcome.reason }),
    metadata: outcome.metadata ?? {},
  };
}
