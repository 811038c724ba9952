// The connection's runtime; the server's own entry for Node would take charge of the process.
import 'vscode-jsonrpc/node';
import {
  type Connection,
  createConnection,
  createProtocolConnection,
  ErrorCodes,
  type InitializeResult,
  ResponseError,
  TextDocumentSyncKind,
} from 'vscode-languageserver';
import type { Clock } from '../../base/clock.ts';
import type { Disposable } from '../../base/disposables.ts';
import { messageOf } from '../../base/errors.ts';
import type { JsonObject } from '../../base/json.ts';
import type { Log } from '../session/ports.ts';
import { TranscriptDocument } from './document.ts';
import {
  toCodeLenses,
  toDocumentLinks,
  toDocumentSymbols,
  toFoldingRanges,
  toHover,
} from './features.ts';
import { PushReader, SendWriter } from './message-pair.ts';
import type { Transcript } from './projection/assemble.ts';
import { Refresher } from './refresher.ts';
import type { TranscriptSource } from './source.ts';
import { sessionOf, TRANSCRIPT_SCHEME } from './uris.ts';

/** What the server needs. `send` carries one message to the client. */
export type TranscriptServerDeps = {
  readonly send: (message: JsonObject) => void;
  readonly source: TranscriptSource;
  readonly clock: Clock;
  readonly log: Log;
};

/** The server of one client. */
export interface TranscriptServer extends Disposable {
  /** Takes one message of the client. An `initialize` begins anew: the client may have been restarted. */
  receive(message: JsonObject): void;
}

/** More documents than this and the one that was asked for longest ago is forgotten; it is read again when needed. */
const MAX_DOCUMENTS = 16;

/** A language server for `agent-session:` documents (LSP 3.18) whose messages travel inside another protocol. */
export function createTranscriptServer(deps: TranscriptServerDeps): TranscriptServer {
  let current: ServerConnection | null = null;
  return {
    receive(message) {
      if (typeof message['jsonrpc'] !== 'string') return;
      if (message['method'] === 'initialize') {
        current?.dispose();
        current = new ServerConnection(deps);
      }
      current?.reader.push({ ...message, jsonrpc: message['jsonrpc'] });
    },
    dispose() {
      current?.dispose();
      current = null;
    },
  };
}

type OpenDocument = { readonly document: TranscriptDocument; readonly refresher: Refresher };

class ServerConnection implements Disposable {
  readonly reader = new PushReader();
  readonly #deps: TranscriptServerDeps;
  readonly #rpc: Connection;
  readonly #documents = new Map<string, OpenDocument>();
  readonly #subscription: Disposable;

  constructor(deps: TranscriptServerDeps) {
    this.#deps = deps;
    const writer = new SendWriter(deps.send);
    this.#rpc = createConnection(
      (logger) => createProtocolConnection(this.reader, writer, logger),
      // The process is not this server's: `exit` ends nothing but this conversation.
      { shutdownReceived: false, initialize: () => undefined, exit: () => undefined },
    );
    this.#serve();
    this.#rpc.listen();
    this.#subscription = deps.source.onDidChange(({ sessionId, turnEnded }) => {
      for (const { document, refresher } of this.#documents.values()) {
        if (document.sessionId === sessionId)
          refresher.changed(turnEnded, document.shown?.text.length ?? 0);
      }
    });
  }

  #serve(): void {
    const rpc = this.#rpc;
    rpc.onInitialize(() => CAPABILITIES);
    rpc.workspace.textDocumentContent.on(async ({ uri }) => ({ text: await this.#content(uri) }));
    rpc.onDidOpenTextDocument(({ textDocument: { uri, text } }) => void this.#opened(uri, text));
    rpc.onDidCloseTextDocument(({ textDocument }) => this.#forget(textDocument.uri));
    rpc.onDocumentSymbol(async ({ textDocument: { uri } }) =>
      this.#about(uri, (transcript) => toDocumentSymbols(transcript.symbols)),
    );
    rpc.onFoldingRanges(async ({ textDocument: { uri } }) => this.#about(uri, toFoldingRanges));
    rpc.onDocumentLinks(async ({ textDocument: { uri } }) =>
      this.#about(uri, (transcript) => toDocumentLinks(uri, transcript)),
    );
    rpc.onCodeLens(async ({ textDocument: { uri } }) =>
      this.#about(uri, (transcript, sessionId) => toCodeLenses(uri, sessionId, transcript)),
    );
    rpc.onHover(async ({ textDocument: { uri }, position }) =>
      this.#about(uri, (transcript) => toHover(transcript, position.line)),
    );
  }

  /** An answer about the text that the client shows; null if there is none. */
  async #about<T>(
    uri: string,
    answer: (transcript: Transcript, sessionId: string) => T,
  ): Promise<T | null> {
    const open = this.#open(uri);
    if (!open) return null;
    const transcript = open.document.shown ?? (await this.#newest(open));
    return transcript && answer(transcript, open.document.sessionId);
  }

  async #content(uri: string): Promise<string> {
    const open = this.#open(uri);
    if (!open) return NO_SESSION;
    return (await this.#newest(open))?.text ?? NO_SESSION;
  }

  async #newest({ document }: OpenDocument): Promise<Transcript | null> {
    try {
      return await document.refreshed();
    } catch (error) {
      this.#deps.log.error('The history for a transcript could not be read', {
        sessionId: document.sessionId,
        reason: messageOf(error),
      });
      throw new ResponseError(
        ErrorCodes.InternalError,
        `The history of this session could not be read: ${messageOf(error)}`,
      );
    }
  }

  /** The client shows a text that may come from an earlier server. */
  async #opened(uri: string, text: string): Promise<void> {
    try {
      const newest = await this.#content(uri);
      if (newest !== text) this.#refresh(uri);
    } catch (error) {
      this.#deps.log.warn('A transcript could not be compared', { reason: messageOf(error) });
    }
  }

  #open(uri: string): OpenDocument | null {
    const known = this.#documents.get(uri);
    if (known) return known;
    const sessionId = sessionOf(uri);
    if (sessionId === null) return null;
    const open = {
      document: new TranscriptDocument(uri, sessionId, this.#deps.source),
      refresher: new Refresher(this.#deps.clock, () => this.#refresh(uri)),
    };
    this.#documents.set(uri, open);
    const oldest = this.#documents.keys().next().value;
    if (this.#documents.size > MAX_DOCUMENTS && oldest !== undefined) this.#forget(oldest);
    return open;
  }

  #forget(uri: string): void {
    this.#documents.get(uri)?.refresher.dispose();
    this.#documents.delete(uri);
  }

  #refresh(uri: string): void {
    this.#rpc.workspace.textDocumentContent.refresh(uri).catch((error: unknown) => {
      // The client went away in between; the next one reads everything anew.
      this.#deps.log.debug('A transcript was not refreshed', { reason: messageOf(error) });
    });
  }

  dispose(): void {
    this.#subscription.dispose();
    for (const uri of [...this.#documents.keys()]) this.#forget(uri);
    this.#rpc.dispose();
  }
}

const NO_SESSION =
  '# No such session\n\nThis session is not (or no longer) in the data folder. It may have been deleted.\n';

const CAPABILITIES: InitializeResult = {
  serverInfo: { name: 'pilothouse-transcript' },
  capabilities: {
    textDocumentSync: { openClose: true, change: TextDocumentSyncKind.None },
    documentSymbolProvider: { label: 'Session' },
    foldingRangeProvider: true,
    documentLinkProvider: {},
    codeLensProvider: {},
    hoverProvider: true,
    workspace: { textDocumentContent: { schemes: [TRANSCRIPT_SCHEME] } },
  },
};
