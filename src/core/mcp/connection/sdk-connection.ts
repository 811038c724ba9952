import { pathToFileURL } from 'node:url';
import type {
  CallToolResult,
  Client,
  ElicitRequest,
  ElicitResult,
  Tool as SdkTool,
} from '@modelcontextprotocol/client';
import { Deferred } from '../../../base/deferred.ts';
import { Emitter, type Event } from '../../../base/emitter.ts';
import { messageOf } from '../../../base/errors.ts';
import type { JsonObject, JsonSchema } from '../../../base/json.ts';
import type { Log } from '../../session/ports.ts';
import { McpError } from '../errors.ts';
import type { CallOptions, Connection, ServerTool } from './connection.ts';
import type { Sdk } from './load-sdk.ts';
import type { OpenTransport } from './open-transport.ts';
import { toMcpError } from './sdk-errors.ts';

/** From the start of a server to its list of tools. */
const CONNECT_MS = 30_000;
const LIST_MS = 15_000;
const PING_MS = 5_000;
/** How long a server may take to hear that a call was stopped, before its process is ended. */
const HEAR_CANCEL_MS = 100;
/** Deadlines of calls are kept by the caller, who knows when a person is being asked; timers hold no more than this. */
const NO_TIMEOUT_MS = 2 ** 31 - 1;

/** What a connection needs around it. */
export type ConnectionParts = {
  readonly server: string;
  readonly version: string;
  readonly roots: readonly string[];
  readonly log: Log;
  readonly elicit: (params: ElicitRequest['params'], signal: AbortSignal) => Promise<ElicitResult>;
  /** A page that the server sent a person to is done. */
  readonly onElicitationDone: (elicitationId: string) => void;
};

/**
 * How a connection begins: with the handshake that nearly every server knows, or with the discovery of revision
 * 2026-07-28, for servers that take nothing else.
 */
export type Era = 'handshake' | 'discovery';

/** Connects and reads the list of tools. Throws `McpError`; what was opened is closed then. */
export async function connectClient(
  sdk: Sdk,
  transport: OpenTransport,
  parts: ConnectionParts,
  signal: AbortSignal,
  era: Era,
): Promise<Connection> {
  const connection = new SdkConnection(sdk, transport, parts, era);
  const limit = AbortSignal.any([signal, AbortSignal.timeout(CONNECT_MS)]);
  try {
    await Promise.race([connection.open(limit), rejection(limit)]);
    return connection;
  } catch (failure) {
    await connection.close('now');
    throw connection.explain(failure, limit);
  }
}

class SdkConnection implements Connection {
  readonly isProcess: boolean;
  readonly #sdk: Sdk;
  readonly #client: Client;
  readonly #transport: OpenTransport;
  readonly #parts: ConnectionParts;
  readonly #lost = new Deferred<McpError>();
  readonly #toolsChanged = new Emitter<void>();
  #tools: readonly ServerTool[] = [];
  #phase: 'opening' | 'open' | 'closed' = 'opening';
  #refreshing: 'no' | 'running' | 'again' = 'no';
  #checking = false;
  #complaints = 0;

  constructor(sdk: Sdk, transport: OpenTransport, parts: ConnectionParts, era: Era) {
    const client = new sdk.Client(
      { name: 'pilothouse', version: parts.version },
      {
        capabilities: { roots: {}, elicitation: { form: {}, url: {} } },
        versionNegotiation: { mode: era === 'handshake' ? 'legacy' : 'auto' },
        listChanged: {
          tools: { autoRefresh: false, debounceMs: 0, onChanged: () => void this.#refresh() },
        },
      },
    );
    this.#sdk = sdk;
    this.#client = client;
    this.#transport = transport;
    this.#parts = parts;
    this.isProcess = transport.kind === 'stdio';
    client.onclose = () => this.#lose(new McpError('mcp.lost', 'The connection was closed.'));
    client.onerror = (error) => this.#complain(error);
    client.setRequestHandler('roots/list', () => ({
      roots: parts.roots.map((root) => ({ uri: pathToFileURL(root).href })),
    }));
    client.setRequestHandler('elicitation/create', ({ params }, context) =>
      parts.elicit(params, context.mcpReq.signal),
    );
    client.setNotificationHandler('notifications/elicitation/complete', ({ params }) =>
      parts.onElicitationDone(params.elicitationId),
    );
    client.setNotificationHandler('notifications/message', ({ params }) => {
      const said = { server: parts.server, logger: params.logger, data: params.data };
      const isBad = ['warning', 'error', 'critical', 'alert', 'emergency'].includes(params.level);
      if (isBad) parts.log.warn('An MCP server warns', said);
      else parts.log.debug('An MCP server says', said);
    });
  }

  get lost(): Promise<McpError> {
    return this.#lost.promise;
  }

  get onDidChangeTools(): Event<void> {
    return this.#toolsChanged.event;
  }

  tools(): readonly ServerTool[] {
    return this.#tools;
  }

  async open(signal: AbortSignal): Promise<void> {
    await this.#client.connect(this.#transport.transport, { signal, timeout: CONNECT_MS });
    this.#tools = await this.#listTools(signal);
    this.#phase = 'open';
  }

  /** Why opening failed, with what the process said at its end. */
  explain(failure: unknown, limit: AbortSignal): McpError {
    const end = this.#transport.whyEnded();
    if (end !== null) return new McpError('mcp.unreachable', end, { cause: failure });
    if (limit.aborted)
      return new McpError(
        'mcp.unreachable',
        `It did not finish connecting in ${CONNECT_MS / 1000} seconds.`,
        { cause: failure },
      );
    return toMcpError(this.#sdk, failure);
  }

  async call(tool: string, input: JsonObject, options: CallOptions): Promise<CallToolResult> {
    try {
      return await this.#client.callTool(
        { name: tool, arguments: { ...input } },
        {
          signal: options.signal,
          timeout: NO_TIMEOUT_MS,
          onprogress: ({ progress, total, message }) =>
            options.onProgress({
              progress,
              ...(total === undefined ? {} : { total }),
              ...(message === undefined ? {} : { message }),
            }),
        },
      );
    } catch (failure) {
      throw toMcpError(this.#sdk, failure);
    }
  }

  async close(how: 'gently' | 'now'): Promise<void> {
    if (this.#phase === 'closed') return;
    this.#phase = 'closed';
    this.#toolsChanged.dispose();
    if (how === 'now' && this.isProcess)
      await new Promise((resolve) => setTimeout(resolve, HEAR_CANCEL_MS));
    await this.#transport.shut(how);
    await this.#client.close().catch((failure: unknown) => this.#note('closing', failure));
  }

  async #listTools(signal: AbortSignal): Promise<readonly ServerTool[]> {
    if (this.#client.getServerCapabilities()?.tools === undefined) return [];
    const { tools } = await this.#client.listTools(undefined, {
      cacheMode: 'refresh',
      signal,
      timeout: LIST_MS,
    });
    return tools.map(toServerTool);
  }

  /** Reads the list again; changes that come meanwhile are read once more at the end. */
  async #refresh(): Promise<void> {
    if (this.#refreshing !== 'no') {
      this.#refreshing = 'again';
      return;
    }
    do {
      this.#refreshing = 'running';
      try {
        this.#tools = await this.#listTools(AbortSignal.timeout(LIST_MS));
      } catch (failure) {
        this.#note('listing tools again', failure);
      }
    } while (this.#isAskedAgain());
    this.#refreshing = 'no';
    if (this.#phase !== 'closed') this.#toolsChanged.fire();
  }

  #isAskedAgain(): boolean {
    return this.#refreshing === 'again';
  }

  /** Something went wrong beside any request. Over HTTP nothing else tells that a server is gone, so it is asked. */
  #complain(error: Error): void {
    this.#note('talking', error);
    if (this.#phase !== 'open' || this.isProcess) return;
    if (error instanceof this.#sdk.SseError) {
      // The stream comes back as another session, which was never initialised.
      this.#lose(toMcpError(this.#sdk, error));
      return;
    }
    if (this.#checking) return;
    this.#checking = true;
    const isModern = this.#client.getProtocolEra() === 'modern';
    const options = { timeout: PING_MS };
    const answer = isModern ? this.#client.discover(options) : this.#client.ping(options);
    answer
      .catch((failure: unknown) => {
        const reason = toMcpError(this.#sdk, failure);
        // An error answer to a ping is an answer.
        if (reason.code !== 'mcp.failed') this.#lose(reason);
        return null;
      })
      .finally(() => {
        this.#checking = false;
      });
  }

  #lose(reason: McpError): void {
    if (this.#phase !== 'open') return;
    const end = this.#transport.whyEnded();
    this.#lost.resolve(end === null ? reason : new McpError('mcp.lost', end, { cause: reason }));
    void this.close('now');
  }

  /** The first complaints of a connection are worth a line each; a server that babbles is not. */
  #note(when: string, failure: unknown): void {
    this.#complaints += 1;
    if (this.#complaints > 20 || this.#phase === 'closed') return;
    this.#parts.log.debug('An MCP server misbehaves', {
      server: this.#parts.server,
      when,
      error: messageOf(failure),
    });
  }
}

function toServerTool(tool: SdkTool): ServerTool {
  const title = tool.title ?? tool.annotations?.title;
  return {
    name: tool.name,
    ...(title === undefined ? {} : { title }),
    description: tool.description ?? title ?? tool.name,
    // It came out of a JSON message and was checked to be an object schema.
    inputSchema: tool.inputSchema as JsonSchema,
    readOnly: tool.annotations?.readOnlyHint === true,
  };
}

function rejection(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const fail = (): void => reject(signal.reason);
    if (signal.aborted) fail();
    else signal.addEventListener('abort', fail, { once: true });
  });
}
