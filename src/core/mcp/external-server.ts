import type { ElicitRequest, ElicitResult } from '@modelcontextprotocol/client';
import type { Clock } from '../../base/clock.ts';
import { DisposableStore } from '../../base/disposables.ts';
import { Emitter, type Event } from '../../base/emitter.ts';
import type { JsonObject } from '../../base/json.ts';
import type { McpServer } from '../../protocol/acp.ts';
import type { ExternalNotice } from '../host/session-resources.ts';
import type { Log } from '../session/ports.ts';
import type { AskSignIn, ToolContext, ToolOutcome } from '../session/tool.ts';
import { failed } from '../tools/outcome.ts';
import type { Connection } from './connection/connection.ts';
import { loadSdk, type Sdk } from './connection/load-sdk.ts';
import { openTransport, type TransportParts } from './connection/open-transport.ts';
import { connectClient, type Era } from './connection/sdk-connection.ts';
import { wantsDiscovery } from './connection/sdk-errors.ts';
import { Elicitations } from './elicitation.ts';
import { McpError } from './errors.ts';
import * as notices from './link/notices.ts';
import { ServerLink } from './link/server-link.ts';
import type { OAuthAccount } from './oauth/accounts.ts';
import { CallDeadline } from './tools/call-deadline.ts';
import { toOutcome } from './tools/tool-result.ts';

/** A call may stay silent this long; progress starts it anew. */
const CALL_MINUTES = 5;
/** How long a server may take to connect after a sign-in before the turn goes on without it. */
const AFTER_LOGIN_MS = 10_000;

/** What servers are made from. */
export type ServerParts = TransportParts & {
  readonly roots: readonly string[];
  readonly version: string;
  readonly clock: Clock;
  readonly log: Log;
};

/** One configured server of one session: its link, its calls, its questions and its login. */
export class ExternalServer {
  readonly config: McpServer;
  readonly link: ServerLink;
  readonly #parts: ServerParts;
  readonly #elicitations: Elicitations;
  readonly #calls = new Set<{ context: ToolContext; deadline: CallDeadline }>();
  readonly #noticed = new Emitter<ExternalNotice>();
  readonly #disposables = new DisposableStore();
  #account: OAuthAccount | null = null;
  #stopping: Promise<void> | null = null;
  #isLoginRefused = false;

  constructor(config: McpServer, parts: ServerParts) {
    this.config = config;
    this.#parts = parts;
    this.#elicitations = new Elicitations(config.name);
    this.link = new ServerLink(config.name, {
      clock: parts.clock,
      connect: (signal) => this.#connect(signal),
    });
  }

  get name(): string {
    return this.config.name;
  }

  /** What a person should know beyond what the link says. */
  get onDidNotice(): Event<ExternalNotice> {
    return this.#noticed.event;
  }

  /** True if the next turn has to ask for a sign-in. */
  get wantsLogin(): boolean {
    return this.link.state.kind === 'login' && !this.#isLoginRefused;
  }

  /** Runs a tool. Never throws: what goes wrong is a failed outcome that says so. */
  async call(tool: string, input: JsonObject, context: ToolContext): Promise<ToolOutcome> {
    const deadline = new CallDeadline(this.#parts.clock, CALL_MINUTES * 60_000);
    const active = { context, deadline };
    const stop = (): void => this.#abandonCalls();
    this.#calls.add(active);
    context.signal.addEventListener('abort', stop, { once: true });
    try {
      return await this.#call(tool, input, context, deadline);
    } finally {
      context.signal.removeEventListener('abort', stop);
      this.#calls.delete(active);
      deadline.dispose();
    }
  }

  /** Resolves when no process works any more on a call that was stopped; bounded. */
  async stopCalls(): Promise<void> {
    if ([...this.#calls].some(({ context }) => context.signal.aborted)) this.#abandonCalls();
    await this.#stopping;
  }

  /** Asks for the sign-in that the server waits for. Never throws; false if it came to nothing. */
  async signIn(ask: AskSignIn, signal: AbortSignal): Promise<boolean> {
    const account = this.#account;
    if (account === null) return false;
    const message = `The MCP server ${this.name} (${this.#host()}) asks you to sign in.`;
    try {
      const sdk = await loadSdk();
      await account.signIn(sdk, (login) => ask({ target: this.name, message, ...login }), signal);
    } catch (failure) {
      if (signal.aborted) return false;
      this.#isLoginRefused = true;
      const why = failure instanceof McpError ? failure.message : 'Signing in failed.';
      this.#noticed.fire(notices.loginMissing(this.name, why));
      return false;
    }
    await this.link.settled(AFTER_LOGIN_MS, signal);
    return true;
  }

  async close(): Promise<void> {
    this.#disposables.dispose();
    await Promise.all([this.link.close(), this.#stopping]);
    this.#noticed.dispose();
  }

  async #connect(signal: AbortSignal): Promise<Connection> {
    const sdk = await loadSdk();
    this.#watchAccount();
    try {
      return await this.#connectAs('handshake', sdk, signal);
    } catch (failure) {
      if (!(failure instanceof McpError) || !wantsDiscovery(sdk, failure)) throw failure;
      return this.#connectAs('discovery', sdk, signal);
    }
  }

  async #connectAs(era: Era, sdk: Sdk, signal: AbortSignal): Promise<Connection> {
    const { version, roots, log } = this.#parts;
    const parts = {
      server: this.name,
      version,
      roots,
      log,
      elicit: (params: ElicitRequest['params']) => this.#elicit(params),
      onElicitationDone: (id: string) => this.#elicitations.pageDone(id),
    };
    const transport = await openTransport(sdk, this.config, this.#parts);
    return connectClient(sdk, transport, parts, signal, era);
  }

  /** A sign-in in any session is good for all. */
  #watchAccount(): void {
    if (this.#account !== null || !('type' in this.config)) return;
    const url = URL.parse(this.config.url);
    if (url === null) return;
    this.#account = this.#parts.accounts.of(url);
    this.#disposables.add(
      this.#account.onDidSignIn(() => {
        this.#isLoginRefused = false;
        this.link.signedIn();
      }),
    );
  }

  async #call(
    tool: string,
    input: JsonObject,
    context: ToolContext,
    deadline: CallDeadline,
  ): Promise<ToolOutcome> {
    const signal = AbortSignal.any([context.signal, deadline.signal]);
    for (let attempt = 1; ; attempt += 1) {
      let connection: Connection | null = null;
      try {
        connection = this.link.connection();
        const result = await connection.call(tool, input, {
          signal,
          onProgress: (progress) => {
            deadline.extend();
            context.output(progressLine(progress));
          },
        });
        return toOutcome(result);
      } catch (failure) {
        if (!(failure instanceof McpError)) throw failure;
        const isLogin = failure.code === 'mcp.login_needed' && attempt === 1;
        if (isLogin) this.#account?.require(failure.data['scope']);
        if (isLogin && (await deadline.during(() => this.signIn(context.signIn, signal)))) continue;
        return failed(this.#explain(failure, connection !== null, context, deadline));
      }
    }
  }

  #explain(
    failure: McpError,
    wasSent: boolean,
    context: ToolContext,
    deadline: CallDeadline,
  ): string {
    if (context.signal.aborted) return 'Stopped before it was done.';
    if (deadline.signal.aborted)
      return `The MCP server ${this.name} was silent for ${CALL_MINUTES} minutes, so the call was given up. It may still have had an effect.`;
    if (!wasSent) return failure.message;
    switch (failure.code) {
      case 'mcp.lost':
      case 'mcp.unreachable':
        return `The MCP server ${this.name} was lost during this call: ${failure.message} Whether the call had an effect is not known.`;
      case 'mcp.login_needed':
        return `The MCP server ${this.name} needs a sign-in, and there was none. Nothing was done.`;
      default:
        return `The MCP server ${this.name} answered with an error: ${failure.message}`;
    }
  }

  /** A process is the only one that can be made to stop: its group ends and a new one begins. */
  #abandonCalls(): void {
    const { state } = this.link;
    if (this.#stopping !== null || state.kind !== 'connected' || !state.connection.isProcess)
      return;
    this.#stopping = this.link.restart().finally(() => {
      this.#stopping = null;
    });
  }

  async #elicit(params: ElicitRequest['params']): Promise<ElicitResult> {
    const newest = [...this.#calls].at(-1);
    const answer = (): Promise<ElicitResult> => this.#elicitations.answer(params, newest?.context);
    return newest === undefined ? answer() : newest.deadline.during(answer);
  }

  #host(): string {
    return 'type' in this.config ? (URL.parse(this.config.url)?.host ?? '') : '';
  }
}

function progressLine(progress: { progress: number; total?: number; message?: string }): string {
  const count =
    progress.total === undefined
      ? `${progress.progress}`
      : `${progress.progress}/${progress.total}`;
  return progress.message === undefined ? `${count}\n` : `${progress.message} (${count})\n`;
}
