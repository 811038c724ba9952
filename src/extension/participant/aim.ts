/** Which session a control of a chat is for. */
export type Aim =
  /** `instead`: the chat's own session does not run, and this one does. */
  | { readonly kind: 'session'; readonly sessionId: string; readonly instead: boolean }
  /** Several run, and nothing says which. */
  | { readonly kind: 'ask' }
  | { readonly kind: 'none' };

/**
 * The session that a control is for: the chat's own if it runs or nothing else does, else the one that runs. `own` is
 * null where the chat has none yet; `busy` are the sessions with a turn under way.
 */
export function aimOf(own: string | null, busy: readonly string[]): Aim {
  const [first] = busy;
  if (own !== null && (first === undefined || busy.includes(own)))
    return { kind: 'session', sessionId: own, instead: false };
  if (first === undefined) return { kind: 'none' };
  if (busy.length > 1) return { kind: 'ask' };
  return { kind: 'session', sessionId: first, instead: own !== null };
}

/**
 * The name of the slash command that a prompt begins with and nobody knows; null if there is none. The editor hands a
 * command that the participant does not have over as plain text. `known` are the session's own commands. A path is no
 * command.
 */
export function unknownCommand(prompt: string, known: readonly string[]): string | null {
  const name = /^\s*\/([\p{L}\d][\p{L}\d_-]*)(?=\s|$)/u.exec(prompt)?.[1];
  return name === undefined || known.includes(name) ? null : name;
}
