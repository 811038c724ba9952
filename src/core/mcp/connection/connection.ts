import type { CallToolResult } from '@modelcontextprotocol/client';
import type { Event } from '../../../base/emitter.ts';
import type { JsonObject, JsonSchema } from '../../../base/json.ts';
import type { McpError } from '../errors.ts';

/** A tool as its server describes it. */
export type ServerTool = {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  /** The server's own word for it; policy decides how far that is believed. */
  readonly readOnly: boolean;
};

/** What a call in flight may report. */
export type CallOptions = {
  readonly signal: AbortSignal;
  readonly onProgress: (progress: {
    readonly progress: number;
    readonly total?: number;
    readonly message?: string;
  }) => void;
};

/** A connected MCP server. */
export interface Connection {
  /** The newest complete list. */
  tools(): readonly ServerTool[];
  readonly onDidChangeTools: Event<void>;
  /** Resolves with the reason once the server is gone or unusable; never after `close`. */
  readonly lost: Promise<McpError>;
  /** True if a process of ours serves it: ending that process ends what it works on. */
  readonly isProcess: boolean;
  /** Throws `McpError`. An abort tells the server to stop and rejects at once. */
  call(tool: string, input: JsonObject, options: CallOptions): Promise<CallToolResult>;
  /** Resolves when it is gone, process group included; bounded. `now` gives the process no time to tidy up. */
  close(how: 'gently' | 'now'): Promise<void>;
}
