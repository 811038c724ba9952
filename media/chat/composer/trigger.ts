/** What the person is in the middle of typing that opens a list: `@query`, or `/name` at the very beginning. */
export type Trigger = {
  readonly kind: 'mention' | 'command';
  readonly query: string;
  /** Where the `@` or `/` stands. */
  readonly start: number;
};

/** The trigger the caret stands in, or null. */
export function triggerAt(text: string, caret: number): Trigger | null {
  const before = text.slice(0, caret);
  const command = /^\/(\S*)$/.exec(before);
  if (command !== null) return { kind: 'command', query: command[1] ?? '', start: 0 };
  const mention = /(?:^|\s)@([^\s@]*)$/.exec(before);
  if (mention === null) return null;
  const query = mention[1] ?? '';
  return { kind: 'mention', query, start: caret - query.length - 1 };
}

/** The text with the trigger's characters replaced, and where the caret then stands. */
export function replaceTrigger(
  text: string,
  caret: number,
  trigger: Trigger,
  replacement: string,
): { readonly text: string; readonly caret: number } {
  const head = text.slice(0, trigger.start) + replacement;
  return { text: head + text.slice(caret).replace(/^ /, ''), caret: head.length };
}
