import type { RestoreChoice } from '../../../protocol/checkpoint-shapes.ts';
import type { PilothouseAgentMethods } from '../../../protocol/pilothouse.ts';
import type { IncomingRequest, Reply } from '../../../protocol/transport/rpc-types.ts';
import type { SessionHost } from '../../host/api.ts';
import { countLines } from '../../host/changes/changed-lines.ts';
import type { CheckpointInfo, RestoreChoice as HostChoice } from '../../host/controls/api.ts';
import { sessionView } from '../../host/views/session-view.ts';
import type { Producer, SessionView } from '../../host/views/view-types.ts';
import type { HistoryEvent, Stored } from '../../session/events.ts';
import type { SessionId } from '../../session/words.ts';
import * as checks from '../generated/schema-checks.mjs';
import { badField, requireValid } from '../params.ts';
import { isoTime } from '../projection/turn-updates.ts';
import { asControlError, type ErrorFamily } from './control-errors.ts';
import { normalised, textMember } from './control-params.ts';
import { shownPending, shownQueue } from './shown-pending.ts';
import { textOf } from './shown-text.ts';

/** `_pilothouse/` methods that read what controls act on. */
export const READ_METHODS = [
  '_pilothouse/receipts/list',
  '_pilothouse/checkpoints/list',
  '_pilothouse/checkpoints/preview',
  '_pilothouse/checkpoints/text',
  '_pilothouse/queue/list',
  '_pilothouse/staged/list',
  '_pilothouse/staged/text',
  '_pilothouse/commands/get',
  '_pilothouse/loops/list',
] as const satisfies readonly (keyof PilothouseAgentMethods)[];

type Of<M extends (typeof READ_METHODS)[number]> = PilothouseAgentMethods[M];
type Read = {
  readonly check: checks.SchemaCheck;
  readonly family: ErrorFamily;
  readonly run: (params: unknown) => Promise<object>;
};

const PAGE = 1_000;

/** Answers what controls act on without changing anything; none of it makes a receipt. */
export class ControlReads {
  readonly #host: SessionHost;
  readonly #producer: Producer;
  readonly #reads: ReadonlyMap<string, Read>;

  constructor(host: SessionHost, producer: Producer) {
    this.#host = host;
    this.#producer = producer;
    this.#reads = new Map<string, Read>([
      ['session/pending_injections', read(checks.sessionOnly, 'message', this.#pending)],
      ['harn.session_view.query', read(checks.viewQuery, 'shape', this.#view)],
      ['_pilothouse/receipts/list', read(checks.receiptsList, 'shape', this.#receipts)],
      ['_pilothouse/checkpoints/list', read(checks.sessionOnly, 'shape', this.#checkpoints)],
      ['_pilothouse/checkpoints/preview', read(checks.restoreChoice, 'shape', this.#preview)],
      ['_pilothouse/checkpoints/text', read(checks.restoreText, 'shape', this.#restoreText)],
      ['_pilothouse/queue/list', read(checks.sessionOnly, 'message', this.#queue)],
      ['_pilothouse/staged/list', read(checks.sessionOnly, 'shape', this.#staged)],
      ['_pilothouse/staged/text', read(checks.stagedText, 'shape', this.#stagedText)],
      ['_pilothouse/commands/get', read(checks.commandRef, 'message', this.#command)],
      ['_pilothouse/loops/list', read(checks.sessionOnly, 'message', this.#loops)],
    ]);
  }

  /** What answers the method; undefined if it is none of these. */
  handler(name: string): ((request: IncomingRequest) => Promise<Reply>) | undefined {
    const known = this.#reads.get(name);
    return known && ((request) => this.#answer(known, request.params));
  }

  async #answer({ check, family, run }: Read, given: unknown): Promise<Reply> {
    const params = requireValid(check, normalised(given));
    try {
      return { result: await run(params) };
    } catch (error) {
      throw asControlError(error, textMember(params, 'sessionId') ?? '', family);
    }
  }

  #pending = async ({ sessionId }: Session): Promise<object> => {
    const pending = await this.#host.controls.pending(sessionId);
    return { pendingCount: pending.length, injections: pending.map(shownPending) };
  };

  #queue = async ({ sessionId }: Session): Promise<object> =>
    shownQueue(await this.#host.controls.nextTurns(sessionId));

  #receipts = async (
    query: Of<'_pilothouse/receipts/list'>[0],
  ): Promise<Of<'_pilothouse/receipts/list'>[1]> => {
    const page = await this.#host.controls.receipts(query);
    return { ...page, receipts: page.receipts.map((one) => ({ ...one, at: isoTime(one.at) })) };
  };

  #checkpoints = async ({ sessionId }: Session): Promise<object> => ({
    checkpoints: (await this.#host.controls.checkpoints(sessionId)).map(shownCheckpoint),
  });

  #preview = async (params: Session & RestoreChoice): Promise<object> =>
    await this.#host.controls.planRestore(params.sessionId, choiceOf(params));

  #restoreText = async (params: Of<'_pilothouse/checkpoints/text'>[0]): Promise<object> => {
    const { sessionId, path, side } = params;
    const bytes = await this.#host.controls.readRestore(sessionId, choiceOf(params), path, side);
    return { text: textOf(bytes) };
  };

  #staged = async ({ sessionId }: Session): Promise<Of<'_pilothouse/staged/list'>[1]> => {
    const { mode, files } = await this.#host.controls.staged(sessionId);
    return {
      mode,
      files: files.map(({ path, base, text, changedSince }) => ({
        path,
        state: base === null ? 'added' : text === null ? 'deleted' : 'modified',
        ...countLines(base ?? '', text ?? ''),
        changedSince,
      })),
    };
  };

  #stagedText = async (params: Of<'_pilothouse/staged/text'>[0]): Promise<object> => {
    const { files } = await this.#host.controls.staged(params.sessionId);
    const file = files.find(({ path }) => path === params.path);
    return { text: (params.side === 'base' ? file?.base : file?.text) ?? null };
  };

  #command = async (params: Of<'_pilothouse/commands/get'>[0]): Promise<object> =>
    await this.#host.controls.command(params.sessionId, params.commandId);

  #loops = async ({ sessionId }: Session): Promise<object> =>
    await this.#host.controls.loops(sessionId);

  /** Live or stored; of a session that is nowhere it says that nothing is known. */
  #view = async ({ sessionId, runId }: Session & { runId?: string }): Promise<object> => {
    const id = sessionId as SessionId;
    const session = await this.#host.describe(id);
    const view: SessionView = sessionView({
      sessionId,
      session,
      records: session === null ? [] : await this.#history(id),
      gates: this.#host.live(id)?.openGates() ?? [],
      delegatesWork: session?.activePrompt === true && (await this.#delegatesWork(sessionId)),
      producer: this.#producer,
    });
    if (runId === undefined) return view;
    const run = view.runs.find((one) => one.run.run_id === runId);
    if (run === undefined) throw badField('/runId', 'names no run of this session');
    return run;
  };

  async #delegatesWork(sessionId: string): Promise<boolean> {
    const { loops } = await this.#host.controls.loops(sessionId);
    return loops.some(({ loopId, state }) => loopId !== sessionId && state === 'running');
  }

  async #history(sessionId: SessionId): Promise<readonly Stored<HistoryEvent>[]> {
    const records: Stored<HistoryEvent>[] = [];
    for (let after = 0; ; ) {
      const page = await this.#host.history(sessionId, { after, limit: PAGE });
      records.push(...page);
      const last = page.at(-1);
      if (last === undefined || page.length < PAGE) return records;
      after = last.seq;
    }
  }
}

type Session = { readonly sessionId: string };

function read<P>(
  check: checks.SchemaCheck,
  family: ErrorFamily,
  run: (params: P) => Promise<object>,
): Read {
  // The params have passed `check` when they get here.
  return { check, family, run: (params) => run(params as P) };
}

function choiceOf(params: RestoreChoice): HostChoice {
  const { what, checkpointId, toolCallId } = params;
  switch (what) {
    case 'rollback':
      return { kind: 'rollback', ...(checkpointId === undefined ? {} : { checkpointId }) };
    case 'redo':
      return { kind: 'redo' };
    case 'files':
      if (checkpointId === undefined) throw badField('/checkpointId', 'is missing');
      return { kind: 'files', checkpointId };
    case 'call':
      if (toolCallId === undefined) throw badField('/toolCallId', 'is missing');
      return { kind: 'call', toolCallId };
  }
}

function shownCheckpoint({ files, at, ...rest }: CheckpointInfo): object {
  return {
    ...rest,
    at: isoTime(at),
    files: files?.changed.length ?? 0,
    coverage: files?.coverage ?? 'none',
  };
}
