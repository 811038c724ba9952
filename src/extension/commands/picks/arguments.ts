import { isObject } from '../../../base/json.ts';

/** What a menu or another command named. */
export type Target = { readonly sessionId?: string; readonly gateId?: string };

/** Reads a command's argument: a node of the sessions tree, or `{sessionId}` or `{gateId}`. */
export function targetOf(argument: unknown): Target {
  if (!isObject(argument)) return {};
  const view = argument['view'];
  if (isObject(view) && isObject(view['row'])) return strings(view['row']);
  const gate = argument['gate'];
  if (isObject(gate)) return strings(gate);
  return strings(argument);
}

function strings(value: Record<string, unknown>): Target {
  const { sessionId, gateId } = value;
  return {
    ...(typeof sessionId === 'string' ? { sessionId } : {}),
    ...(typeof gateId === 'string' ? { gateId } : {}),
  };
}
