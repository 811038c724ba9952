import type { JsonObject } from '../../../base/json.ts';

/** How a `fail with` line fails on its first attempt. */
export type Failure =
  | { readonly kind: 'status'; readonly status: number }
  | { readonly kind: 'cut' }
  | { readonly kind: 'timeout' };

/** A call of one tool. */
export type ToolStatement = {
  readonly kind: 'tool';
  readonly name: string;
  readonly input: JsonObject;
};

/** What may stand in one reply together with tool calls. */
export type ReplyStatement =
  | { readonly kind: 'say'; readonly text: string }
  | { readonly kind: 'think'; readonly text: string }
  | ToolStatement
  | { readonly kind: 'wait'; readonly seconds: number };

/** One line of a script, understood. */
export type Statement =
  | ReplyStatement
  | { readonly kind: 'together'; readonly parts: readonly ReplyStatement[] }
  | { readonly kind: 'count'; readonly from: number; readonly to: number }
  | { readonly kind: 'fail'; readonly failure: Failure }
  | { readonly kind: 'finish'; readonly text: string }
  /** Only the instant variant knows it. */
  | { readonly kind: 'stream'; readonly chunks: number }
  /** The verb was known but not what follows it; `hint` says what would be right. */
  | { readonly kind: 'problem'; readonly line: string; readonly hint: string }
  | { readonly kind: 'unknown'; readonly line: string };

/** Limits of what a line may ask for; past them it is answered with a hint. */
export const LIMITS = {
  waitSeconds: 3_600,
  countLines: 10_000,
  streamChunks: 1_000_000,
} as const;

/** The list that is shown with a line that was not understood. */
export const HELP = [
  'I am the rehearsal model: no network, no AI. I read your message as a script, one statement a line:',
  '- `say TEXT`, `reply with exactly: TEXT`, `think TEXT`',
  '- `read PATH`, `list PATH`, `search PATTERN [in PATH]`',
  '- `write PATH: TEXT`, `create a file named PATH containing exactly: TEXT`, `replace OLD with NEW in PATH`',
  '- `run COMMAND`, `start COMMAND` (in the background)',
  '- `ask QUESTION`, `delegate: TEXT`, `delegate in background: TEXT`, `plan: A; B; C`',
  '- `call TOOL with JSON`, `together: S1 ; S2 ; S3`',
  '- `wait N` (seconds), `count slowly from A to B`, `fail with 429` (or `500`, `cut`)',
  '- `finish with TEXT`',
  '- `continue` alone: goes on where a turn broke off',
].join('\n');
