import { messageOf } from '../../../base/errors.ts';
import type { PermissionOption } from '../../../protocol/acp.ts';
import type { GateAnswer } from '../gate-words.ts';
import type { ModelToolCall } from '../model.ts';
import { type ElsewhereAnswer, POLICY } from '../state/gates.ts';
import type { Policy, PolicyDecision, PreparedCall, Tool, ToolPreview } from '../tool.ts';
import { ABORTED, orAborted } from './aborts.ts';
import {
  callCancelledResult,
  createOutputTail,
  errorText,
  type Finished,
  interruptedResult,
  type OutputTail,
} from './run-call.ts';
import type { TurnContext } from './turn-context.ts';

type Base = {
  readonly call: ModelToolCall;
  readonly preview: ToolPreview;
  readonly readOnly: boolean;
};
type Asking = Extract<PolicyDecision, { decision: 'ask' }>;

/** A call that may run now. */
export type ReadyCall = Base & {
  readonly kind: 'ready';
  readonly prepared: PreparedCall;
  readonly output: OutputTail;
};
/** A call that has its result without running. */
type RefusedCall = Base & { readonly kind: 'refused'; readonly result: Finished };
/** A call that can't be prepared yet, perhaps because an earlier call of the batch has to run first. */
type DeferredCall = Base & { readonly kind: 'deferred'; readonly error: string };
type AskingCall = Base & {
  readonly kind: 'ask';
  readonly prepared: PreparedCall;
  readonly decision: Asking;
};

export type Planned = ReadyCall | RefusedCall | DeferredCall | AskingCall;
export type Approved = ReadyCall | RefusedCall | DeferredCall;

/** Checks a call's input and asks policy about it; no effect on the world. */
export async function plan(turn: TurnContext, call: ModelToolCall): Promise<Planned> {
  const tool = turn.tools.get(call.name);
  const preview: ToolPreview = {
    title: call.name,
    kind: tool?.kind ?? 'other',
    locations: [],
    content: [],
  };
  const base = { call, preview, readOnly: tool?.readOnly ?? true };
  if (tool === undefined)
    return refuse(
      base,
      `There is no tool named "${call.name}". Available: ${[...turn.tools.keys()].join(', ')}`,
    );
  if (call.inputError !== undefined)
    return refuse(base, `The arguments of ${call.name} are not valid JSON: ${call.inputError}`);
  const prepared = await prepare(turn, tool, call);
  if ('error' in prepared) return { ...base, kind: 'deferred', error: prepared.error };
  return decide(turn, tool, { ...base, preview: prepared.preview }, prepared);
}

/** Asks the person where policy wants it. Resolves at once for every other call. */
export async function approve(turn: TurnContext, item: Planned): Promise<Approved> {
  if (item.kind === 'ready') return (await refusedBefore(turn, item)) ?? item;
  if (item.kind !== 'ask') return item;
  const { call, preview, decision, prepared } = item;
  if (turn.signal.aborted)
    return {
      ...item,
      kind: 'refused',
      result: errorText('cancelled', 'Cancelled before it was approved'),
    };
  if (turn.calls.isCancelled(call.toolCallId))
    return { ...item, kind: 'refused', result: callCancelledResult() };
  if (turn.attention().aborted) return { ...item, kind: 'refused', result: interruptedResult() };
  const options = toOptions(decision);
  const over = new AbortController();
  const elsewhere = turn.rules.answer(() => answerOfRules(turn, item), over.signal);
  const answer = await turn
    .ask(
      {
        kind: 'permission',
        toolCallId: call.toolCallId,
        tool: call.name,
        title: preview.title,
        toolKind: preview.kind,
        input: call.input,
        locations: preview.locations,
        content: preview.content,
        reason: decision.reason,
        details: decision.details,
        options,
      },
      turn.calls.signalOf(call.toolCallId, turn.attention()),
      { about: prepared.accesses, elsewhere },
    )
    .finally(() => over.abort());
  if (await isAllowed(turn, decision, options, answer))
    return { ...item, kind: 'ready', prepared, output: createOutputTail() };
  return { ...item, kind: 'refused', result: denial(answer) };
}

/** What the rules say by now to a call that waits for a person; null where they leave it to them. */
async function answerOfRules(
  turn: TurnContext,
  { call, readOnly, prepared }: AskingCall,
): Promise<ElsewhereAnswer | null> {
  const { decision, reason } = await turn.deps.policy.decide(
    request(turn, call, readOnly, prepared),
  );
  if (decision === 'allow')
    return { answer: { kind: 'selected', optionId: 'allow_once' }, actor: POLICY };
  return decision === 'deny' ? { answer: { kind: 'declined', reason }, actor: POLICY } : null;
}

function request(
  turn: TurnContext,
  { name }: ModelToolCall,
  readOnly: boolean,
  { accesses }: PreparedCall,
): Parameters<Policy['decide']>[0] {
  const { sessionId, resources, config } = turn;
  return {
    sessionId,
    workspace: resources.workspace,
    mode: config.mode,
    tool: name,
    readOnly,
    accesses,
  };
}

/** A call that needs no question any more, though a person said no to it before a restart; null for every other. */
async function refusedBefore(turn: TurnContext, item: ReadyCall): Promise<RefusedCall | null> {
  const answer = await turn.answerBefore(item.call.toolCallId);
  if (answer === null || (answer.kind === 'selected' && answer.optionId.startsWith('allow')))
    return null;
  return { ...item, kind: 'refused', result: denial(answer) };
}

/** Plans a call again after the world changed; an approval holds while the call touches just the same things. */
export async function replan(turn: TurnContext, item: Approved): Promise<Approved> {
  if (item.kind === 'refused') return item;
  const fresh = await plan(turn, item.call);
  if (
    fresh.kind === 'ask' &&
    item.kind === 'ready' &&
    sameAccesses(fresh.prepared, item.prepared)
  ) {
    return { ...fresh, kind: 'ready', output: item.output };
  }
  return approve(turn, fresh);
}

async function prepare(
  turn: TurnContext,
  tool: Tool,
  call: ModelToolCall,
): ReturnType<Tool['prepare']> {
  const signal = turn.calls.signalOf(call.toolCallId, turn.signal);
  try {
    const preparing = tool.prepare(call.input, {
      sessionId: turn.sessionId,
      workspace: turn.resources.workspace,
      files: turn.resources.files,
      signal,
    });
    const prepared = await orAborted(preparing, signal);
    return prepared === ABORTED ? { error: 'Stopped before it was prepared' } : prepared;
  } catch (failure) {
    turn.deps.log.error('A tool failed while it was being prepared', {
      tool: call.name,
      error: messageOf(failure),
    });
    return { error: messageOf(failure) };
  }
}

async function decide(
  turn: TurnContext,
  tool: Tool,
  base: Base,
  prepared: PreparedCall,
): Promise<Planned> {
  const deciding = turn.deps.policy.decide(request(turn, base.call, tool.readOnly, prepared));
  const decision = await orAborted(
    deciding,
    turn.calls.signalOf(base.call.toolCallId, turn.signal),
  );
  if (decision === ABORTED) return refuse(base, 'Stopped before it was allowed');
  switch (decision.decision) {
    case 'allow':
      return { ...base, kind: 'ready', prepared, output: createOutputTail() };
    case 'ask':
      return { ...base, kind: 'ask', prepared, decision };
    case 'deny':
      turn.watch.denied(base.call.toolCallId, decision.reason);
      return {
        ...base,
        kind: 'refused',
        result: errorText('denied', `Not allowed: ${decision.reason}`),
      };
    case 'propose':
      return {
        ...base,
        kind: 'refused',
        result: {
          ...errorText('completed', `Proposed only, nothing was changed: ${decision.reason}`),
          content: prepared.preview.content,
        },
      };
  }
}

function refuse(base: Base, error: string): RefusedCall {
  return { ...base, kind: 'refused', result: errorText('failed', error) };
}

function sameAccesses(a: PreparedCall, b: PreparedCall): boolean {
  return JSON.stringify(a.accesses) === JSON.stringify(b.accesses);
}

function toOptions(decision: Asking): readonly PermissionOption[] {
  const always = decision.remember.map(
    (option, index): PermissionOption => ({
      optionId: rememberId(index),
      name: option.label,
      kind: 'allow_always',
    }),
  );
  return [
    { optionId: 'allow_once', name: 'Allow once', kind: 'allow_once' },
    { optionId: 'reject_once', name: 'Reject', kind: 'reject_once' },
    ...always,
  ];
}

/** Two options may have one scope, so it is the place that names an option. */
function rememberId(index: number): string {
  return `allow_always:${index}`;
}

async function isAllowed(
  turn: TurnContext,
  decision: Asking,
  options: readonly PermissionOption[],
  answer: GateAnswer,
): Promise<boolean> {
  if (answer.kind !== 'selected') return false;
  const option = options.find(({ optionId }) => optionId === answer.optionId);
  if (option?.kind === 'allow_once') return true;
  if (option?.kind !== 'allow_always') return false;
  const remembered = decision.remember.find((_, index) => rememberId(index) === answer.optionId);
  if (remembered === undefined) return false;
  const { sessionId, resources, deps, signal } = turn;
  const storing = deps.policy.remember(sessionId, resources.workspace, remembered, 'allow');
  if ((await orAborted(storing, signal)) === ABORTED) return false;
  turn.rules.changed();
  return true;
}

function denial(answer: GateAnswer): Finished {
  if (answer.kind === 'cancelled' && answer.reason === 'interrupted') return interruptedResult();
  if (answer.kind === 'cancelled' && answer.reason === 'call_cancelled')
    return callCancelledResult();
  if (answer.kind === 'cancelled')
    return errorText('cancelled', 'Cancelled before it was approved; it did not run');
  // It may be a rule or a limit that says so, and not a person.
  if (answer.kind === 'declined' && answer.reason !== undefined)
    return errorText('denied', `This call was declined and did not run: ${answer.reason}`);
  const note =
    answer.kind === 'selected' && answer.note !== undefined ? ` They said: ${answer.note}` : '';
  return errorText('denied', `The user rejected this call; it did not run.${note}`);
}
