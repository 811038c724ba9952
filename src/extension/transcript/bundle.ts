import type { CodeLens } from 'vscode';
import {
  AbstractMessageReader,
  AbstractMessageWriter,
  CloseAction,
  type DataCallback,
  type Disposable,
  ErrorAction,
  LanguageClient,
  type Message,
  type MessageTransports,
  RevealOutputChannelOn,
  State,
  TextDocumentContentRequest,
} from 'vscode-languageclient/node';
import { messageOf } from '../../base/errors.ts';
import type { JsonObject } from '../../base/json.ts';
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
  const client = new LanguageClient('pilothouse-transcript', 'Pilothouse Transcript', transports, {
    documentSelector: [{ scheme: 'agent-session' }],
    outputChannel: ports.log,
    revealOutputChannelOn: RevealOutputChannelOn.Never,
    initializationFailedHandler: () => false,
    // Starting again is up to the agent's connection: a client that retried by itself would start the process.
    errorHandler: {
      error: () => ({ action: ErrorAction.Continue, handled: true }),
      closed: () => ({ action: CloseAction.DoNotRestart, handled: true }),
    },
    middleware: {
      provideCodeLenses: async (document, token, next) => {
        const lenses = await next(document, token);
        return lenses?.map((lens) => withTitle(lens, ports.lensTitles));
      },
    },
  });
  const restart = ports.onDidConnect(() => {
    if (client.state === State.Stopped) start(client, ports);
  });
  return {
    content: async (uri) => {
      if (client.state !== State.Running) await client.start();
      return (await client.sendRequest(TextDocumentContentRequest.type, { uri })).text;
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
