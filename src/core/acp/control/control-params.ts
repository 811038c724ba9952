import { isObject } from '../../../base/json.ts';
import type { ContentBlock } from '../../../protocol/acp.ts';
import * as checks from '../generated/schema-checks.mjs';
import { badField, metaOf } from '../params.ts';

/** Other spellings that are read, after the name they stand for. Source: Harn session control, methods. */
const ALIASES: readonly (readonly [name: string, ...others: string[]])[] = [
  ['sessionId', 'session_id'],
  ['messageId', 'message_id'],
  ['reminderId', 'reminder_id'],
  ['toolCallId', 'tool_call_id', 'callId', 'call_id'],
  ['injectReminder', 'inject_reminder'],
  ['dedupeKey', 'dedupe_key'],
  ['checkpointId', 'checkpoint_id'],
  ['keepFirst', 'keep_first'],
  ['beforeMessageId', 'before_message_id'],
  ['branchName', 'branch_name'],
  ['environmentPolicy', 'environment_policy', 'profile'],
  ['itemId', 'item_id'],
  ['gateId', 'gate_id'],
  ['loopId', 'loop_id'],
  ['commandId', 'command_id'],
];

/** Params with every alias under the name that is checked; an explicit name wins. */
export function normalised(params: unknown): unknown {
  if (!isObject(params)) return params ?? {};
  const copy: Record<string, unknown> = { ...params };
  for (const [name, ...others] of ALIASES) {
    if (copy[name] !== undefined && copy[name] !== null) continue;
    const other = others.find((alias) => copy[alias] !== undefined && copy[alias] !== null);
    if (other === undefined) delete copy[name];
    else copy[name] = copy[other];
  }
  return copy;
}

/** The session a call names; null if it names none. */
export function namedSession(params: unknown): string | null {
  return textMember(normalised(params), 'sessionId') ?? null;
}

/** A member that is a text with something in it. */
export function textMember(params: unknown, name: string): string | undefined {
  const value = isObject(params) ? params[name] : undefined;
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** A message's content; a text counts as one block. Null if it is malformed. */
export function contentOf(value: unknown): readonly ContentBlock[] | null {
  const blocks: unknown = typeof value === 'string' ? [{ type: 'text', text: value }] : value;
  if (!Array.isArray(blocks) || !blocks.every((block) => checks.contentBlock(block))) return null;
  // Each block has just been checked against the schema that the type was made from.
  return blocks as readonly ContentBlock[];
}

/** An id stands in every record of what it brought about. */
const LONGEST_ID = 512;

/** Throws for an id that could not make a repeat safe: it is not left out silently. */
export function requireCommandId(params: unknown): void {
  const { commandId } = metaOf(params, 'pilothouse');
  if (commandId === undefined || commandId === null) return;
  if (typeof commandId === 'string' && commandId.length <= LONGEST_ID) return;
  throw badField(
    '/_meta/pilothouse/commandId',
    `must be a text of at most ${LONGEST_ID} characters`,
  );
}

/** The loop of the session that is meant. */
export function loopIdOf(params: unknown): { readonly loopId?: string } {
  const { loopId } = metaOf(params, 'pilothouse');
  return typeof loopId === 'string' && loopId !== '' ? { loopId } : {};
}

/** The id that makes a repeat safe. */
export function commandIdOf(params: unknown): { readonly commandId?: string } {
  const { commandId } = metaOf(params, 'pilothouse');
  return typeof commandId === 'string' && commandId !== '' ? { commandId } : {};
}
