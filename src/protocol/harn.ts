import type { ContentBlock, SessionUpdate } from './acp.ts';
import type { Actor, ControlOutcome } from './controls.ts';

/** On every frame that carries an event; repeated under `params._meta.harn` for clients that see params only. */
export type FrameMark = {
  /** Event id of the history stream; absent on frames that carry no enduring event. */
  readonly eventId?: number;
  readonly sessionId: string;
  readonly replayed: boolean;
  /** Where this live text begins within its message, in UTF-16 units; only on streamed chunks. */
  readonly offset?: number;
  /** The commands behind the event, oldest first; absent where nobody commanded it. */
  readonly cause?: { readonly command_ids: readonly string[] };
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
      /** How many messages were delivered here, and which. */
      readonly delivered: number;
      readonly message_ids: readonly string[];
      /** True when the batch that was pending here was dropped; then `skip_reason` is `interrupt_immediate`. */
      readonly dispatch_skipped: boolean;
      readonly skip_reason?: 'interrupt_immediate';
    }
  /** A turn reached a limit of its budget; the counts are those of the turn. */
  | {
      readonly sessionId: string;
      readonly kind: 'budget_exhausted';
      readonly budgetKind: 'steps' | 'seconds' | 'tokens' | 'costUsd';
      readonly limit: string;
      readonly limitValue: number;
      readonly iteration: number;
      readonly sessionCostUsd: number | null;
      readonly projectedInputTokens: number;
      readonly projectedOutputTokens: number;
    }
  /** Each look of the completion judge. */
  | {
      readonly sessionId: string;
      readonly kind: 'judge_decision';
      readonly iteration: number;
      readonly judge: string;
      readonly verdict: 'done' | 'vetoed' | 'failed';
      readonly vetoed: boolean;
      readonly reason: string;
      readonly correction: string | null;
    };

/** One entry of `session/pending_injections`. Source: Harn session control. */
export type PendingInjection = {
  readonly kind: 'user' | 'reminder';
  readonly messageId?: string;
  readonly reminderId?: string;
  readonly mode: 'queue' | 'steer' | 'interrupt_immediate';
  readonly content: readonly ContentBlock[];
  readonly owner: Actor;
  /** ISO 8601. */
  readonly at: string;
  readonly behindGate: boolean;
};

/** `status` and what moved, of `session/rollback` and `session/redo`. Source: Harn session control. */
export type MoveResponse = {
  readonly status: 'rolled_back' | 'redone';
  readonly checkpointId: string;
  readonly beforeMessageCount: number;
  readonly afterMessageCount: number;
  readonly fsSnapshotIds: readonly string[];
  readonly redoFsSnapshotIds: readonly string[];
  readonly fsRestores: readonly {
    readonly snapshotId: string;
    readonly restoredPaths: readonly string[];
    readonly skippedPathsWithReasons: readonly { readonly path: string; readonly reason: string }[];
  }[];
  readonly lastEventId: number;
  readonly prefix_hash: string;
};

type Meta = { readonly _meta?: { readonly [key: string]: unknown } };

/**
 * Updates of the Harn extension, which stand in `session/update` next to ACP's. Clients that declared neither
 * extension are never sent one. Source: Harn control extension, updates.
 */
export type HarnUpdate =
  /** A pending message was delivered. */
  | ({
      readonly sessionUpdate: 'user_message';
      readonly messageId: string;
      readonly content: readonly ContentBlock[];
    } & Meta)
  | ({
      readonly sessionUpdate: 'session_rollback' | 'session_redo';
      readonly checkpointId: string | null;
      readonly status: 'rolled_back' | 'redone';
      readonly beforeMessageCount: number;
      readonly afterMessageCount: number;
    } & Meta)
  | ({
      readonly sessionUpdate: 'session_truncated';
      readonly keptTurnCount: number;
      readonly removedTurnCount: number;
      readonly newTipTurnId: string | null;
      readonly keptMessageCount: number;
      readonly removedMessageCount: number;
    } & Meta)
  /** Files wait for a person's review. */
  | ({ readonly sessionUpdate: 'progress' } & Meta);

/** Everything that `session/update` may carry. */
export type WireUpdate = SessionUpdate | HarnUpdate;
