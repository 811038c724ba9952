import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isObject } from '../../../../src/base/json.ts';
import type { AcpTestClient, ReceivedFrame } from '../../acp-client/client.ts';
import { isAlive, startAgentCore, tempFolder } from '../../agent-core/agent-core.ts';
import { INSTANT, KNOWS_CONTROL } from '../../agent-core/control-client.ts';
import { complaintsAbout } from '../checker/check.ts';
import type { Complaint, Evidence, Sent } from '../checker/evidence.ts';
import { readJournal, readLiveJournal } from '../checker/read-journal.ts';
import { inTime } from '../control-run.ts';
import { answerTo, type ListedGate } from './gates.ts';
import { ToldLog } from './told-log.ts';

/** What came of a request. `gone`: the process ended first. */
export type Answer =
  | { readonly kind: 'ok'; readonly result: Readonly<Record<string, unknown>> }
  | { readonly kind: 'refused'; readonly failure: Error }
  | { readonly kind: 'gone' };

const FORMS = { elicitation: { form: {} } };

/** What several rigs share whose clients work on the same sessions. */
export type RigGround = {
  readonly home: string;
  readonly folder: string;
  readonly sent: Sent[];
  readonly told: ToldLog;
  /** How many names were given. */
  names: number;
  readonly launch: (home: string, env: NodeJS.ProcessEnv) => AcpTestClient;
};

/** Two empty folders, and a process for each client that is its own host unless another launch is given. */
export function newGround(
  launch: RigGround['launch'] = (home, env) => startAgentCore(home, { env }),
): RigGround {
  const folder = tempFolder('work');
  // What ran is written where no rollback takes it back.
  writeFileSync(join(folder, '.gitignore'), 'marks\npids\n');
  return { home: tempFolder('home'), folder, sent: [], told: new ToldLog(), names: 0, launch };
}

/** How long a process that outlived its parent may take to be gone. */
const REAPED_MS = 5_000;

/**
 * A data folder and a working folder with agent-core after agent-core on them, and the evidence of what all of them
 * did: what was told, what was accepted, which commands ran. No call rejects because a process died.
 */
export class CrashRig {
  readonly home: string;
  readonly folder: string;
  readonly sent: Sent[];
  /** What permission requests are answered with; null: nothing, the question stays open. */
  permission: string | null = 'allow_once';
  readonly #ground: RigGround;
  readonly #told: ToldLog;
  readonly #env: NodeJS.ProcessEnv;
  #client: AcpTestClient | null = null;
  #isGone = true;
  readonly #forgotten = new Set<string>();

  constructor(env: NodeJS.ProcessEnv = INSTANT, ground: RigGround = newGround()) {
    this.#env = env;
    this.#ground = ground;
    ({ home: this.home, folder: this.folder, sent: this.sent, told: this.#told } = ground);
  }

  get client(): AcpTestClient {
    if (this.#client === null) throw new TypeError('Nothing was started');
    return this.#client;
  }

  get isGone(): boolean {
    return this.#isGone;
  }

  /** A name that occurs nowhere else in this rig; markers and command ids are made of it. */
  name(): string {
    this.#ground.names += 1;
    return `m${this.#ground.names}`;
  }

  /** What commands left behind, in their order. */
  get marks(): readonly string[] {
    return this.#lines('marks');
  }

  /** A command that leaves its mark once. */
  mark(name = this.name()): string {
    return `echo ${name} >> marks`;
  }

  /** Starts another process; with `crashAt` it dies at that point. Gives the answer to `initialize`. */
  async start(crashAt?: string): Promise<Answer> {
    const crash = crashAt === undefined ? {} : { CRASH_AT: crashAt };
    const client = this.#ground.launch(this.home, { ...this.#env, ...crash });
    this.#client = client;
    this.#isGone = false;
    void client.exited.then(() => {
      if (this.#client === client) this.#isGone = true;
    });
    client.onRequest('session/request_permission', (params) => this.#permission(params));
    client.onRequest('elicitation/create', () =>
      this.permission === null ? undefined : { action: 'accept', content: { answer: 'yes' } },
    );
    client.onRequest('_pilothouse/auth', () =>
      this.permission === null ? undefined : { outcome: 'cancelled' },
    );
    return await this.call('initialize', {
      protocolVersion: 1,
      clientCapabilities: { ...FORMS, ...KNOWS_CONTROL },
      clientInfo: { name: 'crash-rig', version: '1' },
    });
  }

  async call(method: string, params: object = {}): Promise<Answer> {
    if (this.#isGone) return { kind: 'gone' };
    const { client } = this;
    const gone = client.exited.then((): Answer => ({ kind: 'gone' }));
    const answer = client.call(method, params).then(
      (result): Answer => ({ kind: 'ok', result }),
      (failure: Error): Answer =>
        'code' in failure ? { kind: 'refused', failure } : { kind: 'gone' },
    );
    return await inTime(Promise.race([answer, gone]), `the answer to ${method}`);
  }

  /** A new session in code mode, followed by its events; an empty id if the process died. */
  async newSession(mode = 'code', more: object = {}): Promise<string> {
    const params = { cwd: this.folder, mcpServers: [], ...more };
    const answer = await this.call('session/new', params);
    if (answer.kind !== 'ok') return '';
    const sessionId = String(answer.result['sessionId']);
    await this.follow(sessionId);
    if (mode !== 'ask') await this.call('session/set_mode', { sessionId, modeId: mode });
    return sessionId;
  }

  /** From here on what is told of this session, with its hashes, is evidence. */
  async follow(sessionId: string): Promise<void> {
    await this.call('_pilothouse/events/subscribe', { sessionId, classes: ['history', 'control'] });
  }

  prompt(sessionId: string, ...lines: readonly string[]): Promise<Answer> {
    return this.#command(sessionId, 'prompt', 'session/prompt', {
      prompt: [{ type: 'text', text: lines.join('\n') }],
    });
  }

  inject(sessionId: string, mode: string, text: string): Promise<Answer> {
    return this.#command(sessionId, 'inject', 'session/inject', {
      mode,
      content: [{ type: 'text', text }],
    });
  }

  /** True once a frame fits; false if the process ended before. */
  async until(fits: (frame: ReceivedFrame) => boolean, what: string): Promise<boolean> {
    const { client } = this;
    const found = client.waitFor(fits, what).then(
      () => true,
      // The streams are over before the process is.
      () => client.exited.then(() => false),
    );
    return await inTime(found, what);
  }

  /** True once the file is there with something in it; false if the process ended before. */
  async fileSays(name: string, text = ''): Promise<boolean> {
    const file = join(this.folder, name);
    const is = (): boolean => existsSync(file) && readFileSync(file, 'utf8').includes(text);
    const deadline = performance.now() + 20_000;
    while (!is()) {
      if (this.#isGone) return is();
      if (performance.now() > deadline) throw new Error(`${name} never came`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    return true;
  }

  /** Kills the process now, if it still lives. */
  async kill(): Promise<void> {
    const { pid } = this.client;
    if (!this.#isGone && pid !== undefined) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch (failure) {
        // It was dying already.
        if (!isObject(failure) || failure['code'] !== 'ESRCH') throw failure;
      }
    }
    await this.gone();
  }

  /** Ends the process in peace, unless it is dead; gives what it died of. */
  async close(): Promise<NodeJS.Signals | null> {
    if (!this.#isGone) this.client.endInput();
    return await this.gone();
  }

  async gone(): Promise<NodeJS.Signals | null> {
    const { signal } = await inTime(this.client.exited, 'the end of agent-core');
    this.#isGone = true;
    this.#told.take(this.client);
    return signal;
  }

  /** Brings every session of the folder back, with its open questions unanswered. */
  async loadAll(): Promise<readonly string[]> {
    const ids = await this.sessions();
    for (const sessionId of ids) {
      const load = { sessionId, cwd: this.folder, mcpServers: [] };
      const answer = await this.call('session/load', load);
      if (answer.kind === 'refused') throw answer.failure;
      if (answer.kind === 'ok') this.#told.loaded(sessionId, answer.result);
      await this.follow(sessionId);
    }
    return ids;
  }

  async sessions(): Promise<readonly string[]> {
    return (await this.#list()).map(({ sessionId }) => String(sessionId));
  }

  /** Answers what asks and sends what is held, until nothing is left to do. */
  async settle(): Promise<void> {
    const ids = await this.sessions();
    for (const sessionId of ids) await this.call('_pilothouse/queue/resume', { sessionId });
    const isBusy = async (): Promise<boolean> => {
      for (const sessionId of ids) await this.answerGates(sessionId);
      return (await this.#list()).some(({ activePrompt }) => activePrompt === true);
    };
    const deadline = performance.now() + 30_000;
    while (await isBusy()) {
      if (performance.now() > deadline) throw new Error('It never came to rest');
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  /** The first open question of a session or its delegates, once there is one; null if the process died before. */
  async nextGate(sessionId: string): Promise<string | null> {
    const deadline = performance.now() + 20_000;
    while (!this.#isGone) {
      const [first] = await this.gates(sessionId);
      if (first !== undefined) return first.gateId;
      if (performance.now() > deadline) throw new Error('Nothing was asked');
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    return null;
  }

  async gates(sessionId: string): Promise<readonly ListedGate[]> {
    const listed = await this.call('_pilothouse/gates/list', { sessionId });
    return listed.kind === 'ok' ? (listed.result['gates'] as readonly ListedGate[]) : [];
  }

  async answerGates(sessionId: string): Promise<void> {
    for (const gate of await this.gates(sessionId))
      await this.call('_pilothouse/gates/respond', { sessionId, ...answerTo(gate) });
  }

  /** A session that was deleted takes its evidence with it. */
  forget(sessionId: string): void {
    this.#forgotten.add(sessionId);
  }

  /** Takes what its client was told so far into the evidence. */
  collect(): void {
    if (this.#client !== null) this.#told.take(this.#client);
  }

  /** What does not hold now. Only when nothing writes: of a dead process, or of one at rest. */
  async complaints(stage: Evidence['stage']): Promise<readonly Complaint[]> {
    this.collect();
    const earlierMarkers = this.marks;
    return complaintsAbout({
      stage,
      earlierMarkers,
      loops: this.#isGone ? readJournal(this.home) : readLiveJournal(this.home),
      told: this.#told.all.filter(({ sessionId }) => !this.#forgotten.has(sessionId)),
      sent: this.sent.filter(({ sessionId }) => !this.#forgotten.has(sessionId)),
      markers: this.marks,
      alive: stage === 'dead' || !this.#isGone ? [] : await this.#orphans(),
    });
  }

  /** Takes the folders away before the test is over: there may be hundreds. */
  dispose(): void {
    for (const folder of [this.home, this.folder])
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }

  #permission({ options }: Readonly<Record<string, unknown>>): object | undefined {
    if (this.permission === null) return undefined;
    const offered = Array.isArray(options)
      ? options.map((one: { optionId?: string }) => one.optionId)
      : [];
    const optionId = offered.find((id) => id === this.permission) ?? 'allow_once';
    return { outcome: { outcome: 'selected', optionId } };
  }

  async #command(
    sessionId: string,
    kind: Sent['kind'],
    method: string,
    params: object,
  ): Promise<Answer> {
    const commandId = `${kind}-${this.name()}`;
    const sent: Sent = { sessionId, commandId, kind, answer: 'none' };
    this.sent.push(sent);
    const meta = { _meta: { pilothouse: { commandId } } };
    const answer = await this.call(method, { sessionId, ...params, ...meta });
    if (answer.kind !== 'gone') sent.answer = answer.kind;
    return answer;
  }

  async #list(): Promise<readonly Readonly<Record<string, unknown>>[]> {
    const answer = await this.call('session/list', {});
    if (answer.kind !== 'ok') return [];
    const { sessions } = answer.result as { sessions: Readonly<Record<string, unknown>>[] };
    return sessions;
  }

  async #orphans(): Promise<readonly string[]> {
    const pids = this.#lines('pids');
    const alive = (): readonly string[] => pids.filter((pid) => isAlive(Number(pid)));
    const deadline = performance.now() + REAPED_MS;
    while (alive().length > 0 && performance.now() < deadline)
      await new Promise((resolve) => setTimeout(resolve, 20));
    return alive();
  }

  #lines(name: string): readonly string[] {
    const file = join(this.folder, name);
    return existsSync(file)
      ? readFileSync(file, 'utf8')
          .split('\n')
          .filter((line) => line !== '')
      : [];
  }
}
