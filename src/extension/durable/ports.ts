import type { AgentMethod, AgentMethods } from '../core/methods.ts';
import type { LiveSession } from '../sessions/live-session.ts';
import type { SessionRow } from '../sessions/tree/row.ts';

/** What the commands of this room need from the rest of the extension. */
export type DurablePorts = {
  /** The session, open here. */
  readonly open: (sessionId: string) => Promise<LiveSession>;
  /** Opens it again after its store failed. */
  readonly reopen: (sessionId: string) => Promise<LiveSession>;
  /** Calls the agent; a refusal becomes a `ControlError` whose message says what to do. */
  readonly request: <M extends AgentMethod>(
    method: M,
    params: AgentMethods[M][0],
    options?: { readonly timeoutMs?: number | null; readonly signal?: AbortSignal },
  ) => Promise<AgentMethods[M][1]>;
  /** Searches every host that is connected; results of the window's own come first. */
  readonly search: (
    params: AgentMethods['_pilothouse/sessions/search'][0],
    signal: AbortSignal,
  ) => Promise<readonly unknown[]>;
  /** The name of a session's host, where it is not the window's own. */
  readonly hostName: (sessionId: string) => string | undefined;
  /** Sessions that are known here, newest message first. */
  readonly rows: () => readonly SessionRow[];
  /** Shows a session in the chat. */
  readonly show: (sessionId: string) => Promise<void>;
  /** Scrolls the chat to a row of the session it shows. */
  readonly reveal: (sessionId: string, rowId: string) => void;
  /** Which session a command is about; undefined if the person gave up. */
  readonly choose: (argument: unknown) => Promise<string | undefined>;
  /** The same among the sessions whose last turn was interrupted. */
  readonly chooseInterrupted: (argument: unknown) => Promise<string | undefined>;
  readonly nameOf: (sessionId: string) => string;
  /** A folder for an imported session; null if there is none or the person gave up. */
  readonly pickFolder: () => Promise<{ readonly path: string } | null>;
  readonly log: (message: string) => void;
};
