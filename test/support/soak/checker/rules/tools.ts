import { historyOf, type LoopRule, openTurns, repeated } from '../evidence.ts';

/** What a scripted command appends to the markers' file. */
const MARKER = /\becho (m\d[\w.-]*) >>/g;

/**
 * Every call is proposed, started and ended at most once, in this order. One whose process died before it was proposed
 * has an end all the same, since the model is told of each of its calls: cancelled.
 */
export const callsRunOnce: LoopRule = (loop) => {
  const complaints: string[] = [];
  const at = { tool_proposed: 'proposed', tool_started: 'started', tool_ended: 'ended' } as const;
  const seen = new Map<string, string[]>();
  for (const { event } of loop.history) {
    if (
      event.type !== 'tool_started' &&
      event.type !== 'tool_ended' &&
      event.type !== 'tool_proposed'
    )
      continue;
    const id = event.type === 'tool_ended' ? event.result.toolCallId : event.toolCallId;
    const isDropped = event.type === 'tool_ended' && event.result.status === 'cancelled';
    seen.set(id, [...(seen.get(id) ?? []), isDropped ? 'dropped' : at[event.type]]);
  }
  const allowed = [
    'dropped',
    'proposed',
    'proposed dropped',
    'proposed ended',
    'proposed started',
    'proposed started dropped',
    'proposed started ended',
  ];
  for (const [id, steps] of seen)
    if (!allowed.includes(steps.join(' '))) complaints.push(`call ${id} was ${steps.join(', ')}`);
  return complaints;
};

/** A started call whose process died has an unknown outcome; one that was never started has no effect. */
export const outcomesAreHonest: LoopRule = (loop, { stage }) => {
  const started = new Set<string>(historyOf(loop, 'tool_started').map((event) => event.toolCallId));
  const ended = historyOf(loop, 'tool_ended');
  const done = new Set<string>(ended.map(({ result }) => result.toolCallId));
  const open = openTurns(loop);
  const complaints = ended
    .filter(({ result }) => result.status === 'outcome_unknown' && !started.has(result.toolCallId))
    .map(({ result }) => `call ${result.toolCallId} never started, yet its outcome is unknown`);
  complaints.push(
    ...ended
      .filter(({ result }) => result.status === 'completed' && !started.has(result.toolCallId))
      .map(({ result }) => `call ${result.toolCallId} is completed and never started`),
  );
  if (stage === 'dead') return complaints;
  for (const { toolCallId, turnId } of historyOf(loop, 'tool_proposed')) {
    if (done.has(toolCallId)) continue;
    if (stage === 'settled' && started.has(toolCallId))
      complaints.push(`call ${toolCallId} was started and has no result`);
    else if (!open.has(turnId))
      complaints.push(`call ${toolCallId} has no result, and its turn is over`);
  }
  return complaints;
};

/** What a command left behind is there once, and only if the call was journaled as started before. */
export const marksAreJournaled: LoopRule = (loop, { markers, earlierMarkers = markers }) => {
  const complaints: string[] = [];
  const started = new Set<string>(historyOf(loop, 'tool_started').map((event) => event.toolCallId));
  const results = new Map(
    historyOf(loop, 'tool_ended').map(({ result }) => [result.toolCallId, result]),
  );
  const left = new Set(markers);
  const early = new Set(earlierMarkers);
  for (const { toolCallId, input, name } of historyOf(loop, 'tool_proposed')) {
    for (const [, mark = ''] of JSON.stringify(input).matchAll(MARKER)) {
      if (early.has(mark) && !started.has(toolCallId))
        complaints.push(`${mark} ran, and call ${toolCallId} was never journaled as started`);
      if (name === 'run' && !left.has(mark) && results.get(toolCallId)?.status === 'completed')
        complaints.push(`${mark} did not run, and call ${toolCallId} is completed`);
    }
  }
  return complaints;
};

/** No line was written twice. */
export function marksAreUnique(markers: readonly string[]): readonly string[] {
  return repeated(markers).map((mark) => `${mark} ran more than once`);
}
