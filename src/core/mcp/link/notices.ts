import type { ExternalNotice } from '../../host/session-resources.ts';
import type { McpError } from '../errors.ts';

/** The first attempt to connect failed. */
export function missing(server: string, failure: McpError): ExternalNotice {
  const next =
    failure.code === 'mcp.bad_config' || failure.code === 'mcp.refused'
      ? 'It is tried again when the next turn begins.'
      : 'It is tried again in the background.';
  return {
    severity: 'warning',
    title: `MCP server ${server} is not available`,
    description: `${failure.message} The session works without its tools. ${next}`,
  };
}

/** A connected server is gone. */
export function lost(server: string, failure: McpError): ExternalNotice {
  return {
    severity: 'warning',
    title: `MCP server ${server} was lost`,
    description: `${failure.message} The session works without its tools until it is back; it is tried again in the background.`,
  };
}

/** A server that was reported gone is there again. */
export function back(server: string): ExternalNotice {
  return {
    severity: 'info',
    title: `MCP server ${server} is back`,
    description: 'Its tools can be used from the next turn on.',
  };
}

/** Nobody can be asked to sign in before a turn begins. */
export function loginNeeded(server: string): ExternalNotice {
  return {
    severity: 'info',
    title: `MCP server ${server} needs a sign-in`,
    description: 'You are asked to sign in when the next turn begins.',
  };
}

/** The person did not sign in, or it did not work. */
export function loginMissing(server: string, why: string): ExternalNotice {
  return {
    severity: 'warning',
    title: `MCP server ${server} is left out`,
    description: `${why} The session works without its tools. Load the session again to be asked again.`,
  };
}
