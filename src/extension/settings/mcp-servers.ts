import * as z from 'zod/mini';
import type { McpServer } from '../../protocol/acp.ts';

const STDIO = z.looseObject({
  command: z.string(),
  args: z.optional(z.array(z.string())),
  env: z.optional(z.record(z.string(), z.string())),
});

const REMOTE = z.looseObject({
  url: z.string(),
  type: z.optional(z.enum(['http', 'sse'])),
  headers: z.optional(z.record(z.string(), z.string())),
});

/** The servers of the setting `pilothouse.mcp.servers` as ACP names them; entries of no known form are left out. */
export function parseMcpServers(value: unknown): McpServer[] {
  const entries = z.safeParse(z.record(z.string(), z.unknown()), value);
  if (!entries.success) return [];
  return Object.entries(entries.data).flatMap(([name, entry]) => parseServer(name, entry));
}

function parseServer(name: string, entry: unknown): McpServer[] {
  const stdio = z.safeParse(STDIO, entry);
  if (stdio.success) {
    const { command, args = [], env = {} } = stdio.data;
    return [{ name, command, args, env: pairs(env) }];
  }
  const remote = z.safeParse(REMOTE, entry);
  if (!remote.success) return [];
  const { url, type = 'http', headers = {} } = remote.data;
  return [{ type, name, url, headers: pairs(headers) }];
}

function pairs(record: Readonly<Record<string, string>>): { name: string; value: string }[] {
  return Object.entries(record).map(([name, value]) => ({ name, value }));
}
