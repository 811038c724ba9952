import { HOST } from '../../session/state/gates.ts';
import { HostError } from '../errors.ts';
import type { HostedSession } from '../hosted-session.ts';
import { Phases, type ShutdownParts, type ShutdownReport, type ShutdownTimeout } from './phases.ts';

/** The end of a host: what is refused from when on, and what was left behind. */
export class HostEnd {
  readonly #parts: ShutdownParts;
  /** Sessions that are being made: they are part of the end, or refused. */
  readonly #making = new Set<Promise<unknown>>();
  readonly #timeouts: ShutdownTimeout[] = [];
  #report: Promise<ShutdownReport> | null = null;
  #isOver = false;

  constructor(parts: ShutdownParts) {
    this.#parts = parts;
  }

  /** Throws `host.closing` once the end began. */
  requireOpen(): void {
    if (this.#report !== null) throw closing();
  }

  /** Throws `host.closing` once the end is over: the store may be gone. */
  requireStore(): void {
    if (this.#isOver) throw closing();
  }

  /**
   * Hands a session that came into being to `keep`, with no moment in between; one that did while the end began is
   * closed, and refused with `host.closing`.
   */
  async made(
    making: Promise<HostedSession>,
    keep: (made: HostedSession) => void,
  ): Promise<HostedSession> {
    const made = this.#keptOrClosed(making, keep);
    this.#making.add(made);
    try {
      return await made;
    } finally {
      this.#making.delete(made);
    }
  }

  /** How the end of one session went. */
  note({ timeouts }: ShutdownReport): void {
    this.#timeouts.push(...timeouts);
  }

  /** Runs the end once: all callers get the same report. `sessions` ends what is live. Never rejects. */
  run(sessions: () => Promise<unknown>, over: () => void): Promise<ShutdownReport> {
    this.#report ??= this.#run(sessions, over);
    return this.#report;
  }

  async #run(sessions: () => Promise<unknown>, over: () => void): Promise<ShutdownReport> {
    const phases = new Phases(this.#parts);
    await phases.run('admission', () => Promise.allSettled(this.#making));
    await phases.run('sessions', sessions);
    this.#isOver = true;
    over();
    return { timeouts: [...phases.timeouts, ...this.#timeouts] };
  }

  async #keptOrClosed(
    making: Promise<HostedSession>,
    keep: (made: HostedSession) => void,
  ): Promise<HostedSession> {
    const made = await making;
    if (this.#report === null) {
      keep(made);
      return made;
    }
    this.note(await made.close('client_gone', HOST));
    throw closing();
  }
}

function closing(): HostError {
  return new HostError('host.closing', 'agent-core is shutting down. Start it again and retry.');
}
