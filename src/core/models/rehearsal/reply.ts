import type { ModelRequest, ModelToolCall } from '../../session/model.ts';
import type { ToolCallId } from '../../session/words.ts';
import { type Position, positionOf, type Step } from './position.ts';
import { sideReply } from './side-reply.ts';
import { type Failure, HELP, type ReplyStatement, type ToolStatement } from './statement.ts';

/** One thing that a reply does, in order. */
export type Beat =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thought'; readonly text: string }
  /** Text that is sent at once. */
  | { readonly type: 'note'; readonly text: string }
  | { readonly type: 'call'; readonly call: ModelToolCall }
  | { readonly type: 'wait'; readonly ms: number }
  /** One number a line. */
  | { readonly type: 'count'; readonly from: number; readonly to: number }
  | { readonly type: 'chunks'; readonly count: number }
  | { readonly type: 'fail'; readonly failure: Failure };

/** A whole reply, decided before anything is sent. */
export type Reply = {
  readonly beats: readonly Beat[];
  readonly finish: 'stop' | 'pause' | 'tool_calls';
};

function quoted(text: string): string {
  const short = text.length > 300 ? `${text.slice(0, 300).toWellFormed()}…` : text;
  return short
    .split('\n')
    .map((line) => `> ${line}`)
    .join('\n');
}

function say(text: string): Reply {
  return { beats: [{ type: 'text', text }], finish: 'pause' };
}

/** Turns the statements of one line into beats; tools that the request does not offer are named instead. */
function together(
  parts: readonly ReplyStatement[],
  request: ModelRequest,
  iteration: number,
): Reply {
  const offered = new Set(request.tools.map((tool) => tool.name));
  const calls: Beat[] = [];
  const beats = parts.flatMap((part, index): Beat[] => {
    if (part.kind === 'say')
      return [{ type: 'text', text: `${index > 0 ? '\n' : ''}${part.text}` }];
    if (part.kind === 'think') return [{ type: 'thought', text: part.text }];
    if (part.kind === 'wait') return waiting(part.seconds);
    if (!offered.has(part.name)) {
      return [{ type: 'text', text: notOffered(part, [...offered]) }];
    }
    calls.push({ type: 'call', call: callOf(part, request, iteration, calls.length) });
    return [];
  });
  return { beats: [...beats, ...calls], finish: calls.length > 0 ? 'tool_calls' : 'pause' };
}

function callOf(
  part: ToolStatement,
  request: ModelRequest,
  iteration: number,
  index: number,
): ModelToolCall {
  const id = `call_${request.turnId}_${iteration}_${index + 1}`;
  return { toolCallId: id as ToolCallId, name: part.name, input: part.input };
}

function notOffered(part: ToolStatement, offered: readonly string[]): string {
  const list =
    offered.length === 0 ? 'There are no tools here' : `Tools here: ${offered.join(', ')}`;
  return `The tool \`${part.name}\` is not offered to me, so I skip this line. ${list}.`;
}

function waiting(seconds: number): Beat[] {
  return [
    { type: 'note', text: `Waiting ${seconds} s … ` },
    { type: 'wait', ms: Math.round(seconds * 1_000) },
    { type: 'note', text: 'done.' },
  ];
}

function answers(calls: readonly ToolCallId[], position: Position): Reply {
  const said = calls.map((id) => {
    const result = position.results.get(id);
    const text = result?.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])) ?? [];
    const answer = text.join('\n').trim();
    return result?.status === 'completed' && answer !== '' ? answer : 'No answer was given.';
  });
  return say(said.join('\n'));
}

function describe(failure: Failure): string {
  switch (failure.kind) {
    case 'status':
      return `status ${failure.status}`;
    case 'cut':
      return 'a cut stream';
    case 'timeout':
      return 'a timeout';
  }
}

function lineReply(
  statement: Extract<Step, { kind: 'line' }>['statement'],
  request: ModelRequest,
  iteration: number,
): Reply {
  switch (statement.kind) {
    case 'say':
    case 'think':
    case 'tool':
    case 'wait':
      return together([statement], request, iteration);
    case 'together':
      return together(statement.parts, request, iteration);
    case 'count':
      return {
        beats: [{ type: 'count', from: statement.from, to: statement.to }],
        finish: 'pause',
      };
    case 'stream':
      return { beats: [{ type: 'chunks', count: statement.chunks }], finish: 'pause' };
    case 'fail':
      return request.attempt === 1
        ? { beats: [{ type: 'fail', failure: statement.failure }], finish: 'pause' }
        : say(`Attempt ${request.attempt} passed after ${describe(statement.failure)}.`);
    case 'problem':
      return say(`I can't read this line: ${statement.hint}.\n\n${quoted(statement.line)}`);
  }
}

function stepReply(step: Step, request: ModelRequest, position: Position): Reply {
  switch (step.kind) {
    case 'line':
      return lineReply(step.statement, request, position.iteration);
    case 'unknown':
      return say(`I don't understand this:\n\n${quoted(step.lines.join('\n'))}\n\n${HELP}`);
    case 'acknowledge':
      return say(
        `Noted:\n\n${quoted(step.text)}\n\n${step.replacesScript ? 'The rest of the script is dropped.' : 'The script goes on.'}`,
      );
    case 'answers':
      return answers(step.calls, position);
  }
}

function finalText(position: Position): string {
  if (position.finish !== null) return position.finish;
  if (position.empty) return `The message holds no script.\n\n${HELP}`;
  return `Done: ${position.stepsDone} steps, ${position.stepsFailed} failed.`;
}

/** Decides the reply from the request alone. */
export function replyTo(request: ModelRequest, bench: boolean): Reply {
  const side = sideReply(request);
  if (side !== null) return { beats: [{ type: 'text', text: side }], finish: 'stop' };
  const position = positionOf(request, bench);
  if (position.step !== null) return stepReply(position.step, request, position);
  return { beats: [{ type: 'text', text: finalText(position) }], finish: 'stop' };
}
