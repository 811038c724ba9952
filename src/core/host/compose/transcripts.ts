import type { Clock } from '../../../base/clock.ts';
import type { Disposable } from '../../../base/disposables.ts';
import { Emitter } from '../../../base/emitter.ts';
import type { ExtensionClient, ExtensionHandlers } from '../../acp/types.ts';
import type { Log } from '../../session/ports.ts';
import type { SessionId } from '../../session/words.ts';
import type { TranscriptServer } from '../../transcript/server.ts';
import type { TranscriptChange, TranscriptSource } from '../../transcript/source.ts';
import { HostError } from '../errors.ts';
import type { LocalSessionHost } from '../session-host.ts';

/**
 * The transcript language server behind `_pilothouse/lsp`: one per client, loaded when its first message comes, so
 * that a start does not pay for it.
 */
export class Transcripts implements Disposable {
  readonly #source: TranscriptSource;
  readonly #changed = new Emitter<TranscriptChange>();
  readonly #subscription: Disposable;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #servers = new WeakMap<ExtensionClient, Promise<TranscriptServer>>();

  constructor(host: LocalSessionHost, clock: Clock, log: Log) {
    this.#clock = clock;
    this.#log = log;
    this.#subscription = host.onDidRecord(({ sessionId, event }) =>
      this.#changed.fire({ sessionId, turnEnded: event.type === 'turn_ended' }),
    );
    this.#source = {
      read: async (sessionId, after, limit) => {
        try {
          return await host.history(sessionId as SessionId, { after, limit, all: true });
        } catch (failure) {
          if (failure instanceof HostError && failure.code === 'host.unknown_session') return null;
          throw failure;
        }
      },
      onDidChange: this.#changed.event,
    };
  }

  readonly handlers: ExtensionHandlers = {
    '_pilothouse/lsp': async ({ message }, client) => {
      (await this.#serverFor(client)).receive(message);
      return {};
    },
  };

  dispose(): void {
    this.#subscription.dispose();
    this.#changed.dispose();
  }

  #serverFor(client: ExtensionClient): Promise<TranscriptServer> {
    const known = this.#servers.get(client);
    if (known !== undefined) return known;
    const server = this.#start(client);
    this.#servers.set(client, server);
    return server;
  }

  async #start(client: ExtensionClient): Promise<TranscriptServer> {
    const { createTranscriptServer } = await import('../../transcript/server.ts');
    const server = createTranscriptServer({
      send: (message) => client.notify('_pilothouse/lsp', { message }),
      source: this.#source,
      clock: this.#clock,
      log: this.#log,
    });
    client.gone.addEventListener('abort', () => server.dispose(), { once: true });
    return server;
  }
}
