import { elementText } from '../../../base/xml-text.ts';
import type { ModelMessage, ModelRequest, ModelToolResult } from '../../session/model.ts';
import { readReplies } from '../../session/side/summary-prompt.ts';
import { TOOL_NAMES } from '../../session/tool-names.ts';
import type { ToolCallId } from '../../session/words.ts';
import { genuineDirectives, type ToldDirective, textOf } from './envelope.ts';
import { parseScript } from './parse.ts';
import { finishOf } from './side-reply.ts';
import type { Statement } from './statement.ts';

type Assistant = Extract<ModelMessage, { role: 'assistant' }>;

/** One model reply of a script that is not the final message. */
export type Step =
  | {
      readonly kind: 'line';
      readonly statement: Exclude<Statement, { kind: 'finish' | 'unknown' }>;
    }
  /** Lines in a row that were not understood, answered together. */
  | { readonly kind: 'unknown'; readonly lines: readonly string[] }
  /** A directive without a statement. */
  | { readonly kind: 'acknowledge'; readonly text: string; readonly replacesScript: boolean }
  /** Says what a person answered to earlier `ask` lines. */
  | { readonly kind: 'answers'; readonly calls: readonly ToolCallId[] };

/** Where a script stands, as told by the messages alone. */
export type Position = {
  /** 1 for the first reply after the prompt. */
  readonly iteration: number;
  /** The step to do now; null when only the final message is left. */
  readonly step: Step | null;
  /** The text of `finish with`, when there is one. */
  readonly finish: string | null;
  /** True when the prompt holds no line at all. */
  readonly empty: boolean;
  readonly stepsDone: number;
  readonly stepsFailed: number;
  readonly results: ReadonlyMap<ToolCallId, ModelToolResult>;
};

function stepsOf(statements: readonly Statement[]): { steps: Step[]; finish: string | null } {
  const steps: Step[] = [];
  let finish: string | null = null;
  let unknown: string[] | null = null;
  for (const statement of statements) {
    if (statement.kind === 'unknown') {
      if (unknown === null) {
        unknown = [];
        steps.push({ kind: 'unknown', lines: unknown });
      }
      unknown.push(statement.line);
      continue;
    }
    unknown = null;
    if (statement.kind === 'finish') finish = statement.text;
    else steps.push({ kind: 'line', statement });
  }
  return { steps, finish };
}

/** As `stepsOf`, but lines without a statement are instructions to acknowledge, not mistakes. */
function directiveSteps(
  text: string,
  bench: boolean,
  replacesScript: boolean,
): { steps: Step[]; finish: string | null } {
  const { steps, finish } = stepsOf(parseScript(text, bench));
  return {
    steps: steps.map((step) =>
      step.kind === 'unknown'
        ? { kind: 'acknowledge', text: step.lines.join('\n'), replacesScript }
        : step,
    ),
    finish,
  };
}

function toolNames(step: Step): readonly string[] {
  if (step.kind !== 'line') return [];
  const parts = step.statement.kind === 'together' ? step.statement.parts : [step.statement];
  return parts.flatMap((part) => (part.kind === 'tool' ? [part.name] : []));
}

function hasFailed(
  step: Step,
  reply: Assistant,
  results: ReadonlyMap<ToolCallId, ModelToolResult>,
): boolean {
  if (step.kind === 'unknown') return true;
  if (step.kind === 'line' && step.statement.kind === 'problem') return true;
  if (toolNames(step).length > reply.calls.length) return true;
  return reply.calls.some((call) => results.get(call.toolCallId)?.status !== 'completed');
}

function resultsOf(messages: readonly ModelMessage[]): Map<ToolCallId, ModelToolResult> {
  const results = new Map<ToolCallId, ModelToolResult>();
  for (const message of messages) {
    if (message.role !== 'tool') continue;
    for (const result of message.results) results.set(result.toolCallId, result);
  }
  return results;
}

/** Replays a turn's messages over its script. */
class Replay {
  readonly #bench: boolean;
  readonly #results: ReadonlyMap<ToolCallId, ModelToolResult>;
  #pending: Step[] = [];
  /** Where the next directive of the same seam goes: behind those that came just before it. */
  #insertAt = 0;
  #finish: string | null = null;
  /** What a judge restated; it counts only while no contract says how to finish. */
  #corrected: string | null = null;
  #contracted = false;
  /** True between a summary and what follows its envelope: the envelope then stands for messages that are gone. */
  #restating = false;
  #iteration = 1;
  #done = 0;
  #failed = 0;

  constructor(results: ReadonlyMap<ToolCallId, ModelToolResult>, bench: boolean) {
    this.#results = results;
    this.#bench = bench;
  }

  prompt(text: string): void {
    const { steps, finish } = stepsOf(parseScript(text, this.#bench));
    this.#pending = steps;
    this.#finish = finish;
    this.#corrected = null;
    this.#contracted = false;
  }

  /** The script and what is known of its course where the messages before were compacted. */
  summary(text: string): void {
    this.prompt(elementText('objective', text) ?? '');
    const replies = readReplies(text);
    this.#iteration += replies;
    this.#done += Math.min(replies, this.#pending.length);
    this.#pending.splice(0, replies);
    this.#restating = true;
  }

  directives(directives: readonly ToldDirective[]): void {
    for (const { authority, source, text } of directives) {
      const finish = finishOf(text);
      if (finish === null) continue;
      if (authority === 'contract') {
        this.#contracted = true;
        if (this.#restating) this.#finish = finish;
      } else if (source === 'judge') this.#corrected = finish;
    }
    this.#restating = false;
  }

  steer(text: string): void {
    const { steps, finish } = directiveSteps(text, this.#bench, false);
    this.#pending.splice(this.#insertAt, 0, ...steps);
    this.#insertAt += steps.length;
    this.#finish = finish ?? this.#finish;
  }

  interrupt(text: string): void {
    const { steps, finish } = directiveSteps(text, this.#bench, true);
    this.#pending = steps;
    this.#insertAt = steps.length;
    this.#finish = finish;
  }

  reply(message: Assistant): void {
    this.#restating = false;
    this.#iteration += 1;
    this.#insertAt = 0;
    const step = this.#pending.shift();
    if (step === undefined) return;
    if (step.kind === 'line' || step.kind === 'unknown') {
      this.#done += 1;
      if (hasFailed(step, message, this.#results)) this.#failed += 1;
    }
    const asked = toolNames(step).includes(TOOL_NAMES.ask)
      ? message.calls.filter((call) => call.name === TOOL_NAMES.ask).map((call) => call.toolCallId)
      : [];
    if (asked.length > 0) this.#pending.unshift({ kind: 'answers', calls: asked });
  }

  position(empty: boolean): Position {
    return {
      iteration: this.#iteration,
      step: this.#pending[0] ?? null,
      finish: this.#contracted ? this.#finish : (this.#corrected ?? this.#finish),
      empty,
      stepsDone: this.#done,
      stepsFailed: this.#failed,
      results: this.#results,
    };
  }
}

/**
 * Finds where the script stands. The script is the newest user message of origin `prompt`, or what a newer summary
 * says of it; every assistant message after it was one step, whether it came to its end or not. A steer's steps go
 * before what is left, an interrupt's replace it. A prompt that only says `continue` goes on with the script of the
 * one before it. Both are read where the person's own words stand; an envelope only
 * decides whether a judge may bring the script's final message back.
 */
export function positionOf(request: ModelRequest, bench: boolean): Position {
  const start = startOf(request.messages);
  const turn = request.messages.slice(Math.max(start, 0));
  const genuine = genuineDirectives(request.messages);
  const replay = new Replay(resultsOf(turn), bench);
  let empty = true;
  for (const message of turn) {
    if (message.role === 'assistant') replay.reply(message);
    if (message.role !== 'user' || (message !== turn[0] && isContinue(message))) continue;
    const text = textOf(message);
    if (message.origin !== 'machine' && text.trim() !== '') empty = false;
    deliver(replay, message.origin, text, genuine.get(message) ?? []);
  }
  return replay.position(empty);
}

type UserMessage = Extract<ModelMessage, { role: 'user' }>;

/** Where the script that runs stands; -1 if there is none. */
function startOf(messages: readonly ModelMessage[]): number {
  const starts = messages.flatMap((message, index) =>
    message.role === 'user' && (message.origin === 'prompt' || message.origin === 'summary')
      ? [{ message, index }]
      : [],
  );
  const script = starts.findLast(({ message }) => !isContinue(message)) ?? starts.at(-1);
  return script?.index ?? -1;
}

function isContinue(message: UserMessage): boolean {
  return message.origin === 'prompt' && /^\s*continue\.?\s*$/i.test(textOf(message));
}

function deliver(
  replay: Replay,
  origin: Extract<ModelMessage, { role: 'user' }>['origin'],
  text: string,
  directives: readonly ToldDirective[],
): void {
  switch (origin) {
    case 'prompt':
      replay.prompt(text);
      break;
    case 'steer':
      replay.steer(text);
      break;
    case 'interrupt':
      replay.interrupt(text);
      break;
    case 'summary':
      replay.summary(text);
      break;
    case 'directives':
      replay.directives(directives);
      break;
    case 'machine':
      break;
  }
}
