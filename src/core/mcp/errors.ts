import { CodedError } from '../../base/errors.ts';

/** What can go wrong with an MCP server. */
export type McpErrorCode =
  /** It can't be started as configured. */
  | 'mcp.bad_config'
  /** It did not start, did not answer, or answered nonsense. */
  | 'mcp.unreachable'
  /** It was connected and is gone. */
  | 'mcp.lost'
  /** It wants a sign-in first. */
  | 'mcp.login_needed'
  /** A sign-in was tried and came to nothing. */
  | 'mcp.login_failed'
  /** It refused the credentials that were configured for it. */
  | 'mcp.refused'
  /** It did not answer in time. */
  | 'mcp.timeout'
  /** It answered a request with an error. */
  | 'mcp.failed';

/** A failure of an MCP server. The text is made for people and models: it never holds credentials. */
export class McpError extends CodedError<McpErrorCode> {}
