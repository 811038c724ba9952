import * as vscode from 'vscode';
import type { JsonObject } from '../../base/json.ts';
import { isObject } from '../../base/json.ts';
import type { McpServer } from '../../protocol/acp.ts';
import type { ChatSendMode } from '../../protocol/chat.ts';
import type { OnDetach } from '../../protocol/session-clients.ts';
import type { SendSettings } from '../sessions/control/sending.ts';
import { parseMcpServers } from './mcp-servers.ts';

/** How the sessions tree is grouped. */
export type Grouping = 'status' | 'folder';

/** When an open approval is also shown as a notification. */
export type ToastSetting = 'always' | 'hidden' | 'never';

const WHILE_RUNNING: ReadonlyMap<string, ChatSendMode> = new Map([
  ['steer', 'steer'],
  ['queue', 'next'],
  ['interrupt', 'interrupt'],
  ['note', 'note'],
]);

/** The settings as they stand now; each is read anew at every call. */
export const settings = {
  /** A Node program to run agent-core with; empty for the editor's own. */
  nodePath: (): string => read('agent.nodePath', ''),
  /** Where sessions are kept; empty for the data folder of the system. */
  dataFolder: (): string => read('agent.dataFolder', ''),
  /** Environment variables for agent-core, added to the editor's. */
  agentEnv: (): Readonly<Record<string, string>> => {
    const value: unknown = read('agent.env', {});
    if (!isObject(value)) return {};
    const pairs = Object.entries(value).filter(
      (pair): pair is [string, string] => typeof pair[1] === 'string',
    );
    return Object.fromEntries(pairs);
  },
  defaultModel: (): string => read('models.default', ''),
  providers: (): readonly JsonObject[] => {
    const value: unknown = read('models.providers', []);
    return Array.isArray(value) ? value.filter(isJsonObject) : [];
  },
  mcpServers: (cwd: string): readonly McpServer[] =>
    parseMcpServers(read('mcp.servers', {}, vscode.Uri.file(cwd))),
  grouping: (): Grouping =>
    read<string>('sessions.groupBy', 'status') === 'folder' ? 'folder' : 'status',
  toasts: (): ToastSetting => {
    const value = read<string>('approvals.notifications', 'hidden');
    return value === 'always' || value === 'never' ? value : 'hidden';
  },
  showIdleStatusBar: (): boolean => read('statusBar.showWhenIdle', false),
  /** What Enter does while a turn runs. */
  whileRunning: (): ChatSendMode => {
    const value = read<string>('chat.whileRunning', 'steer');
    return WHILE_RUNNING.get(value) ?? 'steer';
  },
  /** How messages are sent while a turn runs, and when it has just ended. */
  sending: (): SendSettings => ({
    whileRunning: settings.whileRunning(),
    whenTurnEnded: read<string>('chat.whenTurnEnded', 'prompt') === 'keep' ? 'keep' : 'prompt',
  }),
  /** What is to become of work that goes on when the window closes. */
  onWindowClose: (): OnDetach =>
    read<string>('onWindowClose', 'keep') === 'stop' ? 'stop' : 'keep',
  reopenSession: (): boolean => read('chat.reopenSession', true),
};

/** True if a change touches a setting with this name or below it (without the `pilothouse.` in front); `''`: any. */
export function affects(event: vscode.ConfigurationChangeEvent, name: string): boolean {
  return event.affectsConfiguration(name === '' ? 'pilothouse' : `pilothouse.${name}`);
}

/** Stores how the tree is grouped, for the person. */
export async function saveGrouping(grouping: Grouping): Promise<void> {
  await section().update('sessions.groupBy', grouping, vscode.ConfigurationTarget.Global);
}

/** Stores the model sources, for the person. */
export async function saveProviders(providers: readonly JsonObject[]): Promise<void> {
  await section().update('models.providers', providers, vscode.ConfigurationTarget.Global);
}

/** Stores the model that new sessions begin with, for the person. */
export async function saveDefaultModel(model: string): Promise<void> {
  await section().update('models.default', model, vscode.ConfigurationTarget.Global);
}

function section(scope?: vscode.Uri): vscode.WorkspaceConfiguration {
  return vscode.workspace.getConfiguration('pilothouse', scope);
}

function read<T>(name: string, fallback: T, scope?: vscode.Uri): T {
  return section(scope).get<T>(name, fallback);
}

function isJsonObject(value: unknown): value is JsonObject {
  return isObject(value);
}
