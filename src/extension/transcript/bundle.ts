import { type CodeLens, type DocumentLink, Uri } from 'vscode';
import {
  AbstractMessageReader,
  AbstractMessageWriter,
  CloseAction,
  type DataCallback,
  type Disposable,
  ErrorAction,
  LanguageClient,
  type LanguageClientOptions,
  type Message,
  type MessageTransports,
  RevealOutputChannelOn,
  State,
  TextDocumentContentRequest,
} from 'vscode-languageclient/node';
import { messageOf } from '../../base/errors.ts';
import { isObject, type JsonObject } from '../../base/json.ts';
import type { TranscriptClient, TranscriptPorts } from './ports.ts';

const STOP_TIMEOUT_MS = 1_000;

/** Hands on what comes through the tunnel, until the process at its other end is gone. */
class TunnelReader extends AbstractMessageReader {
  readonly #ports: TranscriptPorts;

  constructor(ports: TranscriptPorts) {
    super();
    this.#ports = ports;
  }

  listen(callback: DataCallback): Disposable {
    const messages = this.#ports.onMessage((message) => {
      if (typeof message['jsonrpc'] === 'string')
        callback({ ...message, jsonrpc: message['jsonrpc'] });
    });
    const end = this.#ports.onDidDisconnect(() => this.fireClose());
    return {
      dispose: () => {
        messages.dispose();
        end.dispose();
      },
    };
  }
}

class TunnelWriter extends AbstractMessageWriter {
  readonly #ports: TranscriptPorts;

  constructor(ports: TranscriptPorts) {
    super();
    this.#ports = ports;
  }

  async write(message: Message): Promise<void> {
    const plain: JsonObject = { ...message };
    await this.#ports.send(plain);
  }

  end(): void {
    // The tunnel belongs to the agent's connection.
  }
}

/**
 * The language client of transcripts. It starts with the first text that is asked for, and again whenever the agent
 * process comes back.
 */
export function createTranscriptClient(ports: TranscriptPorts): TranscriptClient {
  const transports = async (): Promise<MessageTransports> => {
    await ports.connect();
    return { reader: new TunnelReader(ports), writer: new TunnelWriter(ports), detached: true };
  };
  const uris = hostUris(ports.prefix);
  const client = new LanguageClient(
    `pilothouse-transcript-${ports.hostId}`,
    'Pilothouse Transcript',
    transports,
    clientOptions(ports, uris),
  );
  const restart = ports.onDidConnect(() => {
    if (client.state === State.Stopped) start(client, ports);
  });
  return {
    content: async (uri) => {
      if (client.state !== State.Running) await client.start();
      return (
        await client.sendRequest(TextDocumentContentRequest.type, {
          uri: uris.toServer(Uri.parse(uri)),
        })
      ).text;
    },
    stop: async () => {
      restart.dispose();
      try {
        await client.dispose(STOP_TIMEOUT_MS);
      } catch (error) {
        ports.log.debug(`the transcript client did not end cleanly: ${messageOf(error)}`);
      }
    },
  };
}

const SCHEME = 'agent-session';

function clientOptions(ports: TranscriptPorts, uris: HostUris): LanguageClientOptions {
  return {
    // Each host's client speaks of its own documents only; the names of hosts' folders begin with an @.
    documentSelector: [
      { scheme: SCHEME, pattern: ports.prefix === '' ? '/[!@]*/**' : `${ports.prefix}/**` },
    ],
    uriConverters: { code2Protocol: uris.toServer, protocol2Code: uris.toEditor },
    outputChannel: ports.log,
    revealOutputChannelOn: RevealOutputChannelOn.Never,
    initializationFailedHandler: () => false,
    // Starting again is up to the agent's connection: a client that retried by itself would start the process.
    errorHandler: {
      error: () => ({ action: ErrorAction.Continue, handled: true }),
      closed: () => ({ action: CloseAction.DoNotRestart, handled: true }),
    },
    middleware: {
      provideTextDocumentContent: (uri, token, next) =>
        uris.isOurs(uri) ? next(uri, token) : null,
      provideDocumentLinks: async (document, token, next) => {
        const links = await next(document, token);
        const { elsewhere } = ports;
        return elsewhere === null ? links : links?.map((link) => notHere(link, elsewhere));
      },
      provideCodeLenses: async (document, token, next) => {
        const lenses = await next(document, token);
        return lenses?.map((lens) =>
          withUri(withTitle(lens, ports.lensTitles), document.uri.toString()),
        );
      },
    },
  };
}

type HostUris = ReturnType<typeof hostUris>;

/** Takes the host's part off the path for the server, and puts it on again. */
function hostUris(prefix: string): {
  readonly isOurs: (uri: Uri) => boolean;
  readonly toServer: (uri: Uri) => string;
  readonly toEditor: (uri: string) => Uri;
} {
  const isOurs = (uri: Uri): boolean =>
    uri.scheme === SCHEME &&
    (prefix === '' ? !uri.path.startsWith('/@') : uri.path.startsWith(`${prefix}/`));
  return {
    isOurs,
    toServer: (uri) =>
      (isOurs(uri) ? uri.with({ path: uri.path.slice(prefix.length) }) : uri).toString(),
    toEditor: (text) => {
      const uri = Uri.parse(text);
      return uri.scheme === SCHEME ? uri.with({ path: prefix + uri.path }) : uri;
    },
  };
}

/** A file of another machine: a click says so. */
function notHere(link: DocumentLink, host: string): DocumentLink {
  if (link.target?.scheme !== 'file') return link;
  const query = encodeURIComponent(JSON.stringify([link.target.path, host]));
  link.target = Uri.parse(`command:pilothouse.internal.transcript.elsewhere?${query}`);
  return link;
}

/** Lenses name the document as the editor knows it. */
function withUri(lens: CodeLens, uri: string): CodeLens {
  if (lens.command?.arguments)
    lens.command.arguments = lens.command.arguments.map((one: unknown) =>
      isObject(one) && 'uri' in one ? { ...one, uri } : one,
    );
  return lens;
}

function start(client: LanguageClient, ports: TranscriptPorts): void {
  client.start().catch((error: unknown) => {
    ports.log.warn(`the transcript client did not start: ${messageOf(error)}`);
  });
}

function withTitle(lens: CodeLens, titles: TranscriptPorts['lensTitles']): CodeLens {
  const title = lens.command && titles[lens.command.command];
  if (lens.command && title) lens.command = { ...lens.command, title };
  return lens;
}
