import { historyOf, type LoopRule, repeated } from '../evidence.ts';
import { issuedIn } from '../issued.ts';

/** A delegate's request has one end and one hand-back, and its loop belongs to the one that asked for it. */
export const handedBackOnce: LoopRule = (loop, { stage, loops }) => {
  const started = historyOf(loop, 'delegate_started');
  const ended = historyOf(loop, 'delegate_ended').map(({ requestId }) => String(requestId));
  const results = issuedIn(loop).filter(({ type }) => type === 'subagent_result');
  const requests = new Set(started.map(({ requestId }) => String(requestId)));
  const complaints = [
    ...repeated(started.map(({ requestId }) => requestId)).map((id) => `request ${id} began twice`),
    ...repeated(ended).map((id) => `request ${id} ended twice`),
    ...repeated(results.map(({ requestId = '' }) => requestId)).map(
      (id) => `request ${id} was handed back twice`,
    ),
    ...ended.filter((id) => !requests.has(id)).map((id) => `request ${id} ended and never began`),
    ...results
      .filter(({ commandId, requestId }) => commandId !== `${requestId}/result`)
      .map(({ commandId }) => `the hand-back ${commandId} has an id of its own`),
  ];
  if (stage === 'dead') return complaints;
  const known = new Set(loops.map(({ loopId }) => loopId));
  for (const { requestId, loopId } of started)
    if (!known.has(loopId) && !ended.includes(requestId))
      complaints.push(`request ${requestId} has neither a loop nor an end`);
  if (stage !== 'settled') return complaints;
  for (const requestId of requests) {
    if (!ended.includes(requestId)) complaints.push(`request ${requestId} never ended`);
    if (!results.some((result) => result.requestId === requestId))
      complaints.push(`request ${requestId} was never handed back`);
  }
  return complaints;
};

/** No loop is nobody's; one whose process died before anybody recorded the request never does anything. */
export const loopsHaveParents: LoopRule = (loop, { loops, stage }) => {
  const [created] = historyOf(loop, 'session_created');
  const { delegate } = created ?? {};
  const isIdle = historyOf(loop, 'turn_started').length === 0 && issuedIn(loop).length === 0;
  if (delegate === undefined || stage === 'dead' || isIdle) return [];
  const parent = loops.find(({ loopId }) => loopId === String(delegate.parentId));
  if (parent === undefined) return [`its parent ${delegate.parentId} is not there`];
  const asked = historyOf(parent, 'delegate_started').some(({ loopId }) => loopId === loop.loopId);
  return asked ? [] : [`its parent ${delegate.parentId} never asked for it`];
};
