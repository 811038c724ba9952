import type { Clock } from '../../../base/clock.ts';
import type { SessionUpdate, ToolCallContent } from '../../../protocol/acp.ts';
import { textContent } from '../projection/tool-updates.ts';

/** How often a running call's content is sent again, in milliseconds. */
const INTERVAL_MS = 250;
/** How much of the end of the output is shown while it runs, in UTF-16 units. */
const WINDOW = 8 * 1024;

type Running = {
  readonly content: readonly ToolCallContent[];
  text: string;
  timer: AbortController | undefined;
};

/**
 * Live output for clients that know only ACP, where a call's content replaces the earlier one: they get the end of
 * the output now and then. What was left out comes with the call's result.
 */
export class LiveOutput {
  readonly #clock: Clock;
  readonly #send: (update: SessionUpdate) => void;
  readonly #calls = new Map<string, Running>();

  constructor(clock: Clock, send: (update: SessionUpdate) => void) {
    this.#clock = clock;
    this.#send = send;
  }

  /** `content` is what the call shows before any output and keeps in front of it; `text` is output that was told. */
  started(toolCallId: string, content: readonly ToolCallContent[], text = ''): void {
    this.#calls.set(toolCallId, { content, text: tail(text), timer: undefined });
  }

  add(toolCallId: string, text: string): void {
    const call = this.#calls.get(toolCallId);
    if (call === undefined) return;
    call.text = tail(call.text + text);
    if (call.timer !== undefined) return;
    this.#show(toolCallId, call);
    this.#arm(toolCallId, call);
  }

  /** The result says everything: nothing more is sent for this call. */
  ended(toolCallId: string): void {
    this.#calls.get(toolCallId)?.timer?.abort();
    this.#calls.delete(toolCallId);
  }

  /** Nothing runs any more. */
  clear(): void {
    for (const call of this.#calls.values()) call.timer?.abort();
    this.#calls.clear();
  }

  #arm(toolCallId: string, call: Running): void {
    const timer = new AbortController();
    const shown = call.text;
    call.timer = timer;
    this.#clock.sleep(INTERVAL_MS, timer.signal).then(
      () => {
        call.timer = undefined;
        if (call.text === shown) return;
        this.#show(toolCallId, call);
        this.#arm(toolCallId, call);
      },
      // Only the abort of `ended` and `clear` ends the sleep early.
      () => undefined,
    );
  }

  #show(toolCallId: string, call: Running): void {
    this.#send({
      sessionUpdate: 'tool_call_update',
      toolCallId,
      content: [...call.content, textContent(call.text)],
    });
  }
}

/** The end of the text, beginning at a line where there is one, never inside a surrogate pair. */
function tail(text: string): string {
  if (text.length <= WINDOW) return text;
  const cut = text.slice(-WINDOW);
  const newline = cut.indexOf('\n');
  if (newline >= 0 && newline < WINDOW / 2) return cut.slice(newline + 1);
  const code = cut.charCodeAt(0);
  return code >= 0xdc00 && code <= 0xdfff ? cut.slice(1) : cut;
}
