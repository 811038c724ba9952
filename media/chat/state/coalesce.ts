import type { ToChat } from '../../../src/protocol/chat.ts';

type Append = Extract<ToChat, { type: 'append' }>;

function continues(before: Append, next: Append): boolean {
  return (
    before.id === next.id &&
    before.field === next.field &&
    before.offset + before.text.length === next.offset
  );
}

/** The same messages with streamed pieces that follow each other joined, so that a frame costs one change a row. */
export function coalesce(messages: readonly ToChat[]): readonly ToChat[] {
  const result: ToChat[] = [];
  let run: { readonly first: Append; readonly last: Append; readonly texts: string[] } | null =
    null;
  const flush = (): void => {
    if (run !== null) result.push({ ...run.first, text: run.texts.join('') });
    run = null;
  };
  for (const message of messages) {
    if (message.type !== 'append') {
      flush();
      result.push(message);
    } else if (run !== null && continues(run.last, message)) {
      run.texts.push(message.text);
      run = { first: run.first, last: message, texts: run.texts };
    } else {
      flush();
      run = { first: message, last: message, texts: [message.text] };
    }
  }
  flush();
  return result;
}
