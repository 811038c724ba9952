import * as z from 'zod/mini';
import type { FromReceipts } from '../../protocol/receipts-view.ts';

const MESSAGE = z.discriminatedUnion('type', [
  z.object({ type: z.literal('ready') }),
  z.object({ type: z.literal('load_older') }),
  z.object({
    type: z.literal('filter'),
    filter: z.object({
      method: z.nullable(z.string()),
      status: z.nullable(z.enum(['accepted', 'idempotent', 'rejected'])),
    }),
  }),
  z.object({ type: z.literal('stream'), stream: z.enum(['session', 'host']) }),
  z.object({ type: z.literal('refresh') }),
  z.object({ type: z.literal('verify') }),
  z.object({ type: z.literal('export') }),
  z.object({ type: z.literal('copy'), seq: z.number() }),
]);

/** A message of the page, or null if it is none that we know. */
export function parseFromReceipts(value: unknown): FromReceipts | null {
  const parsed = z.safeParse(MESSAGE, value);
  return parsed.success ? parsed.data : null;
}
