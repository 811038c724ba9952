import type { ChatItem, ChatTool } from '../../../src/protocol/chat.ts';

/** How much of one tool's output the webview keeps, in characters; the whole is behind "show all". */
export const OUTPUT_KEPT = 1024 * 1024;
/** Trimming is done in steps, so that each streamed piece does not move a megabyte. */
const OUTPUT_SLACK = OUTPUT_KEPT / 4;

/** The row with at most `OUTPUT_KEPT` characters of output (plus slack while streaming): the last ones, from a line start. */
export function boundOutput(tool: ChatTool): ChatTool {
  if (tool.output.length <= OUTPUT_KEPT + OUTPUT_SLACK) return tool;
  const from = tool.output.length - OUTPUT_KEPT;
  const newline = tool.output.indexOf('\n', from);
  const start = newline === -1 || newline + 1 >= tool.output.length ? from : newline + 1;
  return { ...tool, output: tool.output.slice(start), outputCut: tool.outputCut + start };
}

/** The same for any row. */
export function boundItem(item: ChatItem): ChatItem {
  return item.kind === 'tool' ? boundOutput(item) : item;
}
