import type { JsonObject } from '../../../base/json.ts';
import type { Tool, ToolContext, ToolOutcome } from '../../session/tool.ts';
import type { ServerTool } from '../connection/connection.ts';

const MAX_SHOWN = 300;

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
      preview: { title: `${title}${shown(input)}`, kind: 'other', locations: [], content: [] },
      run: (context) => call(tool.name, input, context),
    }),
  };
}

/** The arguments as far as a title can show them: whoever approves must see what is sent. */
function shown(input: JsonObject): string {
  if (Object.keys(input).length === 0) return '';
  const text = JSON.stringify(input);
  return ` ${text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text}`;
}
