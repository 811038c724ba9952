import * as l10n from '@vscode/l10n';
import { isObject } from '../../../base/json.ts';
import type { ToolCallContent, ToolCallLocation, ToolKind } from '../../../protocol/acp.ts';
import type { ChatDiff, ChatImage, ChatTool } from '../../../protocol/chat.ts';
import type { ChatDelegate } from '../../../protocol/chat-delegates.ts';
import { delegateMarkOf } from '../../delegates/loop-news.ts';
import { fileDiff } from './file-diff.ts';

/** What is known of a tool call; parts arrive in any order and the newest of each wins. */
export type ToolState = {
  readonly id: string;
  title?: string;
  name?: string;
  kind?: ToolKind;
  status?: ChatTool['status'];
  rawInput?: unknown;
  staged?: boolean;
  delegate?: ChatDelegate;
  /** The task that it gave to a delegate. */
  requestId?: string;
  content?: readonly ToolCallContent[];
  locations?: readonly ToolCallLocation[];
  /**
   * Live output, at most the last `OUTPUT_WINDOW` characters, and how many came before them; until the result is here,
   * which holds it all. Meanwhile it is shown in place of the content, which only tells what the call is about to do.
   */
  live?: { text: string; cut: number };
};

/** The fields of `tool_call` and `tool_call_update` that matter here; null and missing mean: keep. */
export type ToolPatch = {
  readonly toolCallId: string;
  readonly title?: string | null;
  readonly name?: string | null;
  readonly kind?: ToolKind | null;
  readonly status?: string | null;
  readonly rawInput?: unknown;
  readonly rawOutput?: unknown;
  readonly content?: readonly ToolCallContent[] | null;
  readonly locations?: readonly ToolCallLocation[] | null;
};

/** How much output a card holds, in characters. */
export const OUTPUT_WINDOW = 64 * 1024;
const MAX_INPUT = 16 * 1024;
const STATUSES: readonly string[] = [
  'pending',
  'in_progress',
  'completed',
  'failed',
  'cancelled',
  'interrupted',
  'denied',
  'outcome_unknown',
] satisfies ChatTool['status'][];

/** Takes what an update says into the state. */
export function patchTool(
  state: ToolState,
  patch: ToolPatch,
  extra: Readonly<Record<string, unknown>>,
): void {
  if (patch.title) state.title = patch.title;
  if (patch.name) state.name = patch.name;
  if (patch.kind) state.kind = patch.kind;
  if (patch.rawInput !== undefined && patch.rawInput !== null) state.rawInput = patch.rawInput;
  if (isObject(patch.rawOutput) && patch.rawOutput['staged'] === true) state.staged = true;
  patchDelegate(state, patch, extra);
  if (patch.locations) state.locations = patch.locations;
  const status = [extra['status'], patch.status].find(isStatus);
  if (status) state.status = status;
  if (!patch.content) return;
  state.content = patch.content;
  if (state.status !== 'pending' && state.status !== 'in_progress') delete state.live;
}

function patchDelegate(
  state: ToolState,
  { rawOutput }: ToolPatch,
  extra: Readonly<Record<string, unknown>>,
): void {
  if (isObject(rawOutput) && typeof rawOutput['requestId'] === 'string')
    state.requestId = rawOutput['requestId'];
  const mark = delegateMarkOf(extra);
  if (!mark) return;
  const known = state.delegate;
  state.delegate = {
    ...known,
    loopId: mark.loopId,
    name: mark.name ?? known?.name ?? '',
    state: mark.state,
    background: mark.background ?? known?.background ?? false,
    prompt: known?.prompt || (mark.prompt ?? ''),
  };
}

function isStatus(value: unknown): value is ChatTool['status'] {
  return typeof value === 'string' && STATUSES.includes(value);
}

/** Adds live output and keeps its tail; returns what `append` needs to say. */
export function appendOutput(state: ToolState, text: string): { offset: number; text: string } {
  const live = state.live ?? { text: '', cut: 0 };
  const offset = live.cut + live.text.length;
  const whole = live.text + text;
  const excess = whole.length - OUTPUT_WINDOW;
  state.live =
    excess > 0
      ? {
          text: whole.slice(wholeCharacter(whole, excess)),
          cut: live.cut + wholeCharacter(whole, excess),
        }
      : { text: whole, cut: live.cut };
  return { offset, text };
}

/** A cut never leaves half a surrogate pair behind. */
function wholeCharacter(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff ? at + 1 : at;
}

/** Fills what `newer` does not know from an older part of the history. */
export function mergeOlder(newer: ToolState, older: ToolState): void {
  const merged = { ...older, ...newer };
  Object.assign(newer, merged);
}

/** The whole output text of a finished or running call. */
export function wholeOutput({ live, content = [] }: ToolState): string {
  return live?.text ?? content.flatMap(textOf).join('\n');
}

/** The card of a call. */
export function toolItem(state: ToolState): ChatTool {
  const output = wholeOutput(state);
  const start =
    output.length > OUTPUT_WINDOW ? wholeCharacter(output, output.length - OUTPUT_WINDOW) : 0;
  return {
    kind: 'tool',
    id: state.id,
    title: state.title ?? state.name ?? l10n.t('Tool'),
    name: state.name ?? '',
    toolKind: state.kind ?? 'other',
    status: state.status ?? 'pending',
    input: inputText(state.rawInput),
    locations: state.locations ?? [],
    diffs: diffsOf(state.content ?? []),
    output: output.slice(start),
    outputCut: start + (state.live?.cut ?? 0),
    images: imagesOf(state.content ?? []),
    ...markedPart(state),
  };
}

function markedPart({ staged, delegate }: ToolState): Pick<ChatTool, 'staged' | 'delegate'> {
  return {
    ...(staged === true ? { staged: true } : {}),
    ...(delegate === undefined ? {} : { delegate }),
  };
}

/** The changes a call's content shows. */
export function diffsOf(content: readonly ToolCallContent[]): ChatDiff[] {
  return content.flatMap((part) =>
    part.type === 'diff' ? [fileDiff(part.path, part.oldText ?? null, part.newText)] : [],
  );
}

function imagesOf(content: readonly ToolCallContent[]): ChatImage[] {
  return content.flatMap((part) =>
    part.type === 'content' && part.content.type === 'image'
      ? [{ mimeType: part.content.mimeType, data: part.content.data }]
      : [],
  );
}

function textOf(part: ToolCallContent): string[] {
  if (part.type === 'terminal') return [l10n.t('[The output of this terminal is not available.]')];
  if (part.type !== 'content') return [];
  if (part.content.type === 'text') return [part.content.text];
  if (part.content.type === 'resource_link') return [part.content.uri];
  if (part.content.type === 'resource' && 'text' in part.content.resource)
    return [part.content.resource.text];
  return [];
}

/** A call's input as a person reads it: a lone text argument as it is, else the JSON. */
export function inputText(raw: unknown): string {
  if (raw === undefined || raw === null) return '';
  if (typeof raw === 'string') return raw.slice(0, MAX_INPUT);
  if (isObject(raw)) {
    const command = raw['command'];
    if (typeof command === 'string' && Object.keys(raw).length === 1) return command;
  }
  return JSON.stringify(raw, null, 2).slice(0, MAX_INPUT);
}
