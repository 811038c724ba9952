/**
 * The closed list of controls: each call of one produces exactly one receipt. Reads (list, load, resume, queries)
 * are not controls. Source: design §4.4, Harn control extension.
 */
export const CONTROLS = [
  'session/cancel',
  'session/close',
  'session/delete',
  'session/set_mode',
  'session/set_config_option',
  'session/inject',
  'session/revoke_inject',
  'session/replace_inject',
  'session/remind',
  'session/revoke_reminder',
  'session/cancel_tool_call',
  'session/rollback',
  'session/redo',
  'session/fork',
  'session/truncate',
  'session/fs_mode',
  'session/fs_commit_staged',
  'session/fs_discard_staged',
  'session/restore_tool_call',
  '_pilothouse/compact',
  '_pilothouse/gates/respond',
  '_pilothouse/commands/withdraw',
  '_pilothouse/loops/activate',
  '_pilothouse/delegates/message',
  '_pilothouse/delegates/stop',
  '_pilothouse/checkpoints/create',
  '_pilothouse/staged/edit',
  '_pilothouse/checkpoints/restore',
  '_pilothouse/queue/add',
  '_pilothouse/queue/edit',
  '_pilothouse/queue/move',
  '_pilothouse/queue/remove',
  '_pilothouse/queue/pause',
  '_pilothouse/queue/resume',
  '_pilothouse/queue/send_now',
] as const;

/** A control by its method name. */
export type Control = (typeof CONTROLS)[number];

/** Who acted. Defaults as the Harn extension states them. */
export type Actor = {
  readonly clientId: string;
  readonly role: 'host_owner' | 'observer';
  /** The door the act came through: `acp`, `uhp`, `policy`, `host`. */
  readonly source: string;
};

/** The receipt of one control. Field names are the Harn extension's. */
export type ControlOutcome = {
  readonly session_id: string;
  readonly control_id: string;
  readonly method: Control;
  /** What happened: `cancelled`, `already_cancelled`, `accepted`, `unknown_session`, … */
  readonly outcome: string;
  readonly status: 'accepted' | 'idempotent' | 'rejected';
  readonly actor: Actor;
  readonly target: { readonly [key: string]: string };
  /** Why it was rejected; a word for programs, present only when rejected. */
  readonly reason?: string;
  readonly metadata: { readonly [key: string]: string | number | boolean | null };
};
