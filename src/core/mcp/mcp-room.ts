import type { Clock } from '../../base/clock.ts';
import type { Ids } from '../../base/ids.ts';
import type { McpServer } from '../../protocol/acp.ts';
import type { ExternalTools } from '../host/session-resources.ts';
import type { Log } from '../session/ports.ts';
import type { Workspace } from '../session/tool.ts';
import type { SessionId } from '../session/words.ts';
import { ServerProcesses } from './connection/server-process.ts';
import { McpTools } from './mcp-tools.ts';
import { OAuthAccounts } from './oauth/accounts.ts';
import { FileTokenStore } from './oauth/token-store.ts';

/** What the MCP room is made of. */
export type McpRoomOptions = {
  readonly dataFolder: string;
  /** What a session's stdio server gets besides its own variables, by its command; already cleaned. */
  readonly environment: (sessionId: SessionId, program: string) => NodeJS.ProcessEnv;
  readonly version: string;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
};

/** What all sessions with MCP servers share: the logins, and the list of processes to end. */
export class McpRoom {
  readonly #options: McpRoomOptions;
  readonly #processes = new ServerProcesses();
  readonly #accounts: OAuthAccounts;

  constructor(options: McpRoomOptions) {
    const { dataFolder, log, ids } = options;
    this.#options = options;
    this.#accounts = new OAuthAccounts(new FileTokenStore(dataFolder, log), ids);
  }

  /** The servers of one session; they begin to connect at once. */
  openTools(
    sessionId: SessionId,
    workspace: Workspace,
    servers: readonly McpServer[],
  ): ExternalTools {
    const { version, clock, log } = this.#options;
    const environment = (program: string): NodeJS.ProcessEnv =>
      this.#options.environment(sessionId, program);
    const { cwd, roots } = workspace;
    const [processes, accounts] = [this.#processes, this.#accounts];
    const parts = { cwd, roots, environment, processes, accounts, version, clock, log };
    return new McpTools(parts, servers);
  }

  /** Kills every server that this process started, at once. */
  killAll(): void {
    this.#processes.killAll();
  }
}
