import type { NextTurnDesk } from '../control/next-turn-desk.ts';
import type { Seams } from '../control/seams.ts';
import type { SessionDeps, SessionResources } from '../deps.ts';
import type { NewRecord } from '../ports.ts';
import { controlRecords, historyRecords } from '../records.ts';
import type { Conversation } from '../state/conversation.ts';
import type { ParkedTurn } from '../state/parked.ts';
import type { PendingPrompt, PromptOutcome } from '../state/prompts.ts';
import type { Recorder } from '../state/recorder.ts';
import { looseEnds } from '../state/restore.ts';
import type { SessionState } from '../state/session-state.ts';
import { beginningOf, endOf } from '../state/turn-records.ts';
import type { MessageId, SessionConfig, TurnId } from '../words.ts';
import { type AbortReason, abortReason, onAbort } from './aborts.ts';
import { faultedTurn, workspaceFault } from './checkpoint-required.ts';
import { stopProcesses } from './stop-processes.ts';
import { TurnCheckpoint } from './turn-checkpoint.ts';
import { runWholeTurn, type TurnParts } from './whole-turn.ts';

/** What the turn of a prompt runs with. */
export type PromptTurnParts = {
  readonly deps: SessionDeps;
  readonly resources: SessionResources;
  readonly recorder: Recorder;
  readonly state: SessionState;
  readonly seams: Seams;
  readonly nextTurns: NextTurnDesk;
  readonly turnParts: TurnParts;
  readonly conversation: () => Conversation;
  /** True if another turn begins when this one is over. */
  readonly isFollowed: () => boolean;
  /** No turn begins before this is settled. */
  readonly followUp: (late: Promise<void>) => void;
};

/** A prompt whose turn begins, or goes on where a question left it when the process ended. */
export type PromptTurn = {
  readonly prompt: PendingPrompt;
  readonly turnId: TurnId;
  /** Of the prompt's message; null where that is on disk. */
  readonly messageId: MessageId | null;
  readonly config: SessionConfig;
  readonly abort: AbortController;
  readonly parked: ParkedTurn | null;
};

/** Runs the turn of a prompt, from the record of its beginning to the record of its end. Rejects on a fault only. */
export async function runPromptTurn(
  parts: PromptTurnParts,
  turn: PromptTurn,
): Promise<PromptOutcome> {
  const { prompt, messageId, config, abort, parked } = turn;
  parts.seams.open();
  const checkpoint = checkpointOf(parts, turn);
  if (messageId !== null) {
    const begun = parts.recorder.append(beginning(parts, turn, messageId));
    if (prompt.sent !== null) parts.nextTurns.began(prompt.commandId, begun);
    await begun;
  }
  const clockStop = new AbortController();
  if (config.budget.seconds !== undefined) {
    const outOfTime: AbortReason = { kind: 'out_of_time' };
    const left = config.budget.seconds * 1000 - (parked?.elapsedMs ?? 0);
    parts.deps.clock.sleep(Math.max(0, left), clockStop.signal).then(
      () => abort.abort(outOfTime),
      () => undefined,
    );
  }
  try {
    return await runToEnd(parts, turn, checkpoint);
  } finally {
    clockStop.abort();
  }
}

async function runToEnd(
  parts: PromptTurnParts,
  turn: PromptTurn,
  checkpoint: TurnCheckpoint,
): Promise<PromptOutcome> {
  const { turnId, abort } = turn;
  const stopping = onAbort(abort.signal, () => stopProcesses(parts.deps, parts.resources));
  const fault = workspaceFault(turn.config, parts.state.timeline);
  const result = fault === null ? await runWholeTurn(parts.turnParts, turn) : faultedTurn(fault);
  const { usage, iterations } = result;
  parts.seams.close(true);
  if (!wasStopped(abort.signal)) await stopping();
  const { ending, records } = await checkpoint.seal(result.ending, abort.signal);
  if (!wasStopped(abort.signal)) await stopping();
  const loose =
    ending.terminal.kind === 'runtime_error'
      ? looseEnds(parts.state, parts.conversation(), turnId)
      : [];
  const paused = parts.nextTurns.turnEnded(ending.terminal);
  await parts.recorder.append([
    ...historyRecords(loose),
    ...(parts.isFollowed() ? [] : parts.seams.givenBack()),
    ...records,
    endOf(turnId, { ending, usage, iterations }),
    ...controlRecords(paused),
  ]);
  if (abort.signal.aborted)
    parts.followUp(stopping().then(() => checkpoint.late(ending) ?? undefined));
  return { turnId, stopReason: ending.stopReason, terminal: ending.terminal, usage };
}

function checkpointOf(
  parts: PromptTurnParts,
  { turnId, config, parked }: PromptTurn,
): TurnCheckpoint {
  const { recorder, resources } = parts;
  const { ids, clock, log } = parts.deps;
  const checkpoints = resources.checkpoints ?? null;
  const messageCount = (): number => parts.conversation().messageCount;
  const policy = config.checkpoints ?? 'best_effort';
  const turnParts = { checkpoints, policy, recorder, ids, clock, log, messageCount };
  return new TurnCheckpoint(turnParts, turnId, parked?.before ?? null);
}

function beginning(
  parts: PromptTurnParts,
  turn: PromptTurn,
  messageId: MessageId,
): readonly NewRecord[] {
  const { resources, state } = parts;
  const { prompt, turnId, config } = turn;
  const records = beginningOf({
    prompt,
    turnId,
    messageId,
    config,
    expand: resources.expand,
    hasTitle: state.title !== null,
  });
  prompt.accepted = true;
  return records;
}

/** A person waits for their Stop to show: what the turn started is being killed, and is not waited for. */
function wasStopped(signal: AbortSignal): boolean {
  return signal.aborted && abortReason(signal).kind === 'cancelled';
}
