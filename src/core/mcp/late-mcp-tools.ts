import type { Disposable } from '../../base/disposables.ts';
import { Emitter } from '../../base/emitter.ts';
import type { McpServer } from '../../protocol/acp.ts';
import type { ExternalNotice, ExternalSource, ExternalTools } from '../host/session-resources.ts';
import type { Tool, TurnPreparation } from '../session/tool.ts';

/** The external tools of a session, whose code is loaded when the session names its first server. */
export class LateMcpTools implements ExternalTools {
  readonly #open: (servers: readonly McpServer[]) => Promise<ExternalTools | null>;
  readonly #changed = new Emitter<ExternalNotice | null>();
  #wanted: readonly McpServer[] = [];
  #tools: ExternalTools | null = null;
  #opening: Promise<void> | null = null;
  #isDisposed = false;

  /** `open` must not reject; null means that it could not be loaded. */
  constructor(
    open: (servers: readonly McpServer[]) => Promise<ExternalTools | null>,
    servers: readonly McpServer[],
  ) {
    this.#open = open;
    this.configure(servers);
  }

  tools(): readonly Tool[] {
    return this.#tools?.tools() ?? [];
  }

  sources(): readonly ExternalSource[] {
    return this.#tools?.sources() ?? [];
  }

  onDidChange(listener: (notice: ExternalNotice | null) => void): Disposable {
    return this.#changed.event(listener);
  }

  configure(servers: readonly McpServer[]): void {
    this.#wanted = servers;
    if (this.#tools !== null) this.#tools.configure(servers);
    else if (servers.length > 0) this.#opening ??= this.#load(servers);
  }

  async prepare(turn: TurnPreparation): Promise<void> {
    await this.#opening;
    await this.#tools?.prepare(turn);
  }

  async stopCalls(): Promise<void> {
    await this.#tools?.stopCalls();
  }

  async dispose(): Promise<void> {
    this.#isDisposed = true;
    await this.#opening;
    await this.#tools?.dispose();
    this.#changed.dispose();
  }

  async #load(servers: readonly McpServer[]): Promise<void> {
    const tools = await this.#open(servers);
    if (tools === null) return;
    this.#tools = tools;
    tools.onDidChange((notice) => this.#changed.fire(notice));
    const isStale = this.#isDisposed || this.#wanted !== servers;
    if (isStale) tools.configure(this.#isDisposed ? [] : this.#wanted);
  }
}
