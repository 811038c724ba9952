import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Clock } from '../../../src/base/clock.ts';
import type { JsonObject } from '../../../src/base/json.ts';
import type { SessionEnvironments } from '../../../src/core/host/session-environments.ts';
import type {
  AskRequest,
  DocumentFiles,
  PreparedCall,
  Staging,
  Tool,
  ToolContext,
  ToolOutcome,
  Workspace,
} from '../../../src/core/session/tool.ts';
import type { SessionId, ToolCallId, TurnId } from '../../../src/core/session/words.ts';
import { createTools, type ToolDeps } from '../../../src/core/tools/create-tools.ts';
import { createProtectedPaths } from '../../../src/core/tools/protected-paths.ts';
import {
  createProcesses,
  type SessionProcesses,
} from '../../../src/core/tools/run/background-processes.ts';
import { childEnvironment } from '../../../src/core/tools/run/child-environment.ts';
import { createLauncher, type Launcher } from '../../../src/core/tools/run/launcher.ts';
import type { Sandbox } from '../../../src/core/tools/run/sandbox.ts';

const clock: Clock = {
  now: () => 1_000,
  sleep: () => Promise.reject(new Error('Nothing here sleeps.')),
};

/** A real workspace with all built-in tools over it, for tests that call them as the engine does. */
export class ToolBench {
  readonly sessionId = randomUUID() as SessionId;
  readonly base: string;
  readonly cwd: string;
  readonly home: string;
  readonly workspace: Workspace;
  readonly launcher: Launcher;
  readonly processes: SessionProcesses;
  /** What tools streamed while they ran. */
  live = '';
  /** Texts of documents that are open in a pretended editor. */
  readonly documents = new Map<string, string>();
  readonly asked: AskRequest[] = [];
  /** What commands see; without it everything that is not the host's own. */
  environments: SessionEnvironments | null = null;
  /** Where writes go that are not done at once. */
  staging: Staging | null = null;
  answer: JsonObject | null = null;
  plan: unknown = null;
  readonly #tools: readonly Tool[];

  private constructor(base: string, deps: Partial<ToolDeps>, sandbox: Sandbox) {
    this.base = base;
    this.cwd = path.join(base, 'work');
    this.home = path.join(base, 'home');
    this.workspace = { cwd: this.cwd, roots: [this.cwd] };
    const environment = childEnvironment(process.env);
    this.launcher = createLauncher({
      environment: (sessionId, command) =>
        this.environments?.ofCommand(sessionId, command) ?? environment,
      sandbox: () => sandbox,
    });
    this.processes = createProcesses({
      sessionId: this.sessionId,
      workspace: () => this.workspace,
      launcher: this.launcher,
      clock,
      ids: { unique: () => randomUUID(), secret: () => randomUUID() },
    });
    const protectedPaths = createProtectedPaths({ dataFolder: `${base}/data`, home: this.home });
    this.#tools = createTools({
      home: this.home,
      protectedPaths,
      launcher: this.launcher,
      environment,
      ...deps,
    });
  }

  static async create(deps: Partial<ToolDeps> = {}, sandbox?: Sandbox): Promise<ToolBench> {
    const base = await realpath(await mkdtemp(path.join(tmpdir(), 'tools-')));
    const bench = new ToolBench(base, deps, sandbox ?? { available: false, reason: 'Not wanted.' });
    await mkdir(bench.cwd);
    await mkdir(bench.home);
    return bench;
  }

  async dispose(): Promise<void> {
    await this.processes.dispose();
    await rm(this.base, { recursive: true });
  }

  /** A path in the working folder. */
  path(...names: readonly string[]): string {
    return path.join(this.cwd, ...names);
  }

  tool(name: string): Tool {
    const found = this.#tools.find(({ definition }) => definition.name === name);
    if (found === undefined) throw new Error(`There is no tool ${name}.`);
    return found;
  }

  get toolNames(): readonly string[] {
    return this.#tools.map(({ definition }) => definition.name);
  }

  /** Prepares a call that must be good. */
  async prepare(name: string, input: JsonObject): Promise<PreparedCall> {
    const prepared = await this.tool(name).prepare(input, this.context());
    if ('error' in prepared) throw new Error(prepared.error);
    return prepared;
  }

  /** The error of a call that must not be good. */
  async refusal(name: string, input: JsonObject): Promise<string> {
    const prepared = await this.tool(name).prepare(input, this.context());
    if ('error' in prepared) return prepared.error;
    throw new Error('The call was not refused.');
  }

  async call(name: string, input: JsonObject, signal?: AbortSignal): Promise<ToolOutcome> {
    return await (await this.prepare(name, input)).run(this.context(signal));
  }

  /** What the model reads of a call that must have succeeded. */
  async text(name: string, input: JsonObject): Promise<string> {
    const outcome = await this.call(name, input);
    if (outcome.status !== 'completed') throw new Error(textOf(outcome));
    return textOf(outcome);
  }

  context(signal: AbortSignal = new AbortController().signal): ToolContext {
    return {
      sessionId: this.sessionId,
      turnId: 'turn' as TurnId,
      toolCallId: 'call' as ToolCallId,
      workspace: this.workspace,
      mode: 'code',
      signal,
      output: (text) => {
        this.live += text;
      },
      files: this.#files(),
      signIn: async () => false,
      ask: async (request) => {
        this.asked.push(request);
        return this.answer === null
          ? { kind: 'declined', reason: null }
          : { kind: 'answered', content: this.answer };
      },
      setPlan: async (entries) => {
        this.plan = entries;
      },
      processes: this.processes,
    };
  }

  #files(): DocumentFiles {
    return {
      readText: async (file) => this.documents.get(file) ?? null,
      writeText: async (file, text) => {
        const open = this.documents.has(file);
        if (open) this.documents.set(file, text);
        return open;
      },
      ...(this.staging === null ? {} : { staging: this.staging }),
    };
  }
}

/** The text that a model reads of an outcome. */
export function textOf(outcome: ToolOutcome): string {
  return outcome.parts
    .map((part) => (part.type === 'text' ? part.text : `<${part.type}>`))
    .join('');
}
