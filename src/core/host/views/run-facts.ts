import type { StopReason } from '../../../protocol/acp.ts';
import type { HistoryEvent, Stored } from '../../session/events.ts';
import type { Terminal, Usage } from '../../session/words.ts';
import type { OpenGate } from '../api.ts';
import { withoutSecrets } from '../log/log-redaction.ts';
import type { RunStatus } from './view-types.ts';

/** How much of a text is shown, in UTF-16 units. Source: Harn session control, session view. */
const MAX_TEXT = 16 * 1024;
const MAX_PREVIEW = 1_200;

/** What the events of one turn say. */
export type RunFacts = {
  readonly turnId: string;
  readonly model: string;
  readonly task: string;
  readonly startedAt: number;
  endedAt: number | null;
  terminal: Terminal | null;
  stopReason: StopReason | null;
  /** When it last began to work: at its beginning, or when a question was answered. */
  workingSince: number;
  /** Its open questions, oldest first. */
  gates: readonly OpenGate[];
  usage: Usage;
  replies: number;
  events: number;
  lastEvent: Stored<HistoryEvent>;
  readonly texts: Map<string, string>;
  readonly calls: Map<string, CallFacts>;
  readonly checkpoints: { readonly id: string; readonly at: number; readonly onStack: boolean }[];
};

export type CallFacts = {
  readonly name: string;
  readonly startedAt: number;
  endedAt: number | null;
  status: string;
};

/** The turns of a history, oldest first. */
export function runFacts(records: readonly Stored<HistoryEvent>[]): readonly RunFacts[] {
  const runs = new Map<string, RunFacts>();
  for (const record of records) {
    const { event } = record;
    if (event.type === 'turn_started') runs.set(event.turnId, begun(record, event));
    const turnId = 'turnId' in event ? event.turnId : null;
    const run = turnId === null ? undefined : runs.get(turnId);
    if (run !== undefined) take(run, record);
  }
  return [...runs.values()];
}

/** How a turn stands, in Harn's words. */
export function statusOf({ terminal }: RunFacts): RunStatus {
  switch (terminal?.kind) {
    case undefined:
      return 'running';
    case 'natural':
      return 'completed';
    case 'user_cancelled':
      return 'cancelled';
    case 'suspended':
      return 'suspended';
    case 'policy_budget':
    case 'policy_no_progress':
    case 'policy_guardrail':
    case 'policy_stop':
      return 'stopped';
    default:
      return 'failed';
  }
}

/** What the agent said last. */
export function visibleText({ texts }: RunFacts): string {
  return shown([...texts.values()].findLast((text) => text.trim() !== '') ?? '');
}

/** A text as a view shows it: cut, and without secrets. */
export function shown(text: string, kind: 'text' | 'preview' = 'text'): string {
  const clean = withoutSecrets(text);
  const most = kind === 'text' ? MAX_TEXT : MAX_PREVIEW;
  return clean.length > most ? `${clean.slice(0, most)}…` : clean;
}

type Begun = Extract<HistoryEvent, { type: 'turn_started' }>;

function begun(record: Stored<HistoryEvent>, event: Begun): RunFacts {
  const text = event.content.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
  return {
    turnId: event.turnId,
    model: event.config.model,
    task: shown(text.trim(), 'preview'),
    startedAt: record.at,
    endedAt: null,
    terminal: null,
    stopReason: null,
    workingSince: record.at,
    gates: [],
    usage: { inputTokens: 0, outputTokens: 0 },
    replies: 0,
    events: 0,
    lastEvent: record,
    texts: new Map(),
    calls: new Map(),
    checkpoints: [],
  };
}

function take(run: RunFacts, record: Stored<HistoryEvent>): void {
  const { event, at } = record;
  run.events += 1;
  run.lastEvent = record;
  switch (event.type) {
    case 'message_delta':
      if (event.kind === 'text')
        run.texts.set(event.messageId, (run.texts.get(event.messageId) ?? '') + event.text);
      break;
    case 'model_replied':
      run.replies += 1;
      break;
    case 'tool_proposed':
      run.calls.set(event.toolCallId, {
        name: event.name,
        startedAt: at,
        endedAt: null,
        status: 'pending',
      });
      break;
    case 'tool_ended':
      endCall(run.calls.get(event.toolCallId), event.result.status, at);
      break;
    case 'gate_opened': {
      const { gateId, turnId, request } = event;
      run.gates = [...run.gates, { gateId, turnId, request, openedAt: at }];
      break;
    }
    case 'gate_resolved':
      run.gates = run.gates.filter(({ gateId }) => gateId !== event.gateId);
      run.workingSince = at;
      break;
    case 'turn_checkpoint':
      run.checkpoints.push({ id: event.checkpointId, at, onStack: event.onStack });
      break;
    case 'turn_ended':
      run.endedAt = at;
      run.terminal = event.terminal;
      run.stopReason = event.stopReason;
      run.usage = event.usage;
      break;
    default:
      break;
  }
}

function endCall(call: CallFacts | undefined, status: string, at: number): void {
  if (call === undefined) return;
  call.endedAt = at;
  call.status = status;
}
