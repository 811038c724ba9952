import type { Clock } from '../../../base/clock.ts';
import { CodedError, messageOf } from '../../../base/errors.ts';
import type { Log } from '../../session/ports.ts';
import type { SessionId } from '../../session/words.ts';

/**
 * The steps of an end, in their order: nothing new begins, turns end with their questions, delegates, background
 * processes, MCP servers and snapshots end, followers are let go, what was recorded is on disk, and the data folder is
 * free. `sessions` is all of a host's sessions together.
 */
export const SHUTDOWN_PHASES = [
  'admission',
  'sessions',
  'loop_drain',
  'delegates',
  'processes',
  'external',
  'checkpoints',
  'feeds',
  'journal',
  'lock',
] as const;
export type ShutdownPhase = (typeof SHUTDOWN_PHASES)[number];

/** How long each phase may take, in milliseconds. */
export type ShutdownDeadlines = { readonly [P in Exclude<ShutdownPhase, 'sessions'>]: number };

/**
 * Turns: a stopped one has 1.5 s for the state of its files. Processes: half a second from SIGTERM to SIGKILL, and one
 * for the kernel. Servers: a second from the end of their input to SIGKILL.
 */
export const SHUTDOWN_DEADLINES: ShutdownDeadlines = {
  admission: 500,
  loop_drain: 2_500,
  delegates: 2_500,
  processes: 1_600,
  external: 1_600,
  checkpoints: 500,
  feeds: 100,
  journal: 1_500,
  lock: 500,
};

/** Between what is computed and what timers do. */
const MARGIN_MS = 200;

/** The longest that the end of one session takes. */
export function sessionEndMs(deadlines: ShutdownDeadlines): number {
  const { loop_drain: loops, delegates, processes, external, checkpoints } = deadlines;
  return loops + delegates + processes + external + checkpoints + MARGIN_MS;
}

/** The longest that the end of a host takes. */
export function shutdownMs(deadlines: ShutdownDeadlines): number {
  const { admission, feeds, journal, lock } = deadlines;
  return admission + sessionEndMs(deadlines) + feeds + journal + lock + MARGIN_MS;
}

/** A phase did not end in time; the ones behind it were gone through all the same. */
export class ShutdownTimeout extends CodedError<'host.shutdown_timeout'> {
  readonly phase: ShutdownPhase;
  /** Null where it concerns all of them. */
  readonly sessionId: SessionId | null;

  constructor(phase: ShutdownPhase, sessionId: SessionId | null, ms: number) {
    const whose = sessionId === null ? '' : ` of session ${sessionId}`;
    super(
      'host.shutdown_timeout',
      `The phase ${phase} of the end${whose} took longer than ${ms} ms and was left behind.`,
      { data: { phase, sessionId } },
    );
    this.phase = phase;
    this.sessionId = sessionId;
  }
}

/** How an end went: the phases that were left behind, in their order; none is a clean one. */
export type ShutdownReport = { readonly timeouts: readonly ShutdownTimeout[] };

/** What an end is timed and reported with. */
export type ShutdownParts = {
  readonly clock: Clock;
  readonly log: Log;
  readonly deadlines: ShutdownDeadlines;
};

/** Goes through phases one after another, each with its own deadline; none keeps the next from its turn. */
export class Phases {
  readonly #parts: ShutdownParts;
  readonly #sessionId: SessionId | null;
  readonly #timeouts: ShutdownTimeout[] = [];

  constructor(parts: ShutdownParts, sessionId: SessionId | null = null) {
    this.#parts = parts;
    this.#sessionId = sessionId;
  }

  get timeouts(): readonly ShutdownTimeout[] {
    return this.#timeouts;
  }

  /** Resolves with false when the phase was left behind. Never rejects: what failed is in the log. */
  async run(phase: ShutdownPhase, work: () => Promise<unknown>): Promise<boolean> {
    const { clock, deadlines } = this.#parts;
    const ms = phase === 'sessions' ? sessionEndMs(deadlines) : deadlines[phase];
    const over = new AbortController();
    const late = clock.sleep(ms, over.signal).then(
      () => false,
      () => true,
    );
    const done = this.#done(phase, work);
    const inTime = await Promise.race([done, late]);
    over.abort();
    if (!inTime) this.#leaveBehind(phase, ms);
    return inTime;
  }

  async #done(phase: ShutdownPhase, work: () => Promise<unknown>): Promise<true> {
    try {
      await work();
    } catch (failure) {
      this.#parts.log.warn('A phase of the end failed', {
        phase,
        sessionId: this.#sessionId,
        error: messageOf(failure),
      });
    }
    return true;
  }

  #leaveBehind(phase: ShutdownPhase, ms: number): void {
    const timeout = new ShutdownTimeout(phase, this.#sessionId, ms);
    this.#timeouts.push(timeout);
    this.#parts.log.warn(timeout.message, { code: timeout.code, ...timeout.data });
  }
}
