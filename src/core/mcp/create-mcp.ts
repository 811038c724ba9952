import type { Clock } from '../../base/clock.ts';
import type { Ids } from '../../base/ids.ts';
import type { ResourceFactory } from '../host/session-resources.ts';
import type { Log } from '../session/ports.ts';
import { ServerProcesses } from './connection/server-process.ts';
import { McpTools } from './mcp-tools.ts';
import { OAuthAccounts } from './oauth/accounts.ts';
import { FileTokenStore } from './oauth/token-store.ts';

/** The MCP room, for all sessions of a host. */
export type Mcp = {
  readonly externalTools: ResourceFactory['externalTools'];
  /** Kills every server that this process started, at once; for the very end of this process. */
  killAll(): void;
};

/** Opens the MCP room. Nothing is loaded or started before a session names a server. */
export function createMcp(options: {
  readonly dataFolder: string;
  /** What stdio servers get besides their own variables; already cleaned. */
  readonly environment: NodeJS.ProcessEnv;
  readonly version: string;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
}): Mcp {
  const { dataFolder, environment, version, clock, ids, log } = options;
  const processes = new ServerProcesses();
  const accounts = new OAuthAccounts(new FileTokenStore(dataFolder, log), ids);
  return {
    externalTools: (_sessionId, workspace, servers) =>
      new McpTools(
        {
          cwd: workspace.cwd,
          roots: workspace.roots,
          environment,
          processes,
          accounts,
          version,
          clock,
          log,
        },
        servers,
      ),
    killAll: () => processes.killAll(),
  };
}
