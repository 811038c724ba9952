import { homedir } from 'node:os';
import { join } from 'node:path';
import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { CodedError, messageOf } from '../../base/errors.ts';
import { configureModels, type ModelKeys } from '../settings/model-sources.ts';
import { settings } from '../settings/settings.ts';
import { Agent } from './agent.ts';
import { agentEnv } from './agent-env.ts';
import { launchAgent } from './agent-process.ts';
import type { ClientCalls } from './client-requests.ts';
import { parseLogLine } from './log-line.ts';
import { systemClock } from './system-clock.ts';

/** The agent of this window; nothing is started before somebody asks for it, and never in an untrusted folder. */
export function createAgent(
  context: vscode.ExtensionContext,
  calls: ClientCalls,
  keys: ModelKeys,
  log: vscode.LogOutputChannel,
): Agent {
  const script = join(context.extensionPath, 'dist', 'agent-core.mjs');
  return new Agent({
    clock: systemClock,
    version: versionOf(context),
    launch: async () => {
      const nodePath = settings.nodePath();
      return launchAgent({
        command: nodePath === '' ? process.execPath : nodePath,
        args: [script],
        cwd: homedir(),
        env: agentEnv({
          inherited: process.env,
          extra: settings.agentEnv(),
          dataFolder: settings.dataFolder(),
          isEditor: nodePath === '',
        }),
        onLogLine: (line) => {
          const { level, text } = parseLogLine(line);
          log[level](text);
        },
      });
    },
    client: {
      onRequest: async (method, params, signal) => calls.request(method, params, signal),
      onNotification: (method, params) => {
        if (!calls.notify(method, params)) log.debug(`nobody takes the notification ${method}`);
      },
      onProblem: (message) => log.warn(message),
    },
    log: (message) => log.info(message),
    prepare: async (connection) => {
      // Without its keys the agent still works: a model that needs one asks for it.
      await keys.handOver(connection).catch((error: unknown) => log.warn(messageOf(error)));
      await configureModels(connection, (message) => log.warn(message));
    },
    forbidden: () =>
      vscode.workspace.isTrusted
        ? null
        : new CodedError(
            'workspace.untrusted',
            l10n.t('No agent is started in a folder that is not trusted. Trust it first.'),
          ),
  });
}

function versionOf(context: vscode.ExtensionContext): string {
  const manifest: unknown = context.extension.packageJSON;
  const version =
    typeof manifest === 'object' && manifest !== null && 'version' in manifest
      ? manifest.version
      : '';
  return typeof version === 'string' ? version : '';
}
