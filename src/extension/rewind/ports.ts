import type { AgentMethod, AgentMethods } from '../core/methods.ts';
import type { LiveSession } from '../sessions/live-session.ts';

/** What going back needs from the rest of the extension. */
export type RewindPorts = {
  /** The session, open here. */
  readonly open: (sessionId: string) => Promise<LiveSession>;
  /** Calls the agent; a refusal becomes a `ControlError` whose message says what to do. */
  readonly request: <M extends AgentMethod>(
    method: M,
    params: AgentMethods[M][0],
  ) => Promise<AgentMethods[M][1]>;
  /** Stops the session and resolves when nothing of it runs any more; false if it did not end in time. */
  readonly stop: (sessionId: string) => Promise<boolean>;
  /** Shows a session in the chat. */
  readonly show: (sessionId: string) => Promise<void>;
  /**
   * Resolves when the conversation was read again after a move that is about to be asked for, or when it takes too
   * long; the chat then shows where it goes on.
   */
  readonly laidAnew: (sessionId: string) => Promise<void>;
  /** Puts the text of a message that left the conversation into the composer, behind what is there. */
  readonly compose: (sessionId: string, text: string) => void;
  /** Takes that text out again, if the person has not changed it. */
  readonly takeBack: (sessionId: string) => void;
  /** The session that the chat shows. */
  readonly shown: () => string | null;
};
