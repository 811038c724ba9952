import { messageOf } from '../../../base/errors.ts';
import type { Json } from '../../../base/json.ts';
import type { ToolCallContent, ToolCallLocation } from '../../../protocol/acp.ts';
import type { ModelPart, ModelToolResult } from '../model.ts';
import { askSignIn } from '../state/sign-in.ts';
import type { AskAnswer, AskRequest, ToolContext } from '../tool.ts';
import type { ToolCallId } from '../words.ts';
import { ABORTED, orAborted } from './aborts.ts';
import { type ParkedDelegates, parking } from './park.ts';
import type { ReadyCall } from './plan-call.ts';
import type { TurnContext } from './turn-context.ts';

/** A call's end, for the model and for the person. */
export type Finished = {
  readonly status: ModelToolResult['status'];
  readonly parts: readonly ModelPart[];
  readonly content: readonly ToolCallContent[];
  readonly locations: readonly ToolCallLocation[];
  readonly rawOutput?: Json;
};

/** Reads the newest output of a call; kept so that a stopped call can show what it had said. */
export type OutputTail = (() => string) & { readonly add: (text: string) => void };

const TAIL_UNITS = 64 * 1024;

/** Keeps the last 64 Ki characters of what is added. */
export function createOutputTail(): OutputTail {
  let tail = '';
  const add = (text: string): void => {
    const all = tail + text;
    tail = all.length > 2 * TAIL_UNITS ? dropHalfCharacter(all.slice(-TAIL_UNITS)) : all;
  };
  return Object.assign(() => dropHalfCharacter(tail.slice(-TAIL_UNITS)), { add });
}

/** How long a call that is ended alone may take to end what it started, before it is left behind. */
const END_CALL_MS = 1_000;

/**
 * Runs an approved call to its result. Stop does not wait for the tool; a call that is ended alone is given a moment,
 * so that what it started is gone before the next call begins. Never rejects: a tool that throws is a failed call.
 */
export async function runCall(turn: TurnContext, ready: ReadyCall): Promise<Finished> {
  const signal = turn.calls.signalOf(ready.call.toolCallId, turn.signal);
  const run = runTool(turn, ready, signal);
  const first = await orAborted(run, signal);
  if (first !== ABORTED) return first;
  if (!turn.signal.aborted) {
    const deadline = new AbortController();
    const late = turn.deps.clock.sleep(END_CALL_MS, deadline.signal).catch(() => undefined);
    await orAborted(Promise.race([run, late]), turn.signal);
    deadline.abort();
  }
  return turn.signal.aborted
    ? cancelledResult(ready.output())
    : callCancelledResult(ready.output());
}

async function runTool(
  turn: TurnContext,
  ready: ReadyCall,
  signal: AbortSignal,
): Promise<Finished> {
  const { delegates } = turn.resources;
  const parked = delegates === undefined ? null : parking(turn, delegates);
  turn.calls.runs(ready.call.toolCallId, () => ({
    content: ready.preview.content,
    text: ready.output(),
  }));
  try {
    const outcome = await ready.prepared.run(toContext(turn, ready, signal, parked));
    return {
      status: parked?.wasInterrupted() === true ? 'interrupted' : outcome.status,
      parts: outcome.parts,
      content: outcome.content,
      locations: outcome.locations ?? ready.preview.locations,
      ...(outcome.rawOutput === undefined ? {} : { rawOutput: outcome.rawOutput }),
    };
  } catch (failure) {
    turn.deps.log.warn('A tool threw', { tool: ready.call.name, error: messageOf(failure) });
    return errorText('failed', messageOf(failure));
  }
}

/** The result of a call that has only words to show. */
export function errorText(status: Finished['status'], text: string): Finished {
  return {
    status,
    parts: [{ type: 'text', text }],
    content: [{ type: 'content', content: { type: 'text', text } }],
    locations: [],
  };
}

/** The result of a call that Stop ended or kept from running; `output` is what it had said so far. */
export function cancelledResult(output = ''): Finished {
  const text =
    output === ''
      ? 'Stopped by the user before it ran or finished'
      : `${output}\n[stopped by the user]`;
  return errorText('cancelled', text);
}

/** The result of a call that a person ended alone; `output` is what it had said so far. */
export function callCancelledResult(output = ''): Finished {
  const text =
    output === ''
      ? 'The user cancelled this call; it did not run to its end. Go on without it.'
      : `${output}\n[the user cancelled this call]`;
  return errorText('cancelled', text);
}

/** The result of a call that an interrupt kept from running. Source: Harn session control, Interrupt. */
export function interruptedResult(): Finished {
  return errorText(
    'interrupted',
    'Not run: a user interrupt arrived before this tool call was dispatched.',
  );
}

function toContext(
  turn: TurnContext,
  ready: ReadyCall,
  signal: AbortSignal,
  parked: ParkedDelegates | null,
): ToolContext {
  const { toolCallId } = ready.call;
  const { resources, recorder, turnId } = turn;
  return {
    sessionId: turn.sessionId,
    turnId,
    toolCallId,
    workspace: resources.workspace,
    mode: turn.config.mode,
    signal,
    output: (text) => {
      if (signal.aborted || text === '') return;
      ready.output.add(text);
      recorder.emit({ type: 'tool_output', turnId, toolCallId, text });
    },
    files: resources.files,
    ask: (request) => ask(turn, toolCallId, request),
    signIn: (request) => askSignIn(turn.ask, request, signal),
    setPlan: (entries) => recorder.history({ type: 'plan_changed', turnId, entries }),
    processes: resources.processes,
    ...(parked === null ? {} : { delegates: parked.delegates }),
  };
}

async function ask(
  turn: TurnContext,
  toolCallId: ToolCallId,
  { message, schema }: AskRequest,
): Promise<AskAnswer> {
  const request = { kind: 'ask', toolCallId, message, schema } as const;
  const answer = await turn.ask(request, turn.calls.signalOf(toolCallId, turn.attention()));
  if (answer.kind === 'accepted') return { kind: 'answered', content: answer.content };
  return { kind: 'declined', reason: answer.kind === 'declined' ? (answer.reason ?? null) : null };
}

function dropHalfCharacter(text: string): string {
  const first = text.charCodeAt(0);
  return first >= 0xdc00 && first <= 0xdfff ? text.slice(1) : text;
}
