import type { Disposable } from '../../base/disposables.ts';
import { DisposableStore } from '../../base/disposables.ts';
import { Emitter } from '../../base/emitter.ts';
import type { McpServer } from '../../protocol/acp.ts';
import type { ExternalNotice, ExternalSource, ExternalTools } from '../host/session-resources.ts';
import type { Tool, TurnPreparation } from '../session/tool.ts';
import { ExternalServer, type ServerParts } from './external-server.ts';
import * as notices from './link/notices.ts';
import { asTool } from './tools/server-tool.ts';
import { modelToolNames } from './tools/tool-names.ts';

/** How long a turn waits for servers that are connecting. */
const GRACE_MS = 1_500;

type NamedTool = { readonly server: ExternalServer; readonly tool: Tool };
type Entry = { readonly server: ExternalServer; readonly subscriptions: DisposableStore };

/** The MCP servers of one session and their tools. */
export class McpTools implements ExternalTools {
  readonly #parts: ServerParts;
  readonly #changed = new Emitter<ExternalNotice | null>();
  #entries: readonly Entry[] = [];
  #tools: readonly NamedTool[] | null = null;
  #preparing = 0;
  #closing: Promise<unknown> = Promise.resolve();

  constructor(parts: ServerParts, servers: readonly McpServer[]) {
    this.#parts = parts;
    this.configure(servers);
  }

  tools(): readonly Tool[] {
    return this.#named().map(({ tool }) => tool);
  }

  sources(): readonly ExternalSource[] {
    const named = this.#named();
    return this.#entries.map(({ server }) => ({
      name: server.name,
      isPending: server.link.state.kind === 'connecting' || server.link.state.kind === 'idle',
      tools: named.flatMap((one) => (one.server === server ? [one.tool.definition] : [])),
    }));
  }

  onDidChange(listener: (notice: ExternalNotice | null) => void): Disposable {
    return this.#changed.event(listener);
  }

  /** Servers that are configured as before keep their connection. */
  configure(servers: readonly McpServer[]): void {
    const before = [...this.#entries];
    this.#entries = servers.map((config) => {
      const same = before.findIndex(({ server }) => isSame(server.config, config));
      const [kept] = same < 0 ? [] : before.splice(same, 1);
      return kept ?? this.#start(config);
    });
    for (const { subscriptions } of before) subscriptions.dispose();
    const closed = before.map(({ server }) => server.close());
    this.#closing = Promise.all([this.#closing, ...closed]);
    this.#change(null);
  }

  async prepare(turn: TurnPreparation): Promise<void> {
    if (this.#entries.length === 0) return;
    this.#preparing += 1;
    try {
      const servers = this.#entries.map(({ server }) => server);
      for (const { link } of servers) link.wake();
      await Promise.all(servers.map(({ link }) => link.settled(GRACE_MS, turn.signal)));
      const asking = servers.filter(({ wantsLogin }) => wantsLogin);
      await Promise.all(asking.map((server) => server.signIn(turn.signIn, turn.signal)));
    } finally {
      this.#preparing -= 1;
    }
  }

  async stopCalls(): Promise<void> {
    await Promise.all(this.#entries.map(({ server }) => server.stopCalls()));
  }

  async dispose(): Promise<void> {
    this.configure([]);
    this.#changed.dispose();
    await this.#closing;
  }

  #start(config: McpServer): Entry {
    const server = new ExternalServer(config, this.#parts);
    const subscriptions = new DisposableStore();
    subscriptions.add(server.link.onDidChange((notice) => this.#linkChanged(server, notice)));
    subscriptions.add(server.onDidNotice((notice) => this.#change(notice)));
    server.link.wake();
    return { server, subscriptions };
  }

  #linkChanged(server: ExternalServer, notice: ExternalNotice | null): void {
    this.#tools = null;
    // While a turn begins, the person is asked at once and needs no announcement.
    const isQuiet = !server.wantsLogin || this.#preparing > 0;
    this.#change(isQuiet ? notice : notices.loginNeeded(server.name));
  }

  #change(notice: ExternalNotice | null): void {
    this.#tools = null;
    this.#changed.fire(notice);
  }

  #named(): readonly NamedTool[] {
    this.#tools ??= this.#makeTools();
    return this.#tools;
  }

  #makeTools(): readonly NamedTool[] {
    const all = this.#entries.flatMap(({ server }) =>
      server.link.tools.map((tool) => ({ server, tool })),
    );
    const names = modelToolNames(
      all.map(({ server, tool }) => ({ server: server.name, tool: tool.name })),
    );
    return all.map(({ server, tool }, index) => ({
      server,
      tool: asTool(names[index] ?? '', server.name, tool, (name, input, context) =>
        server.call(name, input, context),
      ),
    }));
  }
}

function isSame(a: McpServer, b: McpServer): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
