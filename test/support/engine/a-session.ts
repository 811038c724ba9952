import type { Clock } from '../../../src/base/clock.ts';
import { Deferred } from '../../../src/base/deferred.ts';
import type { JsonObject } from '../../../src/base/json.ts';
import { foldSession } from '../../../src/core/host/fold-session.ts';
import { sha256 } from '../../../src/core/host/node-ports.ts';
import type { Checkpoints } from '../../../src/core/session/checkpoints.ts';
import type { PersonsAnswer } from '../../../src/core/session/commands/entry-points.ts';
import { Compactions } from '../../../src/core/session/control/compactions.ts';
import { Inbox } from '../../../src/core/session/control/inbox.ts';
import type { ChangeCheck } from '../../../src/core/session/control/loop-change.ts';
import { MachineInbox } from '../../../src/core/session/control/machine-inbox.ts';
import { NextTurnQueue } from '../../../src/core/session/control/next-turns.ts';
import type { SessionDeps, SessionResources } from '../../../src/core/session/deps.ts';
import type { HistoryEvent, SessionSignal } from '../../../src/core/session/events.ts';
import type { ModelCatalog } from '../../../src/core/session/model.ts';
import { Session } from '../../../src/core/session/session.ts';
import { Conversation } from '../../../src/core/session/state/conversation.ts';
import type { Folded } from '../../../src/core/session/state/folded.ts';
import type { PromptOutcome } from '../../../src/core/session/state/prompts.ts';
import type { Tip } from '../../../src/core/session/state/recorder.ts';
import { SessionState } from '../../../src/core/session/state/session-state.ts';
import type {
  Policy,
  PolicyDecision,
  RememberOption,
  Tool,
  ToolContext,
  ToolOutcome,
} from '../../../src/core/session/tool.ts';
import type {
  CommandId,
  GateId,
  SessionConfig,
  SessionId,
} from '../../../src/core/session/words.ts';
import { MemoryJournal } from './memory-journal.ts';

export const OWNER = { clientId: 'test', role: 'host_owner', source: 'acp' } as const;

/** Time that passes only when told: a sleep ends when `advance` reaches it. */
export class ManualClock implements Clock {
  #now = 1_000;
  readonly #onSleep = new Set<() => void>();
  readonly #sleepers = new Set<{ at: number; wake: () => void }>();

  now(): number {
    return this.#now;
  }

  /** Resolves as soon as somebody sleeps. */
  async whenSleeping(): Promise<void> {
    if (this.#sleepers.size > 0) return;
    const asleep = new Deferred<void>();
    this.#onSleep.add(() => asleep.resolve());
    await asleep.promise;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const sleeper = { at: this.#now + ms, wake: resolve };
      this.#sleepers.add(sleeper);
      for (const notify of this.#onSleep) notify();
      this.#onSleep.clear();
      signal?.addEventListener('abort', () => {
        this.#sleepers.delete(sleeper);
        reject(signal.reason);
      });
    });
  }

  advance(ms: number): void {
    this.#now += ms;
    for (const sleeper of [...this.#sleepers]) {
      if (sleeper.at > this.#now) continue;
      this.#sleepers.delete(sleeper);
      sleeper.wake();
    }
  }
}

/** A tool whose run is a function; it records that it ran. */
export function aTool(
  name: string,
  run: (context: ToolContext, input: JsonObject) => Promise<ToolOutcome> | ToolOutcome,
  options: { readOnly?: boolean } = {},
): Tool {
  return {
    definition: { name, description: name, inputSchema: { type: 'object' } },
    kind: 'other',
    readOnly: options.readOnly ?? false,
    prepare: async (input) => ({
      accesses: [{ kind: 'write', path: `/w/${pathOf(input) || name}` }],
      preview: { title: name, kind: 'other', locations: [], content: [] },
      run: async (context) => run(context, input),
    }),
  };
}

/** The `path` argument of a call; empty where there is none. */
export function pathOf(input: JsonObject): string {
  return typeof input['path'] === 'string' ? input['path'] : '';
}

/** The `text` argument of a call; empty where there is none. */
export function textOf(input: JsonObject): string {
  return typeof input['text'] === 'string' ? input['text'] : '';
}

export function ok(text: string): ToolOutcome {
  return {
    status: 'completed',
    parts: [{ type: 'text', text }],
    content: [{ type: 'content', content: { type: 'text', text } }],
  };
}

export type TestSession = {
  readonly session: Session;
  readonly journal: MemoryJournal;
  readonly clock: ManualClock;
  /** No id is to be had while `failure` is set. */
  readonly ids: { failure: Error | null };
  readonly signals: SessionSignal[];
  /** What lasting answers stored. */
  readonly remembered: readonly RememberOption[];
  /** Types of the history in order. */
  types(): string[];
  history(): HistoryEvent[];
  /** The same session in another process, as if this one had died now. */
  restart(options?: Partial<SessionOptions>): Promise<TestSession>;
  prompt(text: string, order?: number, commandId?: string): Promise<PromptOutcome>;
  /** Answers a gate as its owner; false if it is not open any more. */
  answer(gateId: GateId, answer: PersonsAnswer, commandId?: string): Promise<boolean>;
  /** Resolves with the first event that matches, past or future. */
  next<T extends HistoryEvent['type']>(
    type: T,
    nth?: number,
  ): Promise<Extract<HistoryEvent, { type: T }>>;
};

/** What a session is tried with. */
export type SessionOptions = {
  model: ModelCatalog;
  tools?: readonly Tool[];
  decide?: (call: { tool: string }) => PolicyDecision | Promise<PolicyDecision>;
  config?: Partial<SessionConfig>;
  stopAll?: () => Promise<void>;
  prepareTurn?: () => Promise<void>;
  remember?: () => Promise<void>;
  /** False: delivered messages carry no authority. */
  directives?: boolean;
  checkpoints?: Checkpoints;
  checkChange?: ChangeCheck;
};

/** What outlives the process that a session lives in. */
type World = { readonly journal: MemoryJournal; ids: number; order: number };

/** A live session over a memory journal. */
export async function aSession(options: SessionOptions): Promise<TestSession> {
  const journal = new MemoryJournal();
  const config: SessionConfig = {
    mode: 'ask',
    model: 'scripted/one',
    thoughtLevel: 'auto',
    budget: {},
    ...options.config,
  };
  const created: HistoryEvent = {
    type: 'session_created',
    cwd: '/w',
    additionalDirectories: [],
    config,
  };
  const [stored] = await journal.append(SESSION_ID, [{ stream: 'history', event: created }]);
  const folded = {
    state: new SessionState(),
    conversation: new Conversation(),
    inbox: new Inbox(),
    nextTurns: new NextTurnQueue(),
    machine: new MachineInbox(),
    compactions: new Compactions(),
  };
  folded.state.applyHistory(created);
  folded.conversation.apply(created, 1);
  const tip = { lastEventId: 1, prefixHash: stored?.record.hash ?? '' };
  return alive({ journal, ids: 0, order: 0 }, folded, tip, options);
}

const SESSION_ID = 's1' as SessionId;

/** As after a crash: what the journal holds is all that is left. */
async function restarted(world: World, options: SessionOptions): Promise<TestSession> {
  const folded = await foldSession(world.journal, SESSION_ID);
  const row = await world.journal.session(SESSION_ID);
  if (row === null) throw new Error('There is no session');
  const t = alive(world, folded, row, options);
  await t.session.restored();
  return t;
}

function alive(world: World, folded: Folded, tip: Tip, options: SessionOptions): TestSession {
  const { journal } = world;
  const clock = new ManualClock();
  const ids: TestSession['ids'] = { failure: null };
  const remembered: RememberOption[] = [];
  const policy: Policy = {
    decide: async (call) => options.decide?.(call) ?? { decision: 'allow', reason: 'test' },
    remember: async (_sessionId, _workspace, option) => {
      await options.remember?.();
      remembered.push(option);
    },
  };
  const silent = () => undefined;
  const deps: SessionDeps = {
    journal,
    models: options.model,
    policy,
    clock,
    ids: {
      unique: () => {
        if (ids.failure !== null) throw ids.failure;
        world.ids += 1;
        return `id${world.ids}`;
      },
      secret: () => 'secret',
    },
    log: { debug: silent, info: silent, warn: silent, error: silent },
    digest: sha256,
    ...(options.checkChange === undefined ? {} : { checkChange: options.checkChange }),
    ...(options.directives === undefined ? {} : { directives: options.directives }),
  };
  const resources: SessionResources = {
    workspace: { cwd: '/w', roots: ['/w'] },
    files: { readText: async () => null, writeText: async () => false },
    processes: {
      start: async () => Promise.reject(new Error('no processes here')),
      list: () => [],
      output: () => null,
      stop: async () => null,
      stopAll: options.stopAll ?? (async () => undefined),
    },
    tools: () => options.tools ?? [],
    system: 'system',
    ...(options.checkpoints === undefined ? {} : { checkpoints: options.checkpoints }),
    ...(options.prepareTurn === undefined ? {} : { prepareTurn: options.prepareTurn }),
    expand: (text) => (text === '/hello' ? 'say hello' : null),
  };
  const session = new Session(SESSION_ID, deps, resources, tip, folded);
  const signals: SessionSignal[] = [];
  const waiting = new Set<() => void>();
  session.subscribe((signal) => {
    signals.push(signal);
    for (const check of [...waiting]) check();
  });
  const history = (): HistoryEvent[] =>
    signals.flatMap((signal) => (signal.stream === 'history' ? [signal.record.event] : []));
  return {
    session,
    remembered,
    journal,
    clock,
    ids,
    signals,
    history,
    restart: (others = {}) => restarted(world, { ...options, ...others }),
    types: () => history().map(({ type }) => type),
    prompt: (text, at, commandId) => {
      world.order = at ?? world.order + 1;
      return session.prompt({
        order: world.order,
        commandId: (commandId ?? `c${world.order}`) as CommandId,
        content: [{ type: 'text', text }],
        actor: OWNER,
      });
    },
    answer: (gateId, answer, commandId) =>
      session.entries.respondToGate(gateId, answer, {
        actor: OWNER,
        agency: 'user',
        ...(commandId === undefined ? {} : { commandId: commandId as CommandId }),
      }),
    next: async (type, nth = 1) => {
      type Found = Extract<HistoryEvent, { type: typeof type }>;
      const find = (): Found | undefined =>
        history().filter((event): event is Found => event.type === type)[nth - 1];
      const done = new Deferred<Found>();
      const check = (): void => {
        const found = find();
        if (found !== undefined) done.resolve(found);
      };
      waiting.add(check);
      check();
      try {
        return await done.promise;
      } finally {
        waiting.delete(check);
      }
    },
  };
}
