import type { Clock } from '../../../base/clock.ts';
import { Deferred } from '../../../base/deferred.ts';
import type { Disposable } from '../../../base/disposables.ts';
import { Emitter, type Event } from '../../../base/emitter.ts';
import { messageOf } from '../../../base/errors.ts';
import type { ExternalNotice } from '../../host/session-resources.ts';
import type { Connection, ServerTool } from '../connection/connection.ts';
import { McpError } from '../errors.ts';
import * as notices from './notices.ts';

const FIRST_RETRY_MS = 500;
const MAX_RETRY_MS = 30_000;
/** Failed attempts in a row after which only a new turn tries again. */
const MAX_ATTEMPTS = 6;
/** An attempt that takes longer keeps no turn waiting. */
const PATIENCE_MS = 10_000;
/** A connection that held this long was a good one: the next loss starts counting anew. */
const STABLE_MS = 60_000;

/** What a link is, at one moment. */
export type LinkState =
  | { readonly kind: 'idle' }
  | {
      readonly kind: 'connecting';
      readonly since: number;
      readonly abort: AbortController;
      readonly over: Deferred<void>;
    }
  | { readonly kind: 'connected'; readonly since: number; readonly connection: Connection }
  /** Another attempt comes by itself. */
  | { readonly kind: 'waiting'; readonly failure: McpError; readonly abort: AbortController }
  /** Only a new turn tries again. */
  | { readonly kind: 'resting'; readonly failure: McpError }
  /** Only a sign-in helps. */
  | { readonly kind: 'login'; readonly failure: McpError }
  | { readonly kind: 'closed' };

/** What a link needs of the world. */
export type LinkDeps = {
  /** Throws `McpError`; must be bounded and honour the signal. */
  readonly connect: (signal: AbortSignal) => Promise<Connection>;
  readonly clock: Clock;
};

/**
 * One configured MCP server over the life of a session: connects in the background, connects again after a loss with
 * growing pauses, and always knows whether there is somebody to call.
 */
export class ServerLink implements Disposable {
  readonly name: string;
  readonly #deps: LinkDeps;
  readonly #changed = new Emitter<ExternalNotice | null>();
  #state: LinkState = { kind: 'idle' };
  #failures = 0;
  /** The person was told that the server is not there. */
  #isReportedGone = false;

  constructor(name: string, deps: LinkDeps) {
    this.name = name;
    this.#deps = deps;
  }

  get state(): LinkState {
    return this.#state;
  }

  /** Fires when the tools changed or the server came or went, with what a person should know of it. */
  get onDidChange(): Event<ExternalNotice | null> {
    return this.#changed.event;
  }

  /** The tools that can be called now. */
  get tools(): readonly ServerTool[] {
    return this.#state.kind === 'connected' ? this.#state.connection.tools() : [];
  }

  /** Begins connecting, or tries again at once where the last attempt failed. */
  wake(): void {
    const { kind } = this.#state;
    if (kind === 'resting') this.#failures = 0;
    if (kind === 'idle' || kind === 'waiting' || kind === 'resting') this.#attempt();
  }

  /** Connects again after a sign-in. */
  signedIn(): void {
    if (this.#state.kind === 'login') this.#attempt();
  }

  /**
   * Resolves when no attempt runs, after `graceMs`, or when the signal aborts. An attempt that has hung for long is
   * not waited for.
   */
  async settled(graceMs: number, signal: AbortSignal): Promise<void> {
    const state = this.#state;
    if (state.kind !== 'connecting' || signal.aborted) return;
    const left = Math.min(graceMs, state.since + PATIENCE_MS - this.#deps.clock.now());
    if (left <= 0) return;
    const enough = new AbortController();
    const sleeping = this.#deps.clock
      .sleep(left, AbortSignal.any([signal, enough.signal]))
      .catch(() => undefined);
    await Promise.race([state.over.promise, sleeping]);
    enough.abort();
  }

  /** The connection to call. Throws `mcp.lost` where there is none. */
  connection(): Connection {
    const state = this.#state;
    if (state.kind === 'connected') return state.connection;
    const why = 'failure' in state ? ` ${state.failure.message}` : '';
    throw new McpError(
      'mcp.lost',
      `The MCP server ${this.name} is not connected now, so nothing was called.${why}`,
    );
  }

  /** Ends the connection with everything it works on and makes a new one. Resolves when the old one is gone. */
  async restart(): Promise<void> {
    if (this.#state.kind !== 'connected') return;
    const closing = this.#state.connection.close('now');
    this.#attempt(closing);
    this.#changed.fire(null);
    await closing;
  }

  dispose(): void {
    void this.close();
  }

  /** Ends it for good. Resolves when nothing of it is left; bounded. */
  async close(): Promise<void> {
    const state = this.#state;
    this.#state = { kind: 'closed' };
    this.#changed.dispose();
    if (state.kind === 'waiting') state.abort.abort();
    if (state.kind === 'connected') await state.connection.close('gently');
    if (state.kind === 'connecting') {
      state.abort.abort();
      await state.over.promise;
    }
  }

  #attempt(after: Promise<void> = Promise.resolve()): void {
    if (this.#state.kind === 'waiting') this.#state.abort.abort();
    const abort = new AbortController();
    const over = new Deferred<void>();
    const state: LinkState = { kind: 'connecting', since: this.#deps.clock.now(), abort, over };
    this.#state = state;
    const isCurrent = (): boolean => this.#state === state;
    const run = async (): Promise<void> => {
      try {
        await after;
        const connection = await this.#deps.connect(abort.signal);
        if (isCurrent()) this.#connected(connection);
        else await connection.close('now');
      } catch (failure) {
        if (isCurrent()) this.#failed(asMcpError(failure));
      }
    };
    void run().finally(() => over.resolve());
  }

  #connected(connection: Connection): void {
    const since = this.#deps.clock.now();
    const state: LinkState = { kind: 'connected', since, connection };
    this.#state = state;
    connection.onDidChangeTools(() => {
      if (this.#state === state) this.#changed.fire(null);
    });
    void connection.lost.then((failure) => {
      if (this.#state === state) this.#lost(failure, since);
    });
    const notice = this.#isReportedGone ? notices.back(this.name) : null;
    this.#isReportedGone = false;
    this.#changed.fire(notice);
  }

  #lost(failure: McpError, since: number): void {
    if (this.#deps.clock.now() - since >= STABLE_MS) this.#failures = 0;
    if (failure.code === 'mcp.login_needed') {
      this.#needsLogin(failure);
      return;
    }
    this.#isReportedGone = true;
    this.#pauseAfter(failure);
    this.#changed.fire(notices.lost(this.name, failure));
  }

  #failed(failure: McpError): void {
    if (failure.code === 'mcp.login_needed') {
      this.#needsLogin(failure);
      return;
    }
    const wasReported = this.#isReportedGone;
    this.#isReportedGone = true;
    const isHopeless = failure.code === 'mcp.bad_config' || failure.code === 'mcp.refused';
    if (isHopeless) this.#state = { kind: 'resting', failure };
    else this.#pauseAfter(failure);
    this.#changed.fire(wasReported ? null : notices.missing(this.name, failure));
  }

  #needsLogin(failure: McpError): void {
    this.#state = { kind: 'login', failure };
    this.#changed.fire(null);
  }

  #pauseAfter(failure: McpError): void {
    this.#failures += 1;
    if (this.#failures >= MAX_ATTEMPTS) {
      this.#state = { kind: 'resting', failure };
      return;
    }
    const abort = new AbortController();
    const state: LinkState = { kind: 'waiting', failure, abort };
    this.#state = state;
    const pause = Math.min(FIRST_RETRY_MS * 2 ** (this.#failures - 1), MAX_RETRY_MS);
    this.#deps.clock.sleep(pause, abort.signal).then(
      () => {
        if (this.#state === state) this.#attempt();
      },
      () => undefined,
    );
  }
}

function asMcpError(failure: unknown): McpError {
  if (failure instanceof McpError) return failure;
  return new McpError('mcp.failed', messageOf(failure), { cause: failure });
}
