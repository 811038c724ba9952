import type { Complaint, Evidence, LoopRule } from './evidence.ts';
import { causesAreIssued } from './rules/causes.ts';
import { acceptedIsIssued, toldIsKept } from './rules/client.ts';
import {
  heldIsKept,
  idsAreUnique,
  machineInputIsReadOnce,
  messagesEndOnce,
  nothingIsLost,
  promptsBeginOnce,
  resolvedOnce,
} from './rules/commands.ts';
import { handedBackOnce, loopsHaveParents } from './rules/delegates.ts';
import {
  callsRunOnce,
  marksAreJournaled,
  marksAreUnique,
  outcomesAreHonest,
} from './rules/tools.ts';
import {
  gatesResolveOnce,
  onlyQuestionsPark,
  processesEndOnce,
  textIsWhole,
  turnsFollow,
} from './rules/turns.ts';

/** What has to hold of every loop, by name. */
export const LOOP_RULES = {
  chainsAreWhole: ({ broken }) => broken,
  idsAreUnique,
  resolvedOnce,
  promptsBeginOnce,
  messagesEndOnce,
  heldIsKept,
  nothingIsLost,
  machineInputIsReadOnce,
  callsRunOnce,
  outcomesAreHonest,
  marksAreJournaled,
  turnsFollow,
  gatesResolveOnce,
  onlyQuestionsPark,
  textIsWhole,
  processesEndOnce,
  handedBackOnce,
  loopsHaveParents,
  causesAreIssued,
  toldIsKept,
  acceptedIsIssued,
} as const satisfies Record<string, LoopRule>;

/** Everything that does not hold; empty if nothing accepted was lost and nothing ran twice. */
export function complaintsAbout(evidence: Evidence): readonly Complaint[] {
  const complaints: Complaint[] = [];
  for (const loop of evidence.loops)
    for (const [rule, holds] of Object.entries<LoopRule>(LOOP_RULES))
      for (const text of holds(loop, evidence))
        complaints.push({ rule, loopId: loop.loopId, text });
  const everywhere = (rule: string, texts: readonly string[]): void => {
    for (const text of texts) complaints.push({ rule, loopId: '', text });
  };
  everywhere('marksAreUnique', marksAreUnique(evidence.markers));
  everywhere(
    'nothingIsOrphaned',
    evidence.alive.map((process) => `process ${process} outlived what started it`),
  );
  const known = new Set(evidence.loops.map(({ loopId }) => loopId));
  const lost = new Set(
    [...evidence.told, ...evidence.sent.filter(({ answer }) => answer === 'ok')]
      .map(({ sessionId }) => sessionId)
      .filter((sessionId) => !known.has(sessionId)),
  );
  everywhere(
    'sessionsAreKept',
    [...lost].map((sessionId) => `session ${sessionId} was told of and is not there`),
  );
  return complaints;
}
