import { CodedError } from '../../base/errors.ts';
import { type RpcCodeName, RpcError } from '../../protocol/errors.ts';

/** How the errors of other rooms read on the wire; what is not listed is an internal error with its code as data. */
const NAMES: ReadonlyMap<string, RpcCodeName> = new Map([
  ['host.unknown_session', 'resourceNotFound'],
  ['session.closed', 'resourceNotFound'],
  ['host.bad_cwd', 'invalidParams'],
  ['host.bad_environment', 'invalidParams'],
  ['host.bad_option', 'invalidParams'],
  ['session.bad_option', 'invalidParams'],
  ['session.empty_prompt', 'invalidParams'],
  ['session.command_collision', 'invalidRequest'],
  ['session.command_too_large', 'invalidParams'],
  ['host.command_collision', 'invalidRequest'],
  ['journal.bad_cursor', 'invalidParams'],
  ['export.unwritable', 'invalidParams'],
  ['export.too_large', 'invalidParams'],
  ['import.bad_record', 'invalidParams'],
  ['import.exists', 'invalidRequest'],
  ['import.newer_version', 'invalidParams'],
  ['import.not_an_export', 'invalidParams'],
  ['import.too_large', 'invalidParams'],
  ['import.unreadable', 'invalidParams'],
  ['feed.unknown_loop', 'invalidParams'],
  ['feed.unknown_event', 'invalidParams'],
  ['feed.too_many', 'invalidRequest'],
  ['control.too_many_waiting', 'invalidRequest'],
  ['control.unknown_session', 'noSuchSession'],
  ['control.unknown_loop', 'invalidParams'],
]);

/** The field a refused value came from, where the error can't say. */
const PATHS: ReadonlyMap<string, string> = new Map([
  ['host.bad_cwd', '/cwd'],
  ['host.bad_environment', '/environmentPolicy'],
  ['host.bad_environment', '/environmentPolicy'],
  ['host.bad_option', '/value'],
  ['session.bad_option', '/value'],
  ['session.empty_prompt', '/prompt'],
  ['session.command_too_large', '/prompt'],
  ['journal.bad_cursor', '/cursor'],
  ['feed.unknown_loop', '/loops'],
  ['control.unknown_loop', '/_meta/pilothouse/loopId'],
  ['feed.unknown_event', '/from'],
]);

/** A failure as it goes to the client; `facts.path` is where a refused value stood in this method. Coded errors keep their text, which is written for people; others do not. */
export function asRpcError(
  error: unknown,
  facts: { readonly [key: string]: string } = {},
): unknown {
  if (error instanceof RpcError || !isCoded(error)) return error;
  const { code } = error;
  const { path: asked, ...rest } = facts;
  const path = PATHS.has(code) ? (asked ?? PATHS.get(code)) : undefined;
  const data = {
    ...rest,
    ...error.data,
    ...(path === undefined ? {} : { path }),
    code,
    ...(error.retryable ? { retryable: true } : {}),
  };
  const message = path === undefined ? error.message : `Invalid params: ${path}: ${error.message}`;
  return new RpcError(NAMES.get(code) ?? 'internalError', message, data, error);
}

/** A session the connection can't act on. */
export function notAttached(sessionId: string): RpcError {
  return new RpcError(
    'resourceNotFound',
    `Session ${sessionId} is not open on this connection. Load or resume it first.`,
    { sessionId },
  );
}

function isCoded(error: unknown): error is CodedError {
  return error instanceof CodedError;
}
