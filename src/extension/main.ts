import { randomUUID } from 'node:crypto';
import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { type Disposable, DisposableStore } from '../base/disposables.ts';
import { serveGates } from './approvals/gate-requests.ts';
import { GateStore } from './approvals/gate-store.ts';
import { Asides } from './chat/asides.ts';
import { createChat } from './chat/create-chat.ts';
import { createServices } from './commands/create-services.ts';
import type { Services } from './commands/services.ts';
import { registerAllCommands } from './commands/tables/all-commands.ts';
import { agentProgram } from './core/agent-program.ts';
import { ClientCalls } from './core/client-requests.ts';
import { versionOf } from './core/create-agent.ts';
import { serveOpenDocuments } from './core/open-documents.ts';
import { systemClock } from './core/system-clock.ts';
import { registerDelegates } from './delegates/register-delegates.ts';
import { registerDiffs } from './diffs/register-diffs.ts';
import { diffPorts } from './diffs/services-ports.ts';
import { registerDurable } from './durable/register-durable.ts';
import { createHosts } from './hosts/create-hosts.ts';
import type { Hosts } from './hosts/hosts.ts';
import { registerHosts } from './hosts/register-hosts.ts';
import { rowStore } from './hosts/row-store.ts';
import { registerEditorModels } from './models/editor-models.ts';
import { registerParticipant } from './participant/participant.ts';
import { registerReceipts } from './receipts/register-receipts.ts';
import { RedoStore } from './rewind/redo-store.ts';
import { registerRewind } from './rewind/register-rewind.ts';
import { registerSessionHost } from './session-host/register-session-host.ts';
import { createSessions } from './sessions/create-sessions.ts';
import { SessionHub } from './sessions/session-hub.ts';
import { ModelKeys } from './settings/model-sources.ts';
import { settings } from './settings/settings.ts';
import { watchEditor } from './settings/watch-editor.ts';
import { registerStaged } from './staged/register-staged.ts';
import { StagedStore } from './staged/staged-store.ts';
import { createSurfaces } from './status-bar/create-surfaces.ts';
import { registerSteering } from './steering/register-steering.ts';
import { registerTranscript } from './transcript/register-transcript.ts';

/** What the extension offers to tests and other extensions. */
export type PilothouseApi = {
  /** Process id of agent-core, the door to the session host; null while it does not run. */
  readonly agentPid: () => number | null;
  /** Process id of the session host; null while the door to it is not open. */
  readonly hostPid: () => number | null;
  /** `stopped`, `starting`, `ready`, `restarting`, `failed` or `closed`. */
  readonly agentState: () => string;
  /** The session the chat shows. */
  readonly shownSession: () => string | null;
};

const SHUTDOWN_GRACE_MS = 3_000;

let running: Hosts | null = null;

/** Builds everything in order and starts nothing: agent-core comes with the first thing that needs it. */
export function activate(context: vscode.ExtensionContext): PilothouseApi {
  if (vscode.l10n.bundle) l10n.config({ contents: vscode.l10n.bundle });
  const log = vscode.window.createOutputChannel('Pilothouse', { log: true });
  const own = context.subscriptions;
  own.push(log);

  const calls = new ClientCalls();
  const gates = new GateStore();
  own.push(gates, serveOpenDocuments(calls));
  own.push(serveGates(calls, gates, { now: () => Date.now(), newId: () => randomUUID() }));

  const keys = new ModelKeys(context.secrets);
  const { hosts, registry } = createHosts({ context, keys, log }, calls);
  // Not among the subscriptions: those are disposed before the processes had time to end (see deactivate).
  running = hosts;
  const hub = new SessionHub({
    hosts,
    calls,
    gates,
    rowStore: rowStore(context.globalState),
    clock: systemClock,
    newId: () => randomUUID(),
    log: (message) => log.info(message),
    mcpServers: settings.mcpServers,
    onDetach: settings.onWindowClose,
  });
  own.push(hub);

  const connection = (sessionId: string) => hosts.agentOf(sessionId).connection;
  const asidePorts = { hub, calls, connection, log: log.warn.bind(log) };
  const staged = new StagedStore(asidePorts);
  const redo = new RedoStore(asidePorts);
  const sessions = createSessions(context, hub, hosts, redo, log);
  const asides = new Asides(staged, redo);
  const chat = createChat(context, hub, hosts, asides, log);
  own.push(asides, sessions, chat);
  const parts = { hub, hosts, registry, calls, keys, log, extensionId: context.extension.id };
  const services = createServices({ ...parts, ...sessions, ...chat });
  own.push(registerRooms(context, services, staged));
  const surfaces = createSurfaces(services, sessions.unread);
  own.push(surfaces, watchEditor(services, surfaces));

  return {
    agentPid: () => hosts.own.agent.connection?.pid ?? null,
    hostPid: () => {
      const { state } = hosts.own.agent;
      return state.kind === 'ready' ? (state.info.host?.pid ?? null) : null;
    },
    agentState: () => hosts.own.agent.state.kind,
    shownSession: () => chat.bridge.sessionId,
  };
}

/** What is built on the services: commands, documents, views, the participant. */
function registerRooms(
  context: vscode.ExtensionContext,
  services: Services,
  staged: StagedStore,
): Disposable {
  const { hosts, calls, log } = services;
  const rooms = new DisposableStore();
  rooms.add(registerAllCommands(services));
  const stagedEdits = rooms.add(registerStaged(services, staged));
  rooms.add(registerDiffs(diffPorts(services, context.workspaceState), stagedEdits, log));
  rooms.add(registerRewind(services));
  rooms.add(registerReceipts(services, context.extensionUri));
  rooms.add(registerSteering(services));
  rooms.add(registerTranscript(services));
  rooms.add(
    registerSessionHost(services, {
      version: versionOf(context),
      program: ({ added }) =>
        agentProgram(context, {
          dataFolder: added?.kind === 'folder' ? added.dataFolder : settings.dataFolder(),
          connectToken: null,
        }),
    }),
  );
  rooms.add(registerDurable(services));
  rooms.add(registerDelegates(services));
  rooms.add(registerHosts(services));
  rooms.add(
    registerEditorModels({
      calls,
      connection: (host) => hosts.get(host)?.agent.connection ?? null,
      connected: () => hosts.all().map(({ id }) => id),
      log: (message) => log.warn(message),
    }),
  );
  const icon = vscode.Uri.joinPath(context.extensionUri, 'media/icon.png');
  rooms.add(registerParticipant(services, icon));
  return rooms;
}

/**
 * Closes the doors to every host: closing a door's input makes it exit, and what is left of its process group after the
 * grace is killed. The hosts go on with what runs, or stop it, as the person has set. The editor waits at most five
 * seconds for this.
 */
export async function deactivate(): Promise<void> {
  const hosts = running;
  running = null;
  await hosts?.close(SHUTDOWN_GRACE_MS);
  hosts?.dispose();
}
