import { messageOf } from '../../../base/errors.ts';
import { isObject } from '../../../base/json.ts';
import { McpError } from '../errors.ts';
import type { Sdk } from './load-sdk.ts';

/** Puts what the library threw into our words. Decides by type and code; texts are only passed on. */
export function toMcpError(sdk: Sdk, failure: unknown): McpError {
  if (failure instanceof McpError) return failure;
  const cause = failure;
  if (failure instanceof sdk.InsufficientScopeError) {
    const scope = failure.requiredScope;
    return new McpError('mcp.login_needed', 'It wants a sign-in that allows more.', {
      cause,
      ...(scope === undefined ? {} : { data: { scope } }),
    });
  }
  if (failure instanceof sdk.UnauthorizedError)
    return new McpError('mcp.login_needed', 'It wants a sign-in.', { cause });
  if (failure instanceof sdk.SdkHttpError) return fromHttp(failure.status, failure);
  if (failure instanceof sdk.SseError && failure.code !== undefined)
    return fromHttp(failure.code, failure);
  if (failure instanceof sdk.SdkError) {
    switch (failure.code) {
      case sdk.SdkErrorCode.RequestTimeout:
        return new McpError('mcp.timeout', 'It did not answer in time.', { cause });
      case sdk.SdkErrorCode.ConnectionClosed:
      case sdk.SdkErrorCode.NotConnected:
      case sdk.SdkErrorCode.SendFailed:
        return new McpError('mcp.lost', 'The connection to it was closed.', { cause });
      default:
        return new McpError('mcp.failed', failure.message, { cause });
    }
  }
  if (failure instanceof sdk.ProtocolError)
    return new McpError('mcp.failed', `${failure.message} (${failure.code})`, { cause });
  const network = networkCode(failure);
  if (network !== null)
    return new McpError('mcp.unreachable', `It can't be reached (${network}).`, { cause });
  return new McpError('mcp.failed', messageOf(failure), { cause });
}

/** True if the server may have refused the handshake only because it is too old for it. */
export function wantsDiscovery(sdk: Sdk, failure: McpError): boolean {
  const { cause } = failure;
  if (cause instanceof sdk.UnsupportedProtocolVersionError) return true;
  return cause instanceof sdk.SdkHttpError && cause.status === 400;
}

function fromHttp(status: number | undefined, cause: Error): McpError {
  if (status === 401 || status === 403)
    return new McpError(
      'mcp.refused',
      `It refused access (HTTP ${status}). Check the headers configured for it.`,
      { cause },
    );
  return new McpError('mcp.unreachable', `It answered with HTTP ${status ?? 'without a status'}.`, {
    cause,
  });
}

/** The code of a failed connection, as Node's fetch carries it in `cause`. */
function networkCode(failure: unknown): string | null {
  let current = failure;
  for (let depth = 0; depth < 4 && isObject(current); depth += 1) {
    const code = current['code'];
    if (typeof code === 'string' && /^(E[A-Z]+|UND_ERR_\w+)$/.test(code)) return code;
    current = current['cause'];
  }
  return failure instanceof TypeError ? 'no connection' : null;
}
