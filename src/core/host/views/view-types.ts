/** `harn.session_view.v1`, as far as it applies to this product. Source: Harn session control, session view. */
export type SessionView = {
  readonly schema: 'harn.session_view.v1';
  readonly schema_version: 1;
  readonly producer: Producer;
  readonly session: {
    readonly session_id: string;
    readonly parent_session_id?: string;
    readonly status: SessionStatus;
    readonly run_count: number;
    readonly started_at?: string;
    readonly updated_at?: string;
    readonly last_event_id: number | null;
    readonly chain_root_hash: string | null;
  };
  /** The aggregated status once more, where the seed looks for it. */
  readonly run: { readonly status: SessionStatus };
  readonly projection: Projection;
  readonly runs: readonly RunView[];
  readonly history: readonly RunLine[];
  readonly usage: ViewUsage;
  readonly pending: Pending;
  /** What peers that speak A2A need to know; null where nothing was ever asked of the session. */
  readonly task: TaskStatus | null;
  readonly failure?: Failure;
  readonly metadata: {
    readonly record_count: number;
    readonly event_count: number;
    readonly has_event_log: boolean;
  };
};

export type Producer = { readonly name: string; readonly version: string };

/** `unknown` without runs, else as the runs stand together. */
export type SessionStatus = 'unknown' | 'failed' | 'completed' | 'active';

export type RunStatus = 'running' | 'completed' | 'cancelled' | 'stopped' | 'suspended' | 'failed';

/** A hash over everything else that is shown, and the hash of the history it was made from. */
export type Projection = {
  readonly projection_id: string;
  readonly projection_hash: string;
  readonly prefix_hash: string | null;
  readonly last_event_id: number | null;
};

/** A turn. */
export type RunView = {
  readonly schema: 'harn.run_view.v1';
  readonly schema_version: 1;
  readonly producer: Producer;
  readonly run: {
    readonly run_id: string;
    readonly session_id: string;
    readonly child_runs: readonly never[];
    readonly status: RunStatus;
    readonly task: string;
    readonly started_at: string;
    readonly finished_at?: string;
    readonly duration_ms?: number;
  };
  readonly projection: Projection;
  readonly visible_text: string;
  readonly transcript: {
    readonly present: boolean;
    readonly message_count: number;
    readonly event_count: number;
  };
  readonly usage: ViewUsage;
  readonly providers: readonly {
    readonly provider: string;
    readonly model: string;
    readonly call_count: number;
    readonly input_tokens: number;
    readonly output_tokens: number;
    readonly cost_usd: number;
  }[];
  readonly stages: readonly Stage[];
  readonly artifacts: readonly never[];
  readonly checkpoints: readonly {
    readonly id: string;
    readonly reason: string;
    readonly persisted_at: string;
  }[];
  readonly failure?: Failure;
};

/** A tool call of a turn. Its input is not shown. */
export type Stage = {
  readonly id: string;
  readonly node_id: string;
  readonly kind: 'tool';
  readonly status: string;
  readonly outcome: string;
  readonly started_at: string;
  readonly finished_at?: string;
  readonly duration_ms?: number;
};

export type RunLine = {
  readonly run_id: string;
  readonly session_id: string;
  readonly status: RunStatus;
  readonly started_at: string;
  readonly finished_at?: string;
  readonly visible_text: string;
};

export type ViewUsage = {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly total_duration_ms: number;
  readonly call_count: number;
  readonly total_cost: number;
  readonly models: readonly string[];
};

/** What the session waits for. */
export type Pending = {
  readonly nodes: readonly string[];
  readonly approvals: readonly {
    readonly request_id: string;
    readonly prompt: string;
    readonly agent: string;
    readonly trace_id: string;
    readonly asked_at: string;
  }[];
  readonly auth: readonly {
    readonly provider?: string;
    readonly server?: string;
    readonly stage_id: string;
    readonly message: string;
  }[];
};

export type Failure = {
  readonly stage_id: string;
  readonly status: string;
  readonly outcome: string;
  readonly message: string;
};

/** A task's state in A2A's words. */
export type TaskState =
  /** Accepted, and its turn has not begun. */
  | 'submitted'
  | 'working'
  /** A person has to answer: a permission, a question. */
  | 'input-required'
  /** It waits for what is settled elsewhere: a sign-in, an editor with language models. */
  | 'auth-required'
  | 'completed'
  | 'failed'
  | 'cancelled'
  /** Policy refused all of it before anything was done. */
  | 'rejected';

/** The shape of A2A's TaskStatus. `timestamp` is when the state began, where that is known. */
export type TaskStatus = {
  readonly state: TaskState;
  readonly timestamp?: string;
  /** What is asked, or why it ended. */
  readonly message?: {
    readonly kind: 'message';
    readonly role: 'agent';
    readonly messageId: string;
    readonly parts: readonly { readonly kind: 'text'; readonly text: string }[];
  };
};
