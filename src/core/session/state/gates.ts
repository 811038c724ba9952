import type { Clock } from '../../../base/clock.ts';
import { Deferred } from '../../../base/deferred.ts';
import type { Ids } from '../../../base/ids.ts';
import type { Actor } from '../../../protocol/controls.ts';
import type { GateAnswer, GateRequest } from '../gate-words.ts';
import type { NewRecord } from '../ports.ts';
import { abortReason } from '../turn/aborts.ts';
import type { GateId, TurnId } from '../words.ts';
import type { RecordedGate } from './open-turn.ts';
import type { Recorder } from './recorder.ts';

/** How many questions of one loop may be open at once. */
export const MOST_OPEN_GATES = 64;

/** A gate that waits for an answer. */
export type OpenGate = {
  readonly gateId: GateId;
  readonly turnId: TurnId;
  readonly request: GateRequest;
  readonly openedAt: number;
};

/** How a question is asked. */
export type GateOptions = {
  /** SHA-256 of what is asked and what hangs on it: only the same thing takes over a question of before a restart. */
  readonly fingerprint: string;
  readonly iteration: number;
  /** Milliseconds after which it counts as declined; missing waits for ever. */
  readonly timeoutMs?: number;
  /** Answers it if it settles first; must not reject. */
  readonly elsewhere?: Promise<ElsewhereAnswer>;
};

/** An answer that no person gave. */
export type ElsewhereAnswer = { readonly answer: GateAnswer; readonly actor: Actor };

type Answered = { readonly answer: GateAnswer; readonly actor: Actor };
type Waiting = OpenGate & {
  readonly fingerprint: string | null;
  /** Settles when the answer is on disk. */
  readonly answered: Deferred<Answered>;
};

/** What the questions of a session are kept with. */
export type GateParts = {
  readonly recorder: Recorder;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly onChange: () => void;
};

/**
 * The open questions of a session. Several may be open at once; each is answered once, by whoever is first, and
 * both the question and the answer are on disk before they take effect. Those of a turn that goes on after a restart
 * are taken over by whoever asks the same thing again.
 */
export class Gates {
  readonly #parts: GateParts;
  readonly #open = new Map<GateId, Waiting>();
  /** Open, but not on disk yet. */
  readonly #untold = new Set<GateId>();
  /** Of a turn that a restart found, not taken over yet; answered ones are not open. */
  readonly #restored = new Map<GateId, Waiting>();

  constructor(parts: GateParts) {
    this.#parts = parts;
    // Told from the moment that its record is delivered, also to whoever hears of it after us.
    parts.recorder.onSignal((signal) => {
      if (signal.stream === 'history' && signal.record.event.type === 'gate_opened')
        this.#untold.delete(signal.record.event.gateId);
    });
  }

  /** Those that are open on disk: what is listed is still open after a crash. */
  list(): readonly OpenGate[] {
    return [...this.#open.values()]
      .filter(({ gateId }) => !this.#untold.has(gateId))
      .map(({ gateId, turnId, request, openedAt }) => ({ gateId, turnId, request, openedAt }));
  }

  /** The gate, if it is open. */
  find(gateId: GateId): OpenGate | undefined {
    return this.#open.get(gateId);
  }

  /** Takes over the questions of a turn that goes on. */
  restore(gates: readonly RecordedGate[]): void {
    for (const { answer, ...gate } of gates) {
      const waiting: Waiting = { ...gate, answered: settleable() };
      this.#restored.set(gate.gateId, waiting);
      if (answer === null) this.#open.set(gate.gateId, waiting);
      else waiting.answered.resolve(answer);
    }
  }

  /** The answer that a call was given before the restart, or null. */
  async answerBefore(toolCallId: string): Promise<GateAnswer | null> {
    const found = [...this.#restored.values()].find(
      ({ gateId, request }) =>
        request.kind === 'permission' &&
        request.toolCallId === toolCallId &&
        !this.#open.has(gateId),
    );
    return found === undefined ? null : (await found.answered.promise).answer;
  }

  /** Questions of before the restart that nobody asked again are withdrawn. */
  async abandonRestored(reason: 'turn_cancelled' | 'restart'): Promise<void> {
    const left = [...this.#restored.values()];
    this.#restored.clear();
    await Promise.all(left.map((gate) => this.#settle(gate, { kind: 'cancelled', reason }, HOST)));
  }

  /**
   * Opens a gate, or takes over the same one, and waits for its answer; an abort answers it `cancelled`. One too many is
   * declined without being asked.
   */
  async ask(
    turnId: TurnId,
    request: GateRequest,
    signal: AbortSignal,
    options: GateOptions,
  ): Promise<GateAnswer> {
    const before = this.#takeOver(request, options.fingerprint);
    if (before === null && this.#open.size >= MOST_OPEN_GATES) return TOO_MANY;
    const gate = before ?? (await this.#openNew(turnId, request, options));
    const over = new AbortController();
    const settle = (answer: GateAnswer, actor: Actor): void => {
      // A failed append has stopped the session, and whoever waits for the answer is told.
      this.#settle(gate, answer, actor).catch(() => undefined);
    };
    const withdraw = (): void => settle({ kind: 'cancelled', reason: withdrawal(signal) }, HOST);
    if (signal.aborted) withdraw();
    signal.addEventListener('abort', withdraw, { once: true });
    void options.elsewhere?.then(({ answer, actor }) => settle(answer, actor));
    const { timeoutMs } = options;
    if (timeoutMs !== undefined)
      this.#parts.clock.sleep(timeoutMs, over.signal).then(
        () => settle({ kind: 'declined', reason: nobodyAnswered(timeoutMs) }, POLICY),
        () => undefined,
      );
    try {
      return (await gate.answered.promise).answer;
    } finally {
      signal.removeEventListener('abort', withdraw);
      over.abort();
    }
  }

  /**
   * Answers a gate: `records` go with the answer into one append. False if it is not open any more; rejects where the
   * answer could not be kept, and then nothing came of it.
   */
  async answer(
    gateId: GateId,
    answer: GateAnswer,
    actor: Actor,
    records: { readonly before: readonly NewRecord[]; readonly after: readonly NewRecord[] },
  ): Promise<boolean> {
    const gate = this.#open.get(gateId);
    if (gate === undefined) return false;
    await this.#settle(gate, answer, actor, records);
    return true;
  }

  #takeOver(request: GateRequest, fingerprint: string): Waiting | null {
    const found = [...this.#restored.values()].find((gate) =>
      gate.fingerprint === null
        ? isSame(gate.request, request)
        : gate.fingerprint === fingerprint && isSame(gate.request, request),
    );
    if (found === undefined) return null;
    this.#restored.delete(found.gateId);
    return found;
  }

  async #openNew(
    turnId: TurnId,
    request: GateRequest,
    { fingerprint, iteration }: GateOptions,
  ): Promise<Waiting> {
    const gateId = this.#parts.ids.unique() as GateId;
    const openedAt = this.#parts.clock.now();
    const gate = { gateId, turnId, request, openedAt, fingerprint, answered: settleable() };
    // Known before it is told, so that whoever answers on hearing of it is heard.
    this.#open.set(gateId, gate);
    this.#untold.add(gateId);
    try {
      await this.#parts.recorder.append([
        {
          stream: 'control',
          event: { type: 'gate_prepared', turnId, gateId, iteration, fingerprint },
        },
        { stream: 'history', event: { type: 'gate_opened', turnId, gateId, request } },
      ]);
    } catch (failure) {
      this.#open.delete(gateId);
      throw failure;
    } finally {
      this.#untold.delete(gateId);
    }
    this.#parts.onChange();
    return gate;
  }

  async #settle(
    gate: Waiting,
    answer: GateAnswer,
    actor: Actor,
    records: {
      readonly before: readonly NewRecord[];
      readonly after: readonly NewRecord[];
    } = NO_RECORDS,
  ): Promise<void> {
    const { gateId, turnId } = gate;
    // From here on nobody else can win.
    if (!this.#open.delete(gateId)) return;
    const [first] = records.before;
    const cause = first?.cause;
    try {
      await this.#parts.recorder.append([
        ...records.before,
        {
          stream: 'history',
          event: { type: 'gate_resolved', turnId, gateId, answer, actor },
          ...(cause === undefined ? {} : { cause }),
        },
        ...records.after,
      ]);
    } catch (failure) {
      gate.answered.reject(failure);
      throw failure;
    }
    gate.answered.resolve({ answer, actor });
    this.#parts.onChange();
  }
}

const TOO_MANY: GateAnswer = {
  kind: 'declined',
  reason: `${MOST_OPEN_GATES} questions are open already, so this one was not asked; ask again when they are answered`,
};

const NO_RECORDS = { before: [], after: [] } as const;

/** Nobody may be waiting when it is rejected. */
function settleable(): Deferred<Answered> {
  const answered = new Deferred<Answered>();
  answered.promise.catch(() => undefined);
  return answered;
}

/** The same question about the same thing. */
function isSame(a: GateRequest, b: GateRequest): boolean {
  if (a.kind === 'auth' || b.kind === 'auth')
    return a.kind === 'auth' && b.kind === 'auth' && a.target === b.target && a.url === b.url;
  return a.kind === b.kind && a.toolCallId === b.toolCallId;
}

function nobodyAnswered(timeoutMs: number): string {
  return `Nobody answered within ${Math.round(timeoutMs / 1000)} seconds`;
}

function withdrawal(signal: AbortSignal): 'turn_cancelled' | 'interrupted' | 'call_cancelled' {
  const { kind } = abortReason(signal);
  return kind === 'interrupted' || kind === 'call_cancelled' ? kind : 'turn_cancelled';
}

/** The actor of what the host does by itself. */
export const HOST: Actor = { clientId: 'host', role: 'host_owner', source: 'host' };

/** The actor of what a rule decides. */
export const POLICY: Actor = { clientId: 'policy', role: 'host_owner', source: 'policy' };
