import { describe, expect, it } from 'vitest';
import { Outbox } from '../../../../src/extension/chat/webview/outbox.ts';
import type { ChatItem, ChatStatus, ToChat } from '../../../../src/protocol/chat.ts';

function setup() {
  const sent: ToChat[] = [];
  let due: (() => void) | null = null;
  const outbox = new Outbox(
    (message) => sent.push(message),
    (run) => {
      due = run;
      return { dispose: () => undefined };
    },
  );
  const frame = (): ToChat[] => {
    due?.();
    due = null;
    return sent.splice(0);
  };
  return { outbox, frame };
}

function row(id: string, text: string): ChatItem {
  return { kind: 'assistant', id, text, streaming: true };
}

function append(id: string, offset: number, text: string): ToChat {
  return { type: 'append', id, field: 'text', offset, text };
}

describe('the outbox', () => {
  it('sends nothing before the frame and one piece for many chunks of a row', () => {
    const { outbox, frame } = setup();
    outbox.push({ type: 'upsert', items: [row('a', '')] });
    for (let at = 0; at < 1_000; at += 1) outbox.push(append('a', at, 'x'));
    expect(frame()).toEqual([
      { type: 'upsert', items: [row('a', '')] },
      append('a', 0, 'x'.repeat(1_000)),
    ]);
    expect(frame()).toEqual([]);
  });

  it('joins rows that stream side by side, each with its own text', () => {
    const { outbox, frame } = setup();
    for (let at = 0; at < 10; at += 1) {
      outbox.push(append('a', at, 'a'));
      outbox.push(append('b', at, 'b'));
    }
    expect(frame()).toEqual([append('a', 0, 'a'.repeat(10)), append('b', 0, 'b'.repeat(10))]);
  });

  it('never lets a replaced row overtake text that was added to it', () => {
    const { outbox, frame } = setup();
    outbox.push({ type: 'upsert', items: [row('a', '1')] });
    outbox.push(append('a', 1, '2'));
    outbox.push({ type: 'upsert', items: [row('a', '12!')] });
    outbox.push(append('a', 3, '4'));
    expect(frame()).toEqual([
      { type: 'upsert', items: [row('a', '1')] },
      append('a', 1, '2'),
      { type: 'upsert', items: [row('a', '12!')] },
      append('a', 3, '4'),
    ]);
  });

  it('forgets rows when everything is laid anew, but no answer to a request', () => {
    const { outbox, frame } = setup();
    const reset: ToChat = {
      type: 'reset',
      status: {} as ChatStatus,
      items: [],
      hasBefore: false,
      gates: [],
      strings: {},
    };
    outbox.push({ type: 'upsert', items: [row('a', '1')] });
    outbox.push({ type: 'sent', requestId: 1 });
    outbox.push(reset);
    expect(frame()).toEqual([{ type: 'sent', requestId: 1 }, reset]);
  });

  it('sends only the newest status', () => {
    const { outbox, frame } = setup();
    const status = (title: string): ToChat => ({ type: 'status', status: { title } as ChatStatus });
    outbox.push(status('a'));
    outbox.push({ type: 'upsert', items: [row('a', '1')] });
    outbox.push(status('b'));
    expect(frame()).toEqual([status('b'), { type: 'upsert', items: [row('a', '1')] }]);
  });
});
