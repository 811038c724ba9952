import type { ListedLoop } from '../../../protocol/pilothouse.ts';
import type { Journal } from '../../session/ports.ts';
import type { LoopId, SessionId } from '../../session/words.ts';
import { EventFeed } from './event-feed.ts';

/** What a host's feed reads. */
export type HostFeedParts = {
  readonly journal: Pick<Journal, 'readHistory' | 'readControl'>;
  readonly describe: (sessionId: SessionId) => Promise<{ readonly lastEventId: number } | null>;
  readonly loops: (sessionId: string) => Promise<{ readonly loops: readonly ListedLoop[] }>;
};

/** The feed of a host's sessions. */
export function createHostFeed({ journal, describe, loops }: HostFeedParts): EventFeed {
  // The streams of a loop are stored under its id as those of a session.
  const stored = (loopId: LoopId): SessionId => loopId as string as SessionId;
  return new EventFeed({
    describe,
    loops: async (sessionId) =>
      (await loops(sessionId)).loops.map(({ loopId }) => loopId as LoopId),
    readHistory: (loopId, range) => journal.readHistory(stored(loopId), range),
    readControl: (loopId, range) => journal.readControl(stored(loopId), range),
  });
}
