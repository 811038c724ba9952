import { canonicalJson } from '../../../base/canonical-json.ts';
import type { Json } from '../../../base/json.ts';
import type { SessionDeps } from '../deps.ts';
import type { GateAnswer, GateRequest } from '../gate-words.ts';
import type { ElsewhereAnswer, Gates } from '../state/gates.ts';
import type { SessionConfig, TurnId } from '../words.ts';

/** What a question may come with. */
export type AskOptions = {
  /** What hangs on the answer, for example what a call would touch: another thing is another question. */
  readonly about?: unknown;
  /** Answers it if it settles first; must not reject. */
  readonly elsewhere?: Promise<ElsewhereAnswer>;
};

/** Asks a person and waits; an abort answers it `cancelled`, and so does the session's time limit for questions. */
export type AskGate = (
  request: GateRequest,
  signal: AbortSignal,
  options?: AskOptions,
) => Promise<GateAnswer>;

/** What questions of one turn are asked with. */
export type AskGateParts = {
  readonly gates: Gates;
  readonly deps: Pick<SessionDeps, 'digest'>;
  readonly turnId: TurnId;
  readonly config: SessionConfig;
  /** The iteration that the turn is in. */
  readonly iteration: () => number;
};

/** Asks in the name of a turn. */
export function askGate({ gates, deps, turnId, config, iteration }: AskGateParts): AskGate {
  return (request, signal, { about = null, elsewhere } = {}) =>
    gates.ask(turnId, request, signal, {
      fingerprint: deps.digest(canonicalJson({ request, about: about as Json })),
      iteration: iteration(),
      ...(config.gateSeconds === undefined ? {} : { timeoutMs: config.gateSeconds * 1000 }),
      ...(elsewhere === undefined ? {} : { elsewhere }),
    });
}
