import type { Clock } from '../../base/clock.ts';
import type { Disposable } from '../../base/disposables.ts';
import { Emitter } from '../../base/emitter.ts';
import { CodedError, messageOf } from '../../base/errors.ts';
import type { AgentProcess, ProcessExit } from './agent-process.ts';
import { AgentConnection, type ClientSide } from './connection.ts';
import { type AgentInfo, type ClientOffers, shakeHands } from './handshake.ts';
import { type Outage, outageOf } from './offline-words.ts';
import { type RestartLimits, RestartPolicy } from './restart-policy.ts';

/** What the agent process is doing. Each state owns what it needs. */
export type AgentState =
  | { readonly kind: 'stopped' }
  | { readonly kind: 'starting'; readonly ready: Promise<AgentConnection> }
  | {
      readonly kind: 'ready';
      readonly process: AgentProcess;
      readonly connection: AgentConnection;
      readonly info: AgentInfo;
      /** Resolves when its end has been dealt with and the state is another one. */
      readonly over: Promise<void>;
    }
  | ({ readonly kind: 'restarting'; readonly wait: AbortController } & Outage)
  | ({ readonly kind: 'failed' } & Outage)
  | { readonly kind: 'closed' };

/** What the agent needs from outside. */
export type AgentPorts = {
  readonly clock: Clock;
  readonly version: string;
  readonly launch: () => Promise<AgentProcess>;
  readonly client: ClientSide;
  /** What this client offers it. */
  readonly offers: ClientOffers;
  /** When it is started again; left out: as a process of this machine. */
  readonly limits?: RestartLimits;
  readonly log: (message: string) => void;
  /** What the process that was started last said was wrong; null if nothing. */
  readonly lastError?: () => string | null;
  /** Runs on each new connection before anyone else uses it (keys, providers). */
  readonly prepare: (connection: AgentConnection) => Promise<void>;
  /** Says why it may not be started now, or null. */
  readonly forbidden: () => CodedError | null;
};

/** How long a process that closed its output may take to end by itself. */
const HANG_GRACE_MS = 500;

/**
 * The one owner of the agent-core process, the window's door to the host of its sessions: starts it on demand, starts
 * it again after a crash as long as the policy allows, and ends it with the window; the host goes on. A start that failed never poisons the next one.
 */
export class Agent implements Disposable {
  readonly #ports: AgentPorts;
  readonly #changed = new Emitter<AgentState>();
  #state: AgentState = { kind: 'stopped' };
  #policy: RestartPolicy;

  readonly onDidChange = this.#changed.event;

  constructor(ports: AgentPorts) {
    this.#ports = ports;
    this.#policy = new RestartPolicy(ports.limits);
  }

  get state(): AgentState {
    return this.#state;
  }

  get connection(): AgentConnection | null {
    return this.#state.kind === 'ready' ? this.#state.connection : null;
  }

  /** The connection, starting the process if need be. Rejects with a `CodedError` that says what to do. */
  async ensure(): Promise<AgentConnection> {
    const state = this.#state;
    switch (state.kind) {
      case 'ready':
        if (!state.connection.isClosed) return state.connection;
        // It has just died: its end is being dealt with, and then a new one can be started.
        await state.over;
        return this.ensure();
      case 'starting':
        return state.ready;
      case 'closed':
        throw new CodedError('agent.closed', 'The window is closing.');
      case 'restarting':
        state.wait.abort();
        return this.#start();
      case 'failed':
        this.#policy = this.#policy.reset();
        return this.#start();
      case 'stopped':
        return this.#start();
    }
  }

  /** Ends the process, if there is one, and starts a new one. */
  async restart(graceMs = 2_000): Promise<AgentConnection> {
    if (this.#state.kind === 'ready') await this.release(graceMs);
    this.#policy = this.#policy.reset();
    return this.ensure();
  }

  /** Ends the process, if there is one; the next `ensure` starts another. */
  async release(graceMs = 2_000): Promise<void> {
    await this.#end({ kind: 'stopped' }, graceMs);
  }

  /** Ends the process for good: closes its input, waits, then kills its group. */
  async close(graceMs: number): Promise<void> {
    await this.#end({ kind: 'closed' }, graceMs);
  }

  async #end(next: AgentState, graceMs: number): Promise<void> {
    const state = this.#state;
    this.#set(next);
    // What the host asks goes unanswered: an answer that nobody gave must not reach what goes on there.
    if (state.kind === 'ready') state.connection.dispose();
    if (state.kind === 'restarting') state.wait.abort();
    // What is still starting sees the state and ends itself; it is not waited for longer than the grace.
    if (state.kind === 'starting')
      await Promise.race([state.ready.catch(() => undefined), this.#ports.clock.sleep(graceMs)]);
    if (state.kind === 'ready') await state.process.stop(graceMs);
  }

  #start(): Promise<AgentConnection> {
    const refusal = this.#ports.forbidden();
    if (refusal) return Promise.reject(refusal);
    const ready = this.#connect();
    this.#set({ kind: 'starting', ready });
    // Whoever waits sees the failure; nobody waiting is no reason for an unhandled rejection.
    ready.catch(() => undefined);
    return ready;
  }

  async #connect(): Promise<AgentConnection> {
    let process: AgentProcess | null = null;
    try {
      process = await this.#ports.launch();
      const connection = await AgentConnection.open(process, this.#ports.client);
      const info = await shakeHands(connection, this.#ports.version, this.#ports.offers);
      await this.#ports.prepare(connection);
      return await this.#enter(process, connection, info);
    } catch (error) {
      const exit = await ended(process, error);
      const reason = this.#ports.lastError?.() ?? exit;
      this.#ports.log(`agent-core did not start: ${reason}`);
      if (this.#state.kind === 'starting') this.#afterFailure(outageOf(error, reason));
      throw error;
    }
  }

  async #enter(
    process: AgentProcess,
    connection: AgentConnection,
    info: AgentInfo,
  ): Promise<AgentConnection> {
    if (this.#state.kind === 'closed') {
      await process.stop(0);
      connection.dispose();
      throw new CodedError('agent.closed', 'The window is closing.');
    }
    this.#ports.log(`agent-core ${info.version} runs as process ${process.pid}`);
    const over = this.#watch(process, connection);
    this.#set({ kind: 'ready', process, connection, info, over });
    return connection;
  }

  async #watch(process: AgentProcess, connection: AgentConnection): Promise<void> {
    await Promise.race([process.done, connection.closed]);
    // Whoever ended it sees to the rest.
    if (this.#state.kind !== 'ready' || this.#state.process !== process) return;
    connection.dispose();
    await process.stop(HANG_GRACE_MS);
    if (this.#state.kind !== 'ready' || this.#state.process !== process) return;
    const exit = describeExit(await process.done);
    const reason = this.#ports.lastError?.() ?? exit;
    this.#ports.log(`agent-core ended: ${reason}`);
    this.#afterFailure({ reason });
  }

  #afterFailure(outage: Outage): void {
    const { policy, decision } = this.#policy.failed(this.#ports.clock.now());
    this.#policy = policy;
    if (decision.kind === 'give_up' || outage.signedOut === true) {
      this.#set({ kind: 'failed', ...outage });
      return;
    }
    const wait = new AbortController();
    this.#set({ kind: 'restarting', ...outage, wait });
    void this.#restartAfter(decision.delay, wait.signal);
  }

  async #restartAfter(delay: number, signal: AbortSignal): Promise<void> {
    try {
      await this.#ports.clock.sleep(delay, signal);
    } catch {
      // Somebody asked for it sooner, or the window closes: both have taken over.
      return;
    }
    if (this.#state.kind !== 'restarting') return;
    const refusal = this.#ports.forbidden();
    if (refusal) this.#set({ kind: 'stopped' });
    else await this.#start().catch(() => undefined);
  }

  #set(state: AgentState): void {
    this.#state = state;
    this.#changed.fire(state);
  }

  dispose(): void {
    this.#changed.dispose();
  }
}

/** Ends a process that could not be used. Resolves with why: how it ended, if it did so by itself, else the error. */
async function ended(process: AgentProcess | null, error: unknown): Promise<string> {
  const isGone = error instanceof CodedError && error.code === 'agent.gone';
  await process?.stop(isGone ? HANG_GRACE_MS : 0);
  return process && isGone ? describeExit(await process.done) : messageOf(error);
}

function describeExit(exit: ProcessExit): string {
  return exit.signal ? `killed by ${exit.signal}` : `exit code ${exit.code ?? 'unknown'}`;
}
