import type { JsonObject } from '../../../base/json.ts';
import type { Tool, ToolContext, ToolOutcome } from '../../session/tool.ts';
import type { ServerTool } from '../connection/connection.ts';

/** Makes a tool of an MCP server one of the loop's. Input is checked by the server, which knows best. */
export function asTool(
  name: string,
  server: string,
  tool: ServerTool,
  call: (tool: string, input: JsonObject, context: ToolContext) => Promise<ToolOutcome>,
): Tool {
  const title = `${server}: ${tool.title ?? tool.name}`;
  return {
    definition: { name, description: tool.description, inputSchema: tool.inputSchema },
    kind: 'other',
    readOnly: tool.readOnly,
    prepare: async (input) => ({
      accesses: [{ kind: 'external', server, tool: tool.name }],
      preview: { title, kind: 'other', locations: [], content: [] },
      run: (context) => call(tool.name, input, context),
    }),
  };
}
