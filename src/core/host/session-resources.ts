import type { Disposable } from '../../base/disposables.ts';
import type { Event } from '../../base/emitter.ts';
import type { McpServer } from '../../protocol/acp.ts';
import type { OwnedCheckpoints } from '../checkpoint/late-checkpoints.ts';
import { expandSlashCommand } from '../harness/native/slash-commands.ts';
import { systemPrompt } from '../harness/native/system-prompt.ts';
import type { SessionProcesses, SessionResources } from '../session/deps.ts';
import type { ToolDefinition } from '../session/model.ts';
import type {
  Delegates,
  DocumentFiles,
  ProcessInfo,
  Tool,
  TurnPreparation,
  Workspace,
} from '../session/tool.ts';
import type { EnvironmentPolicy, SessionId } from '../session/words.ts';
import type { ClientOrigin } from './api.ts';
import type { SessionEnvironments } from './session-environments.ts';

/** Background processes with what the host needs of them. */
export interface HostedProcesses extends SessionProcesses {
  readonly onDidEnd: Event<ProcessInfo>;
  /** Ends all of them; nothing can be started any more. */
  dispose(): Promise<void>;
}

/** The external tools of one session: connected MCP servers. */
export interface ExternalTools {
  /** The tools of the servers that are connected now. */
  tools(): readonly Tool[];
  /** The same by server, with those that have none now. */
  sources(): readonly ExternalSource[];
  /** Fires when `tools()` changed or a server was lost; `notice` is for the person, null when there is nothing to say. */
  onDidChange(listener: (notice: ExternalNotice | null) => void): Disposable;
  /** Replaces the servers, for a load or resume that names others. */
  configure(servers: readonly McpServer[]): void;
  /** Waits briefly for servers that are connecting and asks for the sign-ins they need. Never rejects. */
  prepare(turn: TurnPreparation): Promise<void>;
  /** Ends the processes that still work on a call that was stopped; resolves when they are gone. Bounded. */
  stopCalls(): Promise<void>;
  dispose(): Promise<void>;
}

/** A server that external tools come from. */
export type ExternalSource = {
  readonly name: string;
  /** True while it is being connected: then nothing is known of its tools. */
  readonly isPending: boolean;
  readonly tools: readonly ToolDefinition[];
};

/** Something a person should know about an MCP server. */
export type ExternalNotice = {
  readonly severity: 'info' | 'warning' | 'error';
  readonly title: string;
  readonly description: string;
};

/** Makes what one session needs of the world. */
export interface ResourceFactory {
  processes(sessionId: SessionId, workspace: Workspace): HostedProcesses;
  externalTools(
    sessionId: SessionId,
    workspace: Workspace,
    servers: readonly McpServer[],
  ): ExternalTools;
  checkpoints(sessionId: SessionId, workspace: Workspace): OwnedCheckpoints;
  readonly builtinTools: BuiltinTools;
  readonly environments: SessionEnvironments;
}

/** The tools that come with the product; their code is loaded when the first session needs it. */
export interface BuiltinTools {
  /** Resolves when `list()` is complete; never rejects. */
  ready(): Promise<void>;
  list(): readonly Tool[];
}

/** The resources of a live session and the handles to end them. */
export type OwnedResources = {
  readonly resources: SessionResources;
  readonly processes: HostedProcesses;
  readonly external: ExternalTools;
  readonly checkpoints: OwnedCheckpoints;
  /** What children see; to be disposed when no child can be started any more. */
  readonly environment: Disposable;
};

/** What resources are made for. */
export type ResourceNeeds = {
  readonly sessionId: SessionId;
  readonly workspace: Workspace;
  readonly servers: readonly McpServer[];
  readonly environmentPolicy: EnvironmentPolicy;
  /** Where the session came from; missing: the host's own environment. */
  readonly origin: ClientOrigin | undefined;
  readonly files: DocumentFiles;
  /** The loops that work for it; they end with its processes. */
  readonly delegates: Delegates;
  readonly onProcessStarted: (info: ProcessInfo) => Promise<void>;
};

/** Puts together what a session needs. */
export function createResources(factory: ResourceFactory, needs: ResourceNeeds): OwnedResources {
  const { sessionId, workspace, servers, files, delegates, onProcessStarted } = needs;
  const environment = factory.environments.open(
    sessionId,
    needs.environmentPolicy,
    needs.origin?.environment,
  );
  const processes = factory.processes(sessionId, workspace);
  const external = factory.externalTools(sessionId, workspace, servers);
  const checkpoints = factory.checkpoints(sessionId, workspace);
  const resources: SessionResources = {
    workspace,
    files,
    checkpoints,
    delegates,
    processes: {
      start: async (command, cwd) => {
        const info = await processes.start(command, cwd);
        await onProcessStarted(info);
        return info;
      },
      list: () => processes.list(),
      output: (processId, from, maxBytes) => processes.output(processId, from, maxBytes),
      stop: (processId) => processes.stop(processId),
      stopAll: async () => {
        await Promise.all([processes.stopAll(), external.stopCalls(), delegates.stopAll()]);
      },
    },
    tools: () => [...factory.builtinTools.list(), ...external.tools()],
    prepareTurn: async (turn) => {
      await Promise.all([factory.builtinTools.ready(), external.prepare(turn)]);
    },
    system: systemPrompt(workspace),
    expand: expandSlashCommand,
  };
  return { resources, processes, external, checkpoints, environment };
}
