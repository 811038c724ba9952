import type { JsonObject } from '../base/json.ts';
import type { WireUpdate } from './harn.ts';

/**
 * What an update says under `update._meta.pilothouse` to clients that declared the extension, and in
 * `_pilothouse/history/page`. ACP has no field for these; a client that knows none of them loses nothing ACP promises.
 */
export type UpdateExtras = {
  /** On `tool_call_update` with `status: failed`: what it really was. */
  readonly status?: 'denied' | 'cancelled' | 'interrupted' | 'outcome_unknown';
  /** On `tool_call_update`: live output to append (the update then has no `content`); never replayed. */
  readonly output?: string;
  /** On `session_info_update`: a turn began or ended. */
  readonly turn?: TurnMark;
  /** On `session_info_update`: a gate opened or was resolved. */
  readonly gate?: GateMark;
  /** On the user message of a delivered inject. */
  readonly inject?: InjectMark;
  /** On `session_info_update`: the completion judge looked. */
  readonly judge?: {
    readonly judge: string;
    readonly verdict: 'done' | 'vetoed' | 'failed';
    readonly reason: string;
    readonly correction: string | null;
  };
  /** On `session_info_update`: an interrupt broke this reply off; its text so far stands, its calls do not. */
  readonly interrupted?: { readonly messageId: string };
  /** On `compaction_update`, else on `session_info_update`: the model reads a summary from here on. */
  readonly compacted?: { readonly before: number; readonly after: number };
  /** On `session_info_update`: what a turn left can be gone back from. */
  readonly checkpoint?: {
    readonly checkpointId: string;
    readonly turnId: string;
    readonly onStack: boolean;
    readonly files: number;
    readonly coverage: 'full' | 'partial' | 'none';
  };
  /** On `session_rollback`, `session_redo`, `session_truncated`: the branch goes on behind event `to`. */
  readonly moved?: { readonly reason: 'rollback' | 'redo' | 'truncate'; readonly to: number };
  /** On `session_info_update`: files were put back without moving the transcript. */
  readonly restored?: { readonly toolCallId?: string; readonly paths: readonly string[] };
  /** On `tool_call_update` of the call that began it: what a delegate does. On `session_info_update` if the call is not known. */
  readonly delegate?: DelegateMark;
  /** On `session_info_update`: what happens in a delegate; never part of what the session itself says. */
  readonly loop?: LoopMark;
  /** On `session_info_update`: text that the model read from the machine, for example that a process ended. */
  readonly machine?: string;
};

/** A delegate as its parent's call shows it. */
export type DelegateMark = {
  readonly loopId: string;
  readonly name?: string;
  readonly state: 'running' | 'completed' | 'failed' | 'cancelled' | 'interrupted';
  /** The parent goes on meanwhile. */
  readonly background?: boolean;
  readonly prompt?: string;
};

/** One update of a delegate's loop, the same as it would be for a session of its own. */
export type LoopMark = {
  readonly loopId: string;
  readonly parentLoopId: string;
  readonly name: string;
  /** 1 for a delegate of the root loop. */
  readonly depth: number;
  /** The event in the history of that loop; missing where it carries none that is stored. */
  readonly eventId?: number;
  /** Where streamed text begins in its message. */
  readonly offset?: number;
  readonly update: WireUpdate;
};

/** How a pending message arrived. */
export type InjectMark = {
  readonly messageId: string;
  readonly mode: 'queue' | 'steer' | 'interrupt_immediate';
  readonly seam: string;
};

/** A turn's begin or end. */
export type TurnMark =
  | {
      readonly state: 'started';
      readonly turnId: string;
      readonly commandId: string;
      /** Present where no person sent it: a delegate's result began it. */
      readonly origin?: 'machine';
      /** The id of the prompt's message, which the client that sent it is not told otherwise. */
      readonly messageId?: string;
    }
  | {
      readonly state: 'ended';
      readonly turnId: string;
      readonly stopReason: string;
      readonly terminal: { readonly kind: string; readonly owner: string; readonly reason: string };
    };

/** A gate's begin or end. `answer` is the engine's `GateAnswer`. */
export type GateMark =
  | {
      readonly state: 'opened';
      readonly gateId: string;
      readonly kind: 'permission' | 'ask' | 'auth';
      readonly toolCallId?: string;
      readonly title: string;
    }
  | {
      readonly state: 'resolved';
      readonly gateId: string;
      readonly answer: JsonObject;
      readonly by: string;
    };

/** `params._meta.pilothouse` of `session/request_permission` and `elicitation/create`. */
export type GateExtras = {
  readonly gateId: string;
  /** The delegate that asks; missing on questions of the root loop. */
  readonly loopId?: string;
  readonly reason?: string;
  readonly details?: readonly string[];
};

/** `params._meta.pilothouse` of `session/prompt`. */
export type PromptExtras = {
  /** Makes a repeat safe: the same id with the same content is answered from the record. */
  readonly commandId?: string;
  /** The loop that it is for; missing: the active one. */
  readonly loopId?: string;
};
