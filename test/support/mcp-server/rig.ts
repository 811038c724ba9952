import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Deferred } from '../../../src/base/deferred.ts';
import type { JsonObject } from '../../../src/base/json.ts';
import { randomIds, systemClock } from '../../../src/core/host/node-ports.ts';
import type { ExternalNotice, ExternalTools } from '../../../src/core/host/session-resources.ts';
import { createMcp, type Mcp } from '../../../src/core/mcp/create-mcp.ts';
import type { Log } from '../../../src/core/session/ports.ts';
import type {
  AskRequest,
  SignInRequest,
  Tool,
  ToolContext,
  ToolOutcome,
  TurnPreparation,
} from '../../../src/core/session/tool.ts';
import type { SessionId, ToolCallId, TurnId } from '../../../src/core/session/words.ts';
import { childEnvironment } from '../../../src/core/tools/run/child-environment.ts';
import type { McpServer } from '../../../src/protocol/acp.ts';

const STDIO_SERVER = fileURLToPath(new URL('stdio.ts', import.meta.url));

/** A stdio server to be run by the Node that runs the tests. */
export function stdioServer(
  name: string,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): McpServer {
  return {
    name,
    command: process.execPath,
    args: [STDIO_SERVER, ...args],
    env: Object.entries(env).map(([variable, value]) => ({ name: variable, value })),
  };
}

/** The MCP room around temporary folders, with everything that a session would do to it. */
export class McpRig {
  readonly folder: string;
  readonly logged: string[] = [];
  readonly notices: ExternalNotice[] = [];
  readonly asked: AskRequest[] = [];
  readonly signIns: SignInRequest[] = [];
  answer: JsonObject | null = null;
  /** What the person does when asked to sign in. */
  onSignIn: (request: SignInRequest) => Promise<boolean> = async () => false;
  output = '';
  readonly #mcp: Mcp;
  readonly #open: ExternalTools[] = [];

  private constructor(folder: string) {
    this.folder = folder;
    this.#mcp = this.#createMcp();
  }

  static async open(): Promise<McpRig> {
    return new McpRig(await realpath(await mkdtemp(join(tmpdir(), 'pilothouse-mcp-'))));
  }

  /** The tools of a session with these servers. `mcp` may be another room over the same data folder. */
  session(servers: readonly McpServer[], mcp: Mcp = this.#mcp): ExternalTools {
    const workspace = { cwd: this.folder, roots: [this.folder] };
    const tools = mcp.externalTools('session' as SessionId, workspace, servers);
    tools.onDidChange((notice) => {
      if (notice !== null) this.notices.push(notice);
    });
    this.#open.push(tools);
    return tools;
  }

  /** A room as after a restart: the same data folder, nothing in memory. */
  restarted(): Mcp {
    return this.#createMcp();
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  turn(signal: AbortSignal = new AbortController().signal): TurnPreparation {
    return { signal, signIn: (request) => this.#signIn(request) };
  }

  /** Calls a tool as the loop does. */
  async call(
    tools: ExternalTools,
    name: string,
    input: JsonObject = {},
    signal: AbortSignal = new AbortController().signal,
  ): Promise<ToolOutcome> {
    return await this.run(toolOf(tools, name), input, signal);
  }

  async run(
    tool: Tool,
    input: JsonObject,
    signal = new AbortController().signal,
  ): Promise<ToolOutcome> {
    const context = this.context(signal);
    const prepared = await tool.prepare(input, context);
    if ('error' in prepared) throw new Error(prepared.error);
    return await prepared.run(context);
  }

  context(signal: AbortSignal): ToolContext {
    const none = async (): Promise<never> => Promise.reject(new Error('Not for these tools'));
    return {
      sessionId: 'session' as SessionId,
      turnId: 'turn' as TurnId,
      toolCallId: 'call' as ToolCallId,
      workspace: { cwd: this.folder, roots: [this.folder] },
      mode: 'code',
      signal,
      output: (text) => {
        this.output += text;
      },
      files: { readText: async () => null, writeText: async () => false },
      ask: async (request) => {
        this.asked.push(request);
        return this.answer === null
          ? { kind: 'declined', reason: null }
          : { kind: 'answered', content: this.answer };
      },
      signIn: (request) => this.#signIn(request),
      setPlan: none,
      processes: { start: none, list: () => [], output: () => null, stop: async () => null },
    };
  }

  async close(): Promise<void> {
    await Promise.all(this.#open.map((tools) => tools.dispose()));
    await rm(this.folder, { recursive: true, force: true });
  }

  #createMcp(): Mcp {
    const note = (message: string, details: object = {}): void => {
      this.logged.push(`${message} ${JSON.stringify(details)}`);
    };
    const log: Log = { debug: note, info: note, warn: note, error: note };
    return createMcp({
      dataFolder: this.folder,
      environment: () => childEnvironment(process.env),
      version: '0',
      clock: systemClock,
      ids: randomIds,
      log,
    });
  }

  async #signIn(request: SignInRequest): Promise<boolean> {
    this.signIns.push(request);
    return await this.onSignIn(request);
  }
}

/** Does what a browser does: opens the page and follows where it leads. */
export async function browse(url: string): Promise<Response> {
  return await fetch(url, { redirect: 'follow' });
}

export function toolOf(tools: ExternalTools, name: string): Tool {
  const tool = tools.tools().find(({ definition }) => definition.name === name);
  if (tool === undefined) throw new Error(`No tool ${name} among ${namesOf(tools).join(', ')}`);
  return tool;
}

export function namesOf(tools: ExternalTools): string[] {
  return tools.tools().map(({ definition }) => definition.name);
}

/** What the model reads of an outcome. */
export function textOf(outcome: ToolOutcome): string {
  return outcome.parts.map((part) => (part.type === 'text' ? part.text : part.type)).join('\n');
}

/** Resolves when the condition holds, looked at after each change of the tools. */
export async function until(tools: ExternalTools, holds: () => boolean): Promise<void> {
  const done = new Deferred<void>();
  const look = (): void => {
    if (holds()) done.resolve();
  };
  const subscription = tools.onDidChange(look);
  look();
  await done.promise;
  subscription.dispose();
}

/** Resolves when the session has this tool. */
export async function untilTool(tools: ExternalTools, name: string): Promise<void> {
  await until(tools, () => namesOf(tools).includes(name));
}
