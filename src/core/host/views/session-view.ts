import { canonicalJson } from '../../../base/canonical-json.ts';
import type { HistoryEvent, Stored } from '../../session/events.ts';
import type { ListedSession, OpenGate } from '../api.ts';
import { sha256 } from '../node-ports.ts';
import { isBlank } from './blank.ts';
import { type RunFacts, runFacts, shown, statusOf, visibleText } from './run-facts.ts';
import { taskStatus } from './task-state.ts';
import type {
  Failure,
  Pending,
  Producer,
  Projection,
  RunLine,
  RunView,
  SessionStatus,
  SessionView,
  Stage,
  ViewUsage,
} from './view-types.ts';

/** What a view is made from. */
export type ViewSource = {
  readonly sessionId: string;
  /** Null if there is no such session. */
  readonly session: ListedSession | null;
  /** The current branch, oldest first. */
  readonly records: readonly Stored<HistoryEvent>[];
  readonly gates: readonly OpenGate[];
  /** A delegate works, though no turn of the session itself may run. */
  readonly delegatesWork: boolean;
  readonly producer: Producer;
};

const SCHEMA = 'harn.session_view.v1';
const RUN_SCHEMA = 'harn.run_view.v1';

/** What a session has done and what it waits for. A pure function: the same source gives the same hashes. */
export function sessionView(source: ViewSource): SessionView {
  const { session, sessionId, records, producer } = source;
  const facts = runFacts(records);
  const runs = facts.map((run) => runView(run, sessionId, producer));
  const status = sessionStatus(facts);
  const tip = tipOf(session);
  const failure = facts.findLast((run) => statusOf(run) === 'failed');
  const created = records.find(({ event }) => event.type === 'session_created')?.event;
  const parent = created?.type === 'session_created' ? created.parent : undefined;
  const view: Unprojected<SessionView> = {
    schema: SCHEMA,
    schema_version: 1,
    producer,
    session: {
      session_id: sessionId,
      ...(parent === undefined ? {} : { parent_session_id: parent.sessionId }),
      status,
      run_count: runs.length,
      ...(session === null
        ? {}
        : { started_at: iso(session.createdAt), updated_at: iso(session.lastMessageAt) }),
      last_event_id: tip.last_event_id,
      chain_root_hash: tip.prefix_hash,
    },
    run: { status },
    projection: tip,
    runs,
    history: facts.map((run) => runLine(run, sessionId)),
    usage: usageOf(facts),
    pending: pendingOf(source.gates),
    task: taskStatus({ ...source, runs: facts }),
    ...(failure === undefined ? {} : { failure: failureOf(failure) }),
    metadata: {
      record_count: runs.length,
      event_count: records.length,
      has_event_log: session !== null,
    },
  };
  return { ...view, projection: projected(SCHEMA, `session_view:${sessionId}`, view) };
}

type Tip = Pick<Projection, 'prefix_hash' | 'last_event_id'>;
/** A view before its own hash is known; everything in it is what the hash is about. */
type Unprojected<T extends { projection: Projection }> = Omit<T, 'projection'> & {
  readonly projection: Tip;
};

function tipOf(session: ListedSession | null): Tip {
  if (session === null || isBlank(session)) return { prefix_hash: null, last_event_id: null };
  return { prefix_hash: session.prefixHash, last_event_id: session.lastEventId };
}

/** SHA-256 of the schema's name, a zero byte and the view without its own id and hash. */
function projected(schema: string, name: string, view: { readonly projection: Tip }): Projection {
  const hash = sha256(`${schema}\0${canonicalJson(view)}`);
  const { prefix_hash, last_event_id } = view.projection;
  return {
    projection_id: `${name}:${hash.slice(0, 12)}`,
    projection_hash: `sha256:${hash}`,
    prefix_hash,
    last_event_id,
  };
}

/** Harn counts a cancelled run among the failed ones. */
function sessionStatus(facts: readonly RunFacts[]): SessionStatus {
  const statuses = facts.map(statusOf);
  if (statuses.length === 0) return 'unknown';
  if (statuses.some((status) => status === 'failed' || status === 'cancelled')) return 'failed';
  return statuses.every((status) => status === 'completed') ? 'completed' : 'active';
}

function runView(run: RunFacts, sessionId: string, producer: Producer): RunView {
  const { turnId, task, lastEvent, events, replies, texts } = run;
  const tip = { prefix_hash: lastEvent.hash, last_event_id: lastEvent.seq };
  const status = statusOf(run);
  const view: Unprojected<RunView> = {
    schema: RUN_SCHEMA,
    schema_version: 1,
    producer,
    run: {
      run_id: turnId,
      session_id: sessionId,
      child_runs: [],
      status,
      task,
      started_at: iso(run.startedAt),
      ...finished(run),
    },
    projection: tip,
    visible_text: visibleText(run),
    transcript: { present: true, message_count: 1 + texts.size, event_count: events },
    usage: usageOf([run]),
    providers: [
      {
        provider: run.model.split('/')[0] ?? run.model,
        model: run.model,
        call_count: replies,
        input_tokens: run.usage.inputTokens,
        output_tokens: run.usage.outputTokens,
        cost_usd: run.usage.costUsd ?? 0,
      },
    ],
    stages: [...run.calls].map(
      ([id, call]): Stage => ({
        id,
        node_id: call.name,
        kind: 'tool',
        status: call.endedAt === null ? 'running' : call.status,
        outcome: call.status,
        started_at: iso(call.startedAt),
        ...finished(call),
      }),
    ),
    artifacts: [],
    checkpoints: run.checkpoints.map(({ id, at, onStack }) => ({
      id,
      reason: onStack ? 'turn_completed' : 'turn_cancelled',
      persisted_at: iso(at),
    })),
    ...(status === 'failed' ? { failure: failureOf(run) } : {}),
  };
  return { ...view, projection: projected(RUN_SCHEMA, `run_view:${turnId}`, view) };
}

function runLine(run: RunFacts, sessionId: string): RunLine {
  const { duration_ms: _duration, ...times } = finished(run);
  return {
    run_id: run.turnId,
    session_id: sessionId,
    status: statusOf(run),
    started_at: iso(run.startedAt),
    ...times,
    visible_text: shown(visibleText(run), 'preview'),
  };
}

function finished({ startedAt, endedAt }: { startedAt: number; endedAt: number | null }): {
  finished_at?: string;
  duration_ms?: number;
} {
  return endedAt === null
    ? {}
    : { finished_at: iso(endedAt), duration_ms: Math.max(0, endedAt - startedAt) };
}

function usageOf(runs: readonly RunFacts[]): ViewUsage {
  const sum = (count: (run: RunFacts) => number): number =>
    runs.reduce((total, run) => total + count(run), 0);
  return {
    input_tokens: sum(({ usage }) => usage.inputTokens),
    output_tokens: sum(({ usage }) => usage.outputTokens),
    total_duration_ms: sum(({ startedAt, endedAt }) =>
      endedAt === null ? 0 : Math.max(0, endedAt - startedAt),
    ),
    call_count: sum(({ replies }) => replies),
    total_cost: sum(({ usage }) => usage.costUsd ?? 0),
    models: [...new Set(runs.map(({ model }) => model))],
  };
}

function pendingOf(gates: readonly OpenGate[]): Pending {
  return {
    nodes: [],
    approvals: gates.flatMap(({ gateId, turnId, request, openedAt }) =>
      request.kind === 'auth'
        ? []
        : [
            {
              request_id: gateId,
              prompt: shown(request.kind === 'ask' ? request.message : request.title, 'preview'),
              agent: 'pilothouse',
              trace_id: turnId,
              asked_at: iso(openedAt),
            },
          ],
    ),
    auth: gates.flatMap(({ turnId, request }) =>
      request.kind === 'auth'
        ? [
            {
              ...(request.targetKind === 'model'
                ? { provider: request.target }
                : { server: request.target }),
              stage_id: turnId,
              message: shown(request.message, 'preview'),
            },
          ]
        : [],
    ),
  };
}

function failureOf({ turnId, terminal }: RunFacts): Failure {
  return {
    stage_id: turnId,
    status: 'failed',
    outcome: terminal?.kind ?? 'unknown',
    message: shown(terminal?.reason ?? '', 'preview'),
  };
}

function iso(at: number): string {
  return new Date(at).toISOString();
}
