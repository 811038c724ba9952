import path from 'node:path';
import type { Transport } from '@modelcontextprotocol/client';
import { CodedError } from '../../../base/errors.ts';
import type { McpServer } from '../../../protocol/acp.ts';
import type { Log } from '../../session/ports.ts';
import { findExecutable } from '../../tools/run/find-executable.ts';
import { isExecutable } from '../../tools/run/host-executables.ts';
import { McpError } from '../errors.ts';
import type { OAuthAccounts } from '../oauth/accounts.ts';
import { LastWords } from './last-words.ts';
import type { Sdk } from './load-sdk.ts';
import type { ServerProcesses } from './server-process.ts';
import { StdioTransport } from './stdio-transport.ts';

/** A transport that was made and not started yet. */
export type OpenTransport = {
  readonly kind: 'stdio' | 'http' | 'sse';
  readonly transport: Transport;
  /** How the process behind it ended, for people; null while it lives or where there is none. */
  whyEnded(): string | null;
  /** Ends what the library leaves behind. Bounded. */
  shut(how: 'gently' | 'now'): Promise<void>;
};

/** What transports are made from. */
export type TransportParts = {
  /** Where stdio servers start and relative commands are looked for. */
  readonly cwd: string;
  /** What a stdio server gets besides its own variables, by its command; already cleaned. */
  readonly environment: (program: string) => NodeJS.ProcessEnv;
  readonly processes: ServerProcesses;
  readonly accounts: OAuthAccounts;
  readonly log: Log;
};

type StdioServer = Exclude<McpServer, { type: unknown }>;
type RemoteServer = Exclude<McpServer, StdioServer>;

/** How long a server that forgets its HTTP session may take. */
const GOODBYE_MS = 500;

/** Makes the transport of a server; throws `McpError` `mcp.bad_config` where that can't work. */
export function openTransport(
  sdk: Sdk,
  server: McpServer,
  parts: TransportParts,
): Promise<OpenTransport> {
  return 'type' in server ? openRemote(sdk, server, parts) : openStdio(sdk, server, parts);
}

async function openStdio(
  sdk: Sdk,
  server: StdioServer,
  parts: TransportParts,
): Promise<OpenTransport> {
  const own = Object.fromEntries(server.env.map(({ name, value }) => [name, value]));
  const environment = { ...parts.environment(server.command), ...own };
  const command = await locate(server.command, parts.cwd, environment);
  const words = new LastWords(server.name, Object.values(own), parts.log);
  const child = parts.processes.start({
    command,
    args: server.args,
    cwd: parts.cwd,
    environment,
  });
  const transport = new StdioTransport(sdk, child, (text) => words.add(text));
  return {
    kind: 'stdio',
    transport,
    whyEnded: () => {
      const { end } = transport;
      if (end === null) return null;
      if (end instanceof Error) return `${server.command} could not be started: ${end.message}.`;
      const how =
        end.signal === null ? `with exit code ${end.exitCode}` : `by the signal ${end.signal}`;
      return `Its process ended ${how}.${words.quote()}`;
    },
    shut: (how) => child.stop(how),
  };
}

async function locate(
  command: string,
  cwd: string,
  environment: NodeJS.ProcessEnv,
): Promise<string> {
  const windows = process.platform === 'win32';
  try {
    return await findExecutable(command, {
      windows,
      cwd,
      environment,
      flavour: windows ? path.win32 : path.posix,
      isExecutable,
    });
  } catch (error) {
    if (error instanceof CodedError) throw new McpError('mcp.bad_config', error.message);
    throw error;
  }
}

async function openRemote(
  sdk: Sdk,
  server: RemoteServer,
  parts: TransportParts,
): Promise<OpenTransport> {
  const url = parseUrl(server.url);
  const headers = Object.fromEntries(server.headers.map(({ name, value }) => [name, value]));
  const hasOwnKey = Object.keys(headers).some((name) => name.toLowerCase() === 'authorization');
  const options = {
    requestInit: { headers },
    // Who configured a key meant that key; a login on top would only hide that it is wrong.
    ...(hasOwnKey ? {} : { authProvider: parts.accounts.of(url).authProvider(sdk) }),
  };
  if (server.type === 'sse') {
    return {
      kind: 'sse',
      transport: new sdk.SSEClientTransport(url, options),
      whyEnded: () => null,
      shut: async () => undefined,
    };
  }
  const transport = new sdk.StreamableHTTPClientTransport(url, {
    ...options,
    onInsufficientScope: 'throw',
  });
  return {
    kind: 'http',
    transport,
    whyEnded: () => null,
    shut: async (how) => {
      if (how === 'gently') await within(transport.terminateSession(), GOODBYE_MS);
    },
  };
}

function parseUrl(text: string): URL {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new McpError(
      'mcp.bad_config',
      `Its address ${JSON.stringify(text)} is no http or https address. Correct it in the settings.`,
    );
  return url;
}

/** Waits for a courtesy whose outcome does not matter. */
async function within(courtesy: Promise<void>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([courtesy.catch(() => undefined), late]);
  clearTimeout(timer);
}
