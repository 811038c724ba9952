import type { Session } from '../../../session/session.ts';

/** A live session as far as its history is moved. */
export type HistorySession = Pick<
  Session,
  | 'sessionId'
  | 'workspace'
  | 'timeline'
  | 'conversation'
  | 'checkpoints'
  | 'tip'
  | 'exclusively'
  | 'moveHistory'
  | 'record'
  | 'cancelBefore'
>;

/** The sessions of a host, as its history controls find them. */
export interface HistorySessions {
  /** Synchronous, so that a control takes effect in its place among prompts and cancels. */
  live(sessionId: string): HistorySession | undefined;
  /**
   * Does work on a live session, or on a stored one that is brought to life for it alone. Throws `unknown_session`.
   * Synchronous up to the call of `work` where the session is live.
   */
  using<T>(sessionId: string, work: (session: HistorySession) => Promise<T>): Promise<T>;
  /** The next place in the order in which frames arrive. */
  nextOrder(): number;
}
