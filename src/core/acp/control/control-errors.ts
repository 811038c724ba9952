import { codeOf } from '../../../base/errors.ts';
import { type RpcCodeName, RpcError } from '../../../protocol/errors.ts';
import { ControlRefused, type Refusal } from '../../session/control/refusal.ts';
import { asRpcError } from '../wire-errors.ts';

/**
 * How a method tells of a session that is not there: with Harn's own code, or as a bad parameter. Methods of the
 * second family also say a refusal as `data.status`. Source: Harn session control, error codes.
 */
export type ErrorFamily = 'message' | 'shape';

/** What is not a wrong parameter. */
const NAMES: ReadonlyMap<Refusal, RpcCodeName> = new Map<Refusal, RpcCodeName>([
  ['no_active_prompt', 'noSuchSession'],
  ['session_closed', 'noSuchSession'],
  ['command_collision', 'invalidRequest'],
  ['observer_may_not_control', 'invalidRequest'],
  ['prompt_active', 'runtimeFailure'],
  ['no_checkpoint', 'runtimeFailure'],
  ['no_redo', 'runtimeFailure'],
  ['fs_snapshot_error', 'runtimeFailure'],
  ['fs_restore_error', 'runtimeFailure'],
  ['failed', 'runtimeFailure'],
  ['nothing_to_gain', 'runtimeFailure'],
  ['cancelled', 'runtimeFailure'],
]);

/** Codes of other rooms that mean that the session is nowhere. */
const NOWHERE: ReadonlySet<string | null> = new Set(['host.unknown_session', 'session.closed']);

/** A failed control as it goes to the client. */
export function asControlError(error: unknown, sessionId: string, family: ErrorFamily): unknown {
  if (NOWHERE.has(codeOf(error)))
    return unknownSession(sessionId, family, error instanceof Error ? error.message : '', error);
  if (!(error instanceof ControlRefused)) return asRpcError(error, { sessionId });
  const { refusal } = error;
  if (refusal === 'unknown_session') return unknownSession(sessionId, family, error.message, error);
  return new RpcError(
    NAMES.get(refusal) ?? 'invalidParams',
    error.message,
    {
      ...statusOf(refusal, family),
      ...(refusal === 'no_active_prompt' ? { reasons: [refusal] } : {}),
      sessionId,
      ...error.data,
    },
    error,
  );
}

/** Malformed params, with the word that the receipt has too. */
export function invalidParams(error: RpcError, family: ErrorFamily): RpcError {
  return new RpcError(
    'invalidParams',
    error.message,
    { ...error.data, ...statusOf('invalid_params', family), reason: 'invalid_params' },
    error,
  );
}

function unknownSession(
  sessionId: string,
  family: ErrorFamily,
  message: string,
  cause: unknown,
): RpcError {
  const name = family === 'message' ? 'noSuchSession' : 'invalidParams';
  const data = { ...statusOf('unknown_session', family), reason: 'unknown_session', sessionId };
  return new RpcError(name, message, data, cause);
}

function statusOf(refusal: Refusal, family: ErrorFamily): { readonly status?: string } {
  return family === 'shape' ? { status: refusal } : {};
}
