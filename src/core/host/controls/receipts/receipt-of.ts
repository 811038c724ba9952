import type { Actor, Control, ControlOutcome } from '../../../../protocol/controls.ts';

/** What a control came to; the rest of a receipt follows from the call. */
export type Outcome = {
  readonly outcome: string;
  readonly status: ControlOutcome['status'];
  readonly reason?: string;
  readonly metadata?: ControlOutcome['metadata'];
};

/** The longest name that a receipt carries, in UTF-16 units; ours are far shorter. */
const LONGEST_NAME = 512;
const LONGEST_TEXT = 4096;

/**
 * Writes the receipt of a control; `names` is what it named besides the session. What a client made up is kept short.
 * Source: Harn session control, Receipts.
 */
export function receiptOf(
  controlId: string,
  method: Control,
  { sessionId, actor }: { readonly sessionId: string; readonly actor: Actor },
  outcome: Outcome,
  names: ControlOutcome['target'] = {},
): ControlOutcome {
  const session = clipped(sessionId, LONGEST_NAME);
  return {
    session_id: session,
    control_id: controlId,
    method,
    outcome: outcome.outcome,
    status: outcome.status,
    // The very object: a receipt is known to be a client's own by it.
    actor,
    target: { sessionId: session, ...mapped(names, (name) => clipped(name, LONGEST_NAME)) },
    ...(outcome.reason === undefined ? {} : { reason: outcome.reason }),
    metadata: mapped(outcome.metadata ?? {}, (value) =>
      typeof value === 'string' ? clipped(value, LONGEST_TEXT) : value,
    ),
  };
}

function mapped<T>(
  values: { readonly [name: string]: T },
  change: (value: T) => T,
): { readonly [name: string]: T } {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value)]));
}

function clipped(text: string, longest: number): string {
  return text.length <= longest ? text : `${text.slice(0, longest - 1)}…`;
}
