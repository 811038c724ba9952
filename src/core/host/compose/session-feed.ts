import type { Clock } from '../../../base/clock.ts';
import type { Disposable } from '../../../base/disposables.ts';
import { Emitter, type Event } from '../../../base/emitter.ts';
import { messageOf } from '../../../base/errors.ts';
import type { Log } from '../../session/ports.ts';
import type { SessionId } from '../../session/words.ts';
import type { ListedSession } from '../api.ts';
import type { LocalSessionHost } from '../session-host.ts';

/** Changes of one session closer together than this are told once. */
const COALESCE_MS = 50;

/** Tells what lists show of sessions, coalesced: a streaming session does not flood whoever shows a list. */
export class SessionFeed implements Disposable {
  readonly #host: LocalSessionHost;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #due = new Set<SessionId>();
  readonly #changed = new Emitter<ListedSession>();
  readonly #subscription: Disposable;
  readonly #stopped = new AbortController();

  constructor(host: LocalSessionHost, clock: Clock, log: Log) {
    this.#host = host;
    this.#clock = clock;
    this.#log = log;
    this.#subscription = host.onDidChangeSession((sessionId) => this.#note(sessionId));
  }

  get onDidChange(): Event<ListedSession> {
    return this.#changed.event;
  }

  dispose(): void {
    this.#subscription.dispose();
    this.#stopped.abort();
    this.#changed.dispose();
  }

  #note(sessionId: SessionId): void {
    if (!this.#changed.hasListeners || this.#due.has(sessionId)) return;
    this.#due.add(sessionId);
    this.#tellSoon(sessionId).catch((failure: unknown) => {
      if (this.#stopped.signal.aborted) return;
      this.#log.warn('A change of a session could not be told', {
        sessionId,
        error: messageOf(failure),
      });
    });
  }

  async #tellSoon(sessionId: SessionId): Promise<void> {
    try {
      await this.#clock.sleep(COALESCE_MS, this.#stopped.signal);
    } finally {
      this.#due.delete(sessionId);
    }
    const described = await this.#host.describe(sessionId);
    if (described !== null) this.#changed.fire(described);
  }
}
