import { isObject } from '../../../base/json.ts';

/** What a menu or another command named. */
export type Target = {
  readonly sessionId?: string;
  readonly gateId?: string;
  readonly loopId?: string;
};

/** Reads a command's argument: a node of the sessions tree, or `{sessionId}`, `{gateId}` or `{delegate}`. */
export function targetOf(argument: unknown): Target {
  if (!isObject(argument)) return {};
  const view = argument['view'];
  if (isObject(view) && isObject(view['row'])) return strings(view['row']);
  const gate = argument['gate'];
  if (isObject(gate)) return strings(gate);
  const delegate = argument['delegate'];
  return strings(isObject(delegate) ? delegate : argument);
}

function strings(value: Record<string, unknown>): Target {
  const { sessionId, gateId, loopId } = value;
  return {
    ...(typeof sessionId === 'string' ? { sessionId } : {}),
    ...(typeof gateId === 'string' ? { gateId } : {}),
    ...(typeof loopId === 'string' ? { loopId } : {}),
  };
}

/** The host that a command's argument names: a node of the sessions tree, or `{hostId}`. */
export function hostIdOf(argument: unknown): string | undefined {
  if (!isObject(argument)) return undefined;
  const { host, hostId } = argument;
  if (typeof hostId === 'string') return hostId;
  return isObject(host) && typeof host['id'] === 'string' ? host['id'] : undefined;
}
