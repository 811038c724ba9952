import * as z from 'zod/mini';
import type { SessionUpdate } from '../../protocol/acp.ts';
import type { DelegateMark } from '../../protocol/acp-meta.ts';
import { isSessionUpdate, withKnownContent } from '../core/shapes.ts';

const LOOP = z.looseObject({
  loopId: z.string(),
  parentLoopId: z.string(),
  name: z.string(),
  depth: z.number(),
  eventId: z.exactOptional(z.number()),
  offset: z.exactOptional(z.number()),
  update: z.unknown(),
});

const DELEGATE = z.looseObject({
  loopId: z.string(),
  name: z.exactOptional(z.string()),
  state: z.enum(['running', 'completed', 'failed', 'cancelled', 'interrupted']),
  background: z.exactOptional(z.boolean()),
  prompt: z.exactOptional(z.string()),
});

/** Something that a delegate said or did. Source: `protocol/acp-meta.ts`, LoopMark. */
export type LoopNews = {
  readonly loopId: string;
  readonly parentLoopId: string;
  readonly name: string;
  readonly depth: number;
  readonly eventId?: number;
  readonly offset?: number;
  readonly update: SessionUpdate;
};

/** Reads the mark of a delegate's update; null if there is none that can be shown. */
export function loopNewsOf(extra: Readonly<Record<string, unknown>>): LoopNews | null {
  const parsed = z.safeParse(LOOP, extra['loop']);
  if (!parsed.success) return null;
  const update = withKnownContent(parsed.data.update);
  return isSessionUpdate(update) ? { ...parsed.data, update } : null;
}

/** What a call, or an update without one, says of the delegate that it began; null if nothing. */
export function delegateMarkOf(extra: Readonly<Record<string, unknown>>): DelegateMark | null {
  const parsed = z.safeParse(DELEGATE, extra['delegate']);
  return parsed.success ? parsed.data : null;
}

/** The same as the frame's meta of a session of its own, for the one model of conversations. */
export function frameMetaOf({ eventId, offset }: LoopNews): object {
  return {
    harn: {
      ...(eventId === undefined ? {} : { eventId }),
      ...(offset === undefined ? {} : { offset }),
    },
  };
}
