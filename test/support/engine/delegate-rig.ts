import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { toDisposable } from '../../../src/base/disposables.ts';
import type { HostedSession } from '../../../src/core/host/hosted-session.ts';
import { sha256 } from '../../../src/core/host/node-ports.ts';
import { SessionEnvironments } from '../../../src/core/host/session-environments.ts';
import { SessionMaker } from '../../../src/core/host/session-maker.ts';
import type { ResourceFactory } from '../../../src/core/host/session-resources.ts';
import { createRehearsalSource } from '../../../src/core/models/rehearsal/rehearsal-source.ts';
import type { HistoryEvent, SessionSignal } from '../../../src/core/session/events.ts';
import type { ModelCatalog } from '../../../src/core/session/model.ts';
import type { NewRecord, StoredRecord } from '../../../src/core/session/ports.ts';
import type { PromptOutcome } from '../../../src/core/session/state/prompts.ts';
import type { Policy, Tool } from '../../../src/core/session/tool.ts';
import type { CommandId, SessionConfig, SessionId } from '../../../src/core/session/words.ts';
import { askTool } from '../../../src/core/tools/session/ask-tool.ts';
import { delegateTools } from '../../../src/core/tools/session/delegate-tools.ts';
import type { ListedLoop } from '../../../src/protocol/pilothouse.ts';
import { ManualClock, OWNER } from './a-session.ts';
import { MemoryJournal } from './memory-journal.ts';

/** A journal whose process can be killed: from then on nothing is stored and nobody is answered. */
export class MortalJournal extends MemoryJournal {
  /** Kills the process before, or right after, the append that holds such a record. */
  deathAt: {
    readonly when: 'before' | 'after';
    readonly at: (record: NewRecord) => boolean;
  } | null = null;
  /** Resolves when it is dead. */
  readonly died: Promise<void>;
  #isDead = false;
  #die: () => void = () => undefined;

  constructor() {
    super();
    this.died = new Promise((resolve) => {
      this.#die = () => {
        this.#isDead = true;
        resolve();
      };
    });
  }

  override async append(
    sessionId: SessionId,
    records: readonly NewRecord[],
  ): Promise<readonly StoredRecord[]> {
    const death = this.#isDead ? null : this.deathAt;
    const isHit = death !== null && records.some((record) => death.at(record));
    if (isHit && death.when === 'before') this.#die();
    if (this.#isDead) return await never();
    const stored = await super.append(sessionId, records);
    if (isHit) this.#die();
    return this.#isDead ? await never() : stored;
  }

  /** What is on disk, for the process after this one. */
  left(): MortalJournal {
    const next = new MortalJournal();
    for (const [sessionId, records] of this.records) next.records.set(sessionId, [...records]);
    return next;
  }
}

function never(): Promise<never> {
  return new Promise(() => undefined);
}

/** What a session with delegates is tried with. */
export type DelegateRigOptions = {
  readonly models?: ModelCatalog;
  readonly tools?: readonly Tool[];
  readonly policy?: Policy;
  readonly config?: Partial<SessionConfig>;
  readonly journal?: MortalJournal;
  /** Brings this one back instead of making one. */
  readonly restore?: SessionId;
  /** Told the loop whose processes are ended. */
  readonly onStopAll?: (sessionId: SessionId) => void;
  /** Told which resource of the root loop is ended. */
  readonly onDispose?: (what: 'processes' | 'external' | 'checkpoints') => void;
};

/** A hosted session whose loops play scripts of the instant rehearsal model. */
export type DelegateRig = {
  readonly hosted: HostedSession;
  readonly journal: MortalJournal;
  readonly clock: ManualClock;
  readonly folder: string;
  readonly signals: readonly SessionSignal[];
  prompt(text: string): Promise<PromptOutcome>;
  loops(): readonly ListedLoop[];
  /** The history of a loop on disk, the root loop's unless named. */
  history(loopId?: string): readonly HistoryEvent[];
  /** The same session in another process, as if this one had died now. */
  restart(options?: Partial<DelegateRigOptions>): Promise<DelegateRig>;
  /** Resolves as soon as the condition holds; asked again after each signal. */
  until(condition: () => boolean): Promise<void>;
};

/** The instant rehearsal model, in every loop. */
export function rehearsal(clock: ManualClock): ModelCatalog {
  const source = createRehearsalSource({ clock, listInstant: true });
  return {
    list: () => source.list(),
    resolve: async (id) => {
      const model = await source.resolve(id.replace(/^rehearsal\//, ''), {
        sessionId: 'any' as SessionId,
      });
      if (model === null) throw new Error(`There is no model ${id}`);
      return model;
    },
    onDidChange: () => toDisposable(() => undefined),
  };
}

/** Allows everything. */
export const ALLOWING: Policy = {
  decide: async () => ({ decision: 'allow', reason: 'test' }),
  remember: async () => undefined,
};

/** Makes a session with delegates over a journal in memory. */
export async function delegateRig(options: DelegateRigOptions = {}): Promise<DelegateRig> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'pilothouse-delegates-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return open(options, folder, options.journal ?? new MortalJournal());
}

async function open(
  options: DelegateRigOptions,
  folder: string,
  journal: MortalJournal,
): Promise<DelegateRig> {
  const clock = new ManualClock();
  const hosted = await makeHosted(options, folder, journal, clock);
  if (options.config !== undefined && options.restore === undefined)
    await hosted.session.record({
      type: 'config_changed',
      config: { ...hosted.session.config, ...options.config },
      actor: OWNER,
    });
  const signals: SessionSignal[] = [];
  const checks = new Set<() => void>();
  hosted.subscribe((signal) => {
    signals.push(signal);
    for (const check of [...checks]) check();
  });
  const { sessionId } = hosted;
  let order = 0;
  return {
    hosted,
    journal,
    clock,
    folder,
    signals,
    prompt: (text) => {
      order += 1;
      return hosted.session.prompt({
        order,
        commandId: `prompt-${Math.random()}` as CommandId,
        content: [{ type: 'text', text }],
        actor: OWNER,
      });
    },
    loops: () => hosted.delegates.loops(),
    history: (loopId = sessionId) =>
      (journal.records.get(loopId as SessionId) ?? []).flatMap((item) =>
        item.stream === 'history' ? [item.record.event] : [],
      ),
    restart: (others = {}) =>
      open({ ...options, ...others, restore: sessionId }, folder, others.journal ?? journal.left()),
    until: (condition) =>
      new Promise((resolve) => {
        const check = (): void => {
          if (!condition()) return;
          checks.delete(check);
          resolve();
        };
        checks.add(check);
        check();
      }),
  };
}

async function makeHosted(
  options: DelegateRigOptions,
  folder: string,
  journal: MortalJournal,
  clock: ManualClock,
): Promise<HostedSession> {
  const silent = () => undefined;
  const maker = new SessionMaker({
    deps: {
      journal,
      models: options.models ?? rehearsal(clock),
      policy: options.policy ?? ALLOWING,
      clock,
      ids: { unique: newId, secret: () => 'secret' },
      log: { debug: silent, info: silent, warn: silent, error: silent },
      digest: sha256,
    },
    factory: factoryOf(options),
    defaultModel: () => 'rehearsal/instant',
  });
  if (options.restore !== undefined) return maker.restore(options.restore, {});
  return maker.create({ cwd: folder, additionalDirectories: [], mcpServers: [] });
}

let ids = 0;
function newId(): string {
  ids += 1;
  return `id${ids}`;
}

function factoryOf(options: DelegateRigOptions): ResourceFactory {
  const tools = [...delegateTools(), askTool(), ...(options.tools ?? [])];
  const nothing = async (): Promise<void> => undefined;
  const disposing = (what: Parameters<NonNullable<DelegateRigOptions['onDispose']>>[0]) => ({
    dispose: async () => options.onDispose?.(what),
  });
  return {
    processes: (sessionId) => ({
      start: async () => Promise.reject(new Error('no processes here')),
      list: () => [],
      output: () => null,
      stop: async () => null,
      stopAll: async () => options.onStopAll?.(sessionId),
      onDidEnd: () => toDisposable(() => undefined),
      ...disposing('processes'),
    }),
    externalTools: () => ({
      tools: () => [],
      sources: () => [],
      onDidChange: () => toDisposable(() => undefined),
      configure: () => undefined,
      prepare: nothing,
      stopCalls: nothing,
      ...disposing('external'),
    }),
    checkpoints: () => ({ ...NO_CHECKPOINTS, ...disposing('checkpoints') }),
    builtinTools: { ready: nothing, list: () => tools },
    environments: new SessionEnvironments({}),
  };
}

const NO_CHECKPOINTS: ReturnType<ResourceFactory['checkpoints']> = {
  beforeEffect: async () => null,
  endTurn: async () => null,
  recoverTurn: async () => null,
  keep: async () => Promise.reject(new Error('no files here')),
  plan: async () => Promise.reject(new Error('no files here')),
  restore: async () => Promise.reject(new Error('no files here')),
  read: async () => null,
  settled: async () => undefined,
  recover: async () => undefined,
  dispose: async () => undefined,
};
