import type { ListedLoop } from '../../../protocol/pilothouse.ts';
import type { HistoryEvent, Stored } from '../../session/events.ts';
import type { Journal } from '../../session/ports.ts';
import type { SessionId } from '../../session/words.ts';

const PAGE = 500;

type Begun = Extract<HistoryEvent, { type: 'delegate_started' }>;

/** The loops of a session from what is on disk, parents before children; nothing of it runs. */
export async function storedLoops(
  journal: Pick<Journal, 'readHistory' | 'delegates' | 'session'>,
  sessionId: SessionId,
): Promise<readonly ListedLoop[]> {
  const lastEventId = (await journal.session(sessionId))?.lastEventId ?? 0;
  // Most have none, and reading a long history takes a while.
  if ((await journal.delegates(sessionId)).length === 0)
    return [{ ...root(sessionId), lastEventId }];
  const loops: ListedLoop[] = [];
  const waiting: { readonly begun: Begun | null; readonly parent: ListedLoop | null }[] = [
    { begun: null, parent: null },
  ];
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const { begun, parent } = next;
    const loopId = begun?.loopId ?? sessionId;
    const records = await begunIn(journal, loopId as string as SessionId);
    const loop: ListedLoop = {
      ...root(sessionId),
      ...(begun === null || parent === null
        ? {}
        : {
            loopId,
            parentLoopId: parent.loopId,
            name: begun.name,
            depth: parent.depth + 1,
            prompt: begun.prompt,
            toolCallId: begun.toolCallId,
          }),
      lastEventId: records.lastEventId,
    };
    loops.push(loop);
    for (const child of records.begun) waiting.push({ begun: child, parent: loop });
  }
  return loops;
}

function root(sessionId: SessionId): ListedLoop {
  return {
    loopId: sessionId,
    parentLoopId: null,
    name: 'main',
    state: 'closed',
    depth: 0,
    openGates: 0,
    prompt: '',
    toolCallId: null,
    lastEventId: 0,
  };
}

/** A delegate that was given several requests is listed once, by its first. */
async function begunIn(
  journal: Pick<Journal, 'readHistory'>,
  loopId: SessionId,
): Promise<{ readonly begun: readonly Begun[]; readonly lastEventId: number }> {
  const begun = new Map<string, Begun>();
  let lastEventId = 0;
  for (;;) {
    const page: readonly Stored<HistoryEvent>[] = await journal.readHistory(loopId, {
      after: lastEventId,
      limit: PAGE,
    });
    for (const { event } of page)
      if (event.type === 'delegate_started' && !begun.has(event.loopId))
        begun.set(event.loopId, event);
    const last = page.at(-1);
    if (last === undefined) break;
    lastEventId = last.seq;
  }
  return { begun: [...begun.values()], lastEventId };
}
