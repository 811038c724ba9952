import type { Clock } from '../../../base/clock.ts';
import type { Disposable } from '../../../base/disposables.ts';
import { messageOf } from '../../../base/errors.ts';
import type { Log } from '../../session/ports.ts';
import type { SessionId } from '../../session/words.ts';
import type { AttachOptions, Client } from '../api.ts';
import type { AttachedClients, Leave } from './attached-clients.ts';
import { ClientRoom } from './client-room.ts';
import { HostActivity } from './host-activity.ts';
import { KeptSessions } from './kept-sessions.ts';

/** How long a session that nobody follows and that does nothing stays warm, in milliseconds. */
const GRACE_MS = 30_000;

/** A live session as its clients come and go. */
export type Attended = {
  readonly clients: AttachedClients;
  /** True if no client is attached and nothing of it runs. */
  readonly isUnused: boolean;
  readonly isAtWork: boolean;
  attach(client: Client, options?: AttachOptions): void;
  detach(client: Client): Leave;
  goOn(): void;
};

/** What the coming and going of clients is kept with. */
export type AttendanceParts<S extends Attended> = {
  readonly clock: Clock;
  readonly log: Log;
  readonly graceMs: number | undefined;
  readonly live: ReadonlyMap<SessionId, S>;
  /** True while work goes on with a session that no client brought to life. */
  readonly isBorrowed: (session: S) => boolean;
  /** Ends the session because its client is gone. */
  readonly stop: (session: S, client: Client) => Promise<void>;
  /** Frees a session in which nothing runs. */
  readonly free: (session: S) => Promise<void>;
};

/** The clients of a host's sessions as they come and go, and what that means for the sessions (design §1). */
export class Attendance<S extends Attended> implements Disposable {
  readonly room: ClientRoom;
  readonly activity: HostActivity;
  readonly #parts: AttendanceParts<S>;
  readonly #kept: KeptSessions<S>;

  constructor(parts: AttendanceParts<S>) {
    this.#parts = parts;
    const { clock, log, live, graceMs = GRACE_MS } = parts;
    const warn = (failure: unknown): void =>
      log.warn('A session that nobody used could not be freed', { error: messageOf(failure) });
    this.room = new ClientRoom((sessionId) => live.get(sessionId as SessionId));
    this.activity = new HostActivity(
      () => live.values(),
      (failure) => log.error('A listener of the host failed', { error: messageOf(failure) }),
    );
    this.#kept = new KeptSessions<S>({
      clock,
      graceMs,
      isUnused: (session) => session.isUnused && !parts.isBorrowed(session),
      free: (session) => parts.free(session).catch(warn),
    });
  }

  joined(session: S, client: Client, options?: AttachOptions): void {
    session.attach(client, options);
    this.#kept.forget(session);
    this.activity.changed();
  }

  /** Without another client it stops or goes on, as the last one wanted. */
  async left(session: S, client: Client): Promise<void> {
    const left = session.detach(client);
    if (left === 'not_attached') return;
    this.activity.changed();
    if (left === 'stop') await this.#parts.stop(session, client);
    else this.#kept.look(session);
  }

  /** Something in it began or ended. */
  worked(session: S): void {
    this.activity.changed();
    this.#kept.look(session);
  }

  /** It is in memory no more. */
  ended(session: S): void {
    this.#kept.forget(session);
    this.activity.changed();
  }

  /** From here on nothing is freed by itself. */
  dispose(): void {
    this.#kept.dispose();
  }
}
