import { messageOf } from '../../../base/errors.ts';
import type { CompactDesk } from '../control/compact-desk.ts';
import type { Seams } from '../control/seams.ts';
import type { SessionDeps, SessionResources } from '../deps.ts';
import type { Conversation } from '../state/conversation.ts';
import type { Gates } from '../state/gates.ts';
import type { ParkedTurn } from '../state/parked.ts';
import type { Recorder } from '../state/recorder.ts';
import { askSignIn } from '../state/sign-in.ts';
import type { AskSignIn } from '../tool.ts';
import type { SessionConfig, SessionId, TurnId } from '../words.ts';
import { type AbortReason, abortReason, orAborted } from './aborts.ts';
import { type AskGate, askGate } from './ask-gate.ts';
import { NO_USAGE } from './budget.ts';
import { ProgressWatch } from './progress.ts';
import { RuleNews } from './rule-news.ts';
import { runtimeErrorEnding } from './terminal.ts';
import type { TextStream } from './text-stream.ts';
import type { ToolCalls } from './tool-calls.ts';
import { runTurn, type TurnResult } from './turn.ts';
import type { TurnContext } from './turn-context.ts';

/** What a turn shares with the session and the loop that it runs in. */
export type TurnParts = {
  readonly sessionId: SessionId;
  readonly deps: SessionDeps;
  readonly resources: SessionResources;
  readonly recorder: Recorder;
  readonly gates: Gates;
  readonly conversation: Conversation;
  readonly seams: Seams;
  readonly compactions: Pick<CompactDesk, 'atBoundary'>;
  readonly calls: ToolCalls;
  readonly setStream: (stream: TextStream | null) => void;
  /** Tells subscribers what waits now. */
  readonly announcePending: () => void;
};

/** One turn: its name, its snapshot of the session's options, and what stops it. */
export type OneTurn = {
  readonly turnId: TurnId;
  readonly config: SessionConfig;
  readonly abort: AbortController;
  /** Where it stood, if it goes on after a restart. */
  readonly parked: ParkedTurn | null;
};

/**
 * Runs a turn from its preparation to its terminal. What throws in it that should not is an ending too; only a fault of
 * the journal rejects.
 */
export async function runWholeTurn(parts: TurnParts, turn: OneTurn): Promise<TurnResult> {
  const { signal } = turn.abort;
  try {
    const at = { iteration: turn.parked?.iteration ?? 0 };
    const ask = askGate({ ...parts, ...turn, iteration: () => at.iteration });
    await prepare(parts, turn, ask);
    return await runTurn(contextOf(parts, turn, ask, at));
  } catch (failure) {
    const reason = signal.aborted ? abortReason(signal) : null;
    if (reason?.kind === 'fault') throw reason.cause;
    const message = messageOf(failure);
    parts.deps.log.error('A turn broke off', { sessionId: parts.sessionId, error: message });
    return { ending: runtimeErrorEnding(message), usage: NO_USAGE, iterations: 0 };
  }
}

async function prepare({ resources }: TurnParts, turn: OneTurn, ask: AskGate): Promise<void> {
  const { signal } = turn.abort;
  if (resources.prepareTurn === undefined) return;
  const signIn: AskSignIn = (request) => askSignIn(ask, request, signal);
  await orAborted(resources.prepareTurn({ signal, signIn }), signal);
}

function contextOf(
  parts: TurnParts,
  { turnId, config, abort, parked }: OneTurn,
  ask: AskGate,
  at: { iteration: number },
): TurnContext {
  const { sessionId, deps, resources, recorder, gates, conversation, seams, calls } = parts;
  const { signal } = abort;
  const tools = new Map(resources.tools().map((tool) => [tool.definition.name, tool]));
  const watch = new ProgressWatch(deps.digest);
  return {
    sessionId,
    turnId,
    config,
    tools,
    definitions: [...tools.values()].map((tool) => tool.definition),
    deps,
    resources,
    recorder,
    ask,
    answerBefore: (toolCallId) => gates.answerBefore(toolCallId),
    abandonRestored: () => gates.abandonRestored(signal.aborted ? 'turn_cancelled' : 'restart'),
    rules: new RuleNews(),
    parked,
    conversation,
    signal,
    passSeam: async (seam, iteration, dropped) => {
      at.iteration = iteration;
      const pass = await seams.pass({
        turnId,
        seam,
        iteration,
        stopped: signal.aborted,
        ...(dropped === undefined ? {} : { dropped }),
      });
      if (pass.delivered > 0) {
        parts.announcePending();
        watch.reset();
      }
      return pass;
    },
    announceSeam: async (seam) => {
      await seams.pass({ turnId, seam, iteration: at.iteration, stopped: true });
    },
    attention: () => AbortSignal.any([signal, seams.attention]),
    closeSeams: (isForced) => seams.close(isForced),
    tellDirective: (directive) => seams.tellDirective(directive),
    compactions: parts.compactions,
    calls,
    watch,
    fail: (cause) => {
      // What stops the whole session is told by whoever stops it.
      const isFault = signal.aborted && abortReason(signal).kind === 'fault';
      if (!isFault) deps.log.error('A turn broke off', { sessionId, error: messageOf(cause) });
      abort.abort({ kind: 'failed', cause } satisfies AbortReason);
    },
    setStream: parts.setStream,
    resolveModel: () => deps.models.resolve(config.model, { sessionId }),
  };
}
