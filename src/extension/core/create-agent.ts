import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { CodedError, messageOf } from '../../base/errors.ts';
import type { AddedHost } from '../hosts/host.ts';
import { configureModels, type ModelKeys } from '../settings/model-sources.ts';
import { settings } from '../settings/settings.ts';
import { Agent } from './agent.ts';
import { launchAgent } from './agent-process.ts';
import { agentProgram } from './agent-program.ts';
import type { ClientSide } from './connection.ts';
import { type LogLine, parseLogLine } from './log-line.ts';
import type { RestartLimits } from './restart-policy.ts';
import { systemClock } from './system-clock.ts';

/** What every agent of this window is made from. */
export type AgentParts = {
  readonly context: vscode.ExtensionContext;
  readonly keys: ModelKeys;
  readonly log: vscode.LogOutputChannel;
};

/** What is its own of one agent. */
export type AgentAim = {
  /** Null: the window's own host. */
  readonly host: AddedHost | null;
  readonly client: Pick<ClientSide, 'onRequest' | 'onNotification'>;
  /** The token of a remote host, asked for at each start. */
  readonly token: () => Promise<string | null>;
};

/** A network comes and goes: tried for some ten minutes, ever more seldom. */
const REMOTE_LIMITS: RestartLimits = {
  firstDelay: 500,
  maxDelay: 60_000,
  maxFailures: 14,
  window: 900_000,
};

/** The agent of one host; nothing is started before somebody asks for it, and never in an untrusted folder. */
export function createAgent(parts: AgentParts, aim: AgentAim): Agent {
  const { context, keys, log } = parts;
  const { host } = aim;
  const isRemote = host?.kind === 'ws';
  let lastError: string | null = null;
  const say = (message: string): string => (host ? `[${host.name}] ${message}` : message);
  return new Agent({
    clock: systemClock,
    version: versionOf(context),
    launch: async () => {
      lastError = null;
      return launch(context, aim, ({ level, text, message }) => {
        if (level === 'error') lastError = message;
        log[level](say(text));
      });
    },
    // Of its own process the window knows by its state; of a remote host only the door can say what is wrong.
    ...(isRemote ? { lastError: () => lastError } : {}),
    client: { ...aim.client, onProblem: (message) => log.warn(say(message)) },
    // Paths of another machine are not those of documents here.
    offers: {
      documents: !isRemote,
      get onDetach() {
        return settings.onWindowClose();
      },
    },
    ...(isRemote ? { limits: REMOTE_LIMITS } : {}),
    log: (message) => log.info(say(message)),
    prepare: async (connection) => {
      // Keys stay on this machine: a remote host has its own.
      if (isRemote) return;
      // Without its keys the agent still works: a model that needs one asks for it.
      await keys.handOver(connection).catch((error: unknown) => log.warn(messageOf(error)));
      await configureModels(connection, (message) => log.warn(say(message)));
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

async function launch(
  context: vscode.ExtensionContext,
  { host, token }: AgentAim,
  onLog: (line: LogLine) => void,
): ReturnType<typeof launchAgent> {
  const program = agentProgram(context, {
    dataFolder: host?.kind === 'folder' ? host.dataFolder : settings.dataFolder(),
    connectToken: host?.kind === 'ws' ? await token() : null,
  });
  return launchAgent({
    ...program,
    args: [...program.args, ...(host?.kind === 'ws' ? ['connect', host.url] : [])],
    onLogLine: (line) => onLog(parseLogLine(line)),
  });
}

/** The version of this extension. */
export function versionOf(context: vscode.ExtensionContext): string {
  const manifest: unknown = context.extension.packageJSON;
  const version =
    typeof manifest === 'object' && manifest !== null && 'version' in manifest
      ? manifest.version
      : '';
  return typeof version === 'string' ? version : '';
}
