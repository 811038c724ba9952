import type { ListedLoop } from '../../../../protocol/pilothouse.ts';
import type { KnownRequest } from '../delegate-book.ts';
import type { LoopNode } from './loop-node.ts';

/** As much of a prompt as a list shows, in UTF-16 units. */
const SHOWN = 200;

/** A loop in memory, or one of a live session that still lies in the store. */
export function listedLoop(node: LoopNode): ListedLoop {
  const { loopId, parent, name, depth, first, live } = node;
  return {
    loopId,
    parentLoopId: parent?.loopId ?? null,
    name: parent === null ? (live?.session.title ?? '') : name,
    state: stateOf(node),
    depth,
    openGates: live?.session.openGates.length ?? 0,
    ...shownRequest(first),
    lastEventId: live?.session.tip.lastEventId ?? node.lastEventId,
  };
}

/** What a loop does now. */
export function stateOf({ live, isGone, ...node }: LoopNode): ListedLoop['state'] {
  if (isGone) return 'closed';
  if (live === null) return 'idle';
  if (live.session.openGates.length > 0) return 'waiting';
  const isBusy = [...node.requests.values()].some(({ done }) => !done.isSettled);
  return isBusy || live.session.isActive ? 'running' : 'idle';
}

function shownRequest(first: KnownRequest | null): Pick<ListedLoop, 'prompt' | 'toolCallId'> {
  const prompt = first?.prompt ?? '';
  return {
    prompt: prompt.length > SHOWN ? `${prompt.slice(0, SHOWN).toWellFormed()}…` : prompt,
    toolCallId: first?.toolCallId ?? null,
  };
}
