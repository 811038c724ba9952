import * as z from 'zod/mini';
import { isObject } from '../../../base/json.ts';
import type { SessionUpdate } from '../../../protocol/acp.ts';
import type { Control, ControlOutcome } from '../../../protocol/controls.ts';
import { marksOf } from '../../chat/model/marks.ts';

const RECEIPT = z.looseObject({
  sessionId: z.string(),
  kind: z.literal('control_outcome'),
  control_id: z.string(),
  method: z.custom<Control>((value) => typeof value === 'string'),
  outcome: z.string(),
  status: z.enum(['accepted', 'idempotent', 'rejected']),
  target: z.record(z.string(), z.string()),
  reason: z.exactOptional(z.string()),
});

/** A receipt as it comes in: what this window reads of a `control_outcome`. */
export type LiveReceipt = Pick<
  ControlOutcome,
  'control_id' | 'method' | 'outcome' | 'status' | 'target' | 'reason'
> & { readonly sessionId: string };

/** The receipt that an `_harn/agentEvent` carries, or null. */
export function receiptOf(params: unknown): LiveReceipt | null {
  const parsed = z.safeParse(RECEIPT, params);
  return parsed.success ? parsed.data : null;
}

/** The message that a receipt is about, if it names one. */
export function messageOfReceipt({ target }: LiveReceipt): string | null {
  return target['messageId'] ?? target['message_id'] ?? null;
}

/** The id of the pending message that an update delivers, or null. Source: `protocol/acp-meta.ts`, InjectMark. */
export function deliveredMessage(update: SessionUpdate, frameMeta: unknown): string | null {
  const mark = marksOf(update._meta, frameMeta).extra['inject'];
  return isObject(mark) && typeof mark['messageId'] === 'string' ? mark['messageId'] : null;
}
