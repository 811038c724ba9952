import type { ControlOutcome } from './controls.ts';

/** On every frame that carries an event; repeated under `params._meta.harn` for clients that see params only. */
export type FrameMark = {
  /** Event id of the history stream; absent on frames that carry no enduring event. */
  readonly eventId?: number;
  readonly sessionId: string;
  readonly replayed: boolean;
  /** Where this live text begins within its message, in UTF-16 units; only on streamed chunks. */
  readonly offset?: number;
};

/** A session as `session/list`, `new`, `load` and `resume` show it. Source: Harn session control, Status. */
export type SessionItem = {
  readonly sessionId: string;
  readonly cwd: string;
  readonly title?: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly liveState: 'live' | 'persisted';
  readonly activePrompt: boolean;
  readonly currentModeId: string;
  readonly attachableRoles: readonly ['host_owner', 'observer'];
  readonly lastEventId?: number;
};

/** `_harn/agentEvent`, a notification. */
export type AgentEvent =
  | ({ readonly sessionId: string; readonly kind: 'control_outcome' } & ControlOutcome)
  | {
      readonly sessionId: string;
      readonly kind: 'loop_checkpoint';
      readonly iteration: number;
      readonly seam: string;
      readonly delivered: number;
    };
