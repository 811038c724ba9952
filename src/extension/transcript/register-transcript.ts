import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import * as z from 'zod/mini';
import { type Disposable, DisposableStore } from '../../base/disposables.ts';
import { Emitter } from '../../base/emitter.ts';
import { messageOf } from '../../base/errors.ts';
import { isObject, type JsonObject } from '../../base/json.ts';
import { targetSession } from '../commands/picks/pick-session.ts';
import { registerCommands } from '../commands/register.ts';
import type { CommandTable, Services } from '../commands/services.ts';
import { type Host, isElsewhere } from '../hosts/hosts.ts';
import { tellElsewhere } from '../hosts/tell-elsewhere.ts';
import type { TranscriptClient, TranscriptPorts } from './ports.ts';
import { hostOfPath, hostPrefix, TRANSCRIPT_SCHEME, transcriptPath } from './transcript-uri.ts';

const IN_CHAT = z.looseObject({ sessionId: z.string() });
const SHOWN = z.looseObject({ id: z.string(), title: z.string() });
const LINES = z.looseObject({ uri: z.string(), line: z.number(), endLine: z.number() });

/** Registers transcript documents. The language client is loaded when the first text is asked for. */
export function registerTranscript(services: Services): Disposable {
  const store = new DisposableStore();
  const clients = new HostClients(services);
  store.add(clients);
  store.add(
    vscode.workspace.registerTextDocumentContentProvider(TRANSCRIPT_SCHEME, {
      provideTextDocumentContent: async (uri) => clients.content(uri),
    }),
  );
  store.add(registerCommands(transcriptCommands(services), services.log));
  return store;
}

/** One language client a host, made when a text of that host is first asked for. */
class HostClients implements Disposable {
  readonly #services: Services;
  readonly #clients = new Map<string, { readonly loader: ClientLoader; dispose(): void }>();
  readonly #list: Disposable;

  constructor(services: Services) {
    this.#services = services;
    this.#list = services.hosts.onDidChangeList(() => {
      for (const id of this.#clients.keys()) if (!services.hosts.get(id)) this.#drop(id);
    });
  }

  async content(uri: vscode.Uri): Promise<string> {
    const host = this.#services.hosts.get(hostOfPath(uri.path));
    if (!host)
      return `# ${l10n.t('The transcript can’t be shown')}\n\n${l10n.t('Its host was removed from the list. Add it again to read this.')}\n`;
    const known = this.#clients.get(host.id) ?? this.#open(host);
    return known.loader.content(uri);
  }

  #open(host: Host): { readonly loader: ClientLoader; dispose(): void } {
    const store = new DisposableStore();
    const loader = new ClientLoader(tunnel(this.#services, host, store));
    store.defer(() => void loader.stop());
    const client = { loader, dispose: () => store.dispose() };
    this.#clients.set(host.id, client);
    return client;
  }

  #drop(id: string): void {
    this.#clients.get(id)?.dispose();
    this.#clients.delete(id);
  }

  dispose(): void {
    this.#list.dispose();
    for (const id of [...this.#clients.keys()]) this.#drop(id);
  }
}

function tunnel(services: Services, host: Host, store: DisposableStore): TranscriptPorts {
  const { hosts, calls, log } = services;
  const { agent, id } = host;
  const messages = store.add(new Emitter<JsonObject>());
  const connected = store.add(new Emitter<void>());
  const disconnected = store.add(new Emitter<void>());
  let isConnected = agent.connection !== null;
  store.add(
    calls.onNotification('_pilothouse/lsp', (params, from) => {
      if (from !== id) return;
      const message = isObject(params) ? params['message'] : null;
      if (isJsonObject(message)) messages.fire(message);
    }),
  );
  store.add(
    agent.onDidChange(({ kind }) => {
      const was = isConnected;
      isConnected = kind === 'ready';
      if (was !== isConnected) (isConnected ? connected : disconnected).fire();
    }),
  );
  return {
    hostId: id,
    elsewhere: isElsewhere(host) ? (host.added?.name ?? '') : null,
    prefix: hostPrefix(id),
    connect: async () => void (await hosts.connect(host)),
    send: async (message) => {
      await (await hosts.connect(host)).request('_pilothouse/lsp', { message });
    },
    onMessage: messages.event,
    onDidConnect: connected.event,
    onDidDisconnect: disconnected.event,
    lensTitles: {
      'pilothouse.internal.transcript.openInChat': l10n.t('Open in Chat'),
      'pilothouse.internal.transcript.showChanges': l10n.t('Show Changes'),
      'pilothouse.internal.transcript.copy': l10n.t('Copy'),
    },
    log,
  };
}

/** What came out of the JSON parser as an object is a JSON object. */
function isJsonObject(value: unknown): value is JsonObject {
  return isObject(value);
}

/** Loads the client's bundle once, when it is first needed. */
class ClientLoader {
  readonly #ports: TranscriptPorts;
  #client: Promise<TranscriptClient> | null = null;

  constructor(ports: TranscriptPorts) {
    this.#ports = ports;
  }

  /** The text of a transcript, or why it can't be shown. */
  async content(uri: vscode.Uri): Promise<string> {
    try {
      this.#client ??= this.#load();
      return await (await this.#client).content(uri.toString());
    } catch (error) {
      this.#ports.log.warn(`the transcript ${uri.toString()} was not read: ${messageOf(error)}`);
      return `# ${l10n.t('The transcript can’t be shown')}\n\n${messageOf(error)}\n`;
    }
  }

  async #load(): Promise<TranscriptClient> {
    const { createTranscriptClient } = await import('./bundle.ts');
    return createTranscriptClient(this.#ports);
  }

  async stop(): Promise<void> {
    const client = await this.#client;
    await client?.stop();
  }
}

function transcriptCommands(services: Services): CommandTable {
  return {
    'pilothouse.openTranscript': async (argument) => {
      const sessionId = await targetSession(services, argument);
      if (sessionId === undefined) return;
      const title = services.hub.directory.get(sessionId)?.title ?? '';
      await show(services, sessionId, title);
    },
    'pilothouse.internal.transcript.show': async (argument) => {
      const parsed = z.safeParse(SHOWN, argument);
      if (parsed.success) await show(services, parsed.data.id, parsed.data.title);
    },
    'pilothouse.internal.transcript.openInChat': async (argument) => {
      const parsed = z.safeParse(IN_CHAT, argument);
      if (parsed.success) await services.showSession(parsed.data.sessionId);
    },
    'pilothouse.internal.transcript.elsewhere': async (path, host) => {
      if (typeof path === 'string' && typeof host === 'string') tellElsewhere(path, host);
    },
    'pilothouse.internal.transcript.copy': async (argument) => {
      const parsed = z.safeParse(LINES, argument);
      if (parsed.success) await copyLines(parsed.data);
    },
  };
}

/** `id` names a session, or a delegate by its loop. */
async function show({ hosts }: Services, id: string, title: string): Promise<void> {
  const path = hostPrefix(hosts.of(id).id) + transcriptPath(id, title);
  const uri = vscode.Uri.from({ scheme: TRANSCRIPT_SCHEME, path });
  await vscode.window.showTextDocument(uri, { preview: false });
}

async function copyLines({ uri, line, endLine }: z.infer<typeof LINES>): Promise<void> {
  const document = await vscode.workspace.openTextDocument(vscode.Uri.parse(uri));
  const last = Math.min(endLine, document.lineCount - 1);
  const range = new vscode.Range(line, 0, last, document.lineAt(last).text.length);
  await vscode.env.clipboard.writeText(document.getText(range));
  vscode.window.setStatusBarMessage(l10n.t('The turn was copied.'), 3_000);
}
