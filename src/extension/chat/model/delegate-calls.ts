import type { ChatHandBack } from '../../../protocol/chat-delegates.ts';
import type { UpdateMarks } from './marks.ts';
import type { Row } from './rows.ts';
import type { ToolState } from './tool-state.ts';

/** A command of this kind hands a delegate's result back: the id of the task, and this. */
const RESULT = '/result';

type Rows = ReadonlyMap<string, Row>;

/** Which call began which delegate, and where its result was read: each shows the way to the other. */
export class DelegateCalls {
  /** Calls by the task that they gave. */
  readonly #calls = new Map<string, string>();
  /** Rows with a result, by the task. */
  readonly #results = new Map<string, string>();

  /** A call is known better than before: it may have given a task. */
  learn(tool: ToolState, rows: Rows): void {
    const { requestId } = tool;
    if (requestId === undefined) return;
    this.#calls.set(requestId, tool.id);
    const result = this.#results.get(requestId);
    if (result !== undefined && rows.has(result)) link(tool, result);
  }

  /** The row of a result that the machine told the agent, and the calls whose delegate it came from; else null. */
  handBack(
    marks: UpdateMarks,
    rows: Rows,
    newId: () => string,
  ): { readonly item: ChatHandBack; readonly calls: readonly Row[] } | null {
    const text = marks.extra['machine'];
    const requests = (marks.commandIds ?? [])
      .filter((id) => id.endsWith(RESULT))
      .map((id) => id.slice(0, -RESULT.length));
    if (typeof text !== 'string' || requests.length === 0) return null;
    const id = newId();
    const calls = requests.flatMap((request) => {
      this.#results.set(request, id);
      const row = rows.get(this.#calls.get(request) ?? '');
      if (row?.body.kind !== 'tool') return [];
      link(row.body.tool, id);
      return [{ row, tool: row.body.tool }];
    });
    const [first] = calls.length === 1 && requests.length === 1 ? calls : [];
    const name = first?.tool.delegate?.name ?? '';
    const item: ChatHandBack = {
      kind: 'hand_back',
      id,
      name,
      text: requests.length === 1 ? withoutHead(text) : text,
      ...(first ? { toolCallId: first.tool.id } : {}),
    };
    return { item, calls: calls.map(({ row }) => row) };
  }
}

function link(tool: ToolState, resultRow: string): void {
  if (tool.delegate) tool.delegate = { ...tool.delegate, resultRow };
}

/** The agent reads a line on whose result it is, with ids; a person reads that on the row. */
function withoutHead(text: string): string {
  const end = text.indexOf('\n');
  return end === -1 ? text : text.slice(end + 1);
}
