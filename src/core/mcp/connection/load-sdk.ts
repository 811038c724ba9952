/** The MCP library, as a module. */
export type Sdk = typeof import('@modelcontextprotocol/client');

/** Loads the MCP library; only sessions with MCP servers pay for it. */
export function loadSdk(): Promise<Sdk> {
  return import('@modelcontextprotocol/client');
}
