import { describe, expect, test } from 'vitest';
import type { Frame, FramePort } from '../../../../src/protocol/transport/frame-port.ts';
import { type Merge, OutboundQueue } from '../../../../src/protocol/transport/outbound-queue.ts';

class SlowPort implements FramePort {
  readonly sent: Frame[] = [];
  readonly done = new Promise<void>(() => undefined);
  takes = 0;
  readonly start = ignore;
  readonly ready = ignore;
  readonly end = ignore;
  readonly destroy = ignore;
  send(frame: Frame): boolean {
    this.sent.push(frame);
    this.takes -= 1;
    return this.takes > 0;
  }
}

function ignore(): void {
  // This port is only sent to.
}

const merge: Merge = (a, b) =>
  'text' in a && 'text' in b
    ? { message: { text: `${String(a.text)}${String(b.text)}` }, added: String(b.text).length }
    : undefined;

describe('the outbound queue', () => {
  test('sends at once while the peer reads', () => {
    const port = new SlowPort();
    port.takes = 10;
    const queue = new OutboundQueue(port, { merge, onOverflow: () => undefined });
    queue.send({ text: 'a' });
    queue.send({ text: 'b' });
    expect(port.sent).toEqual(['{"text":"a"}', '{"text":"b"}']);
  });

  test('joins neighbours while the peer is behind, and nothing across another message', () => {
    const port = new SlowPort();
    port.takes = 1;
    const queue = new OutboundQueue(port, { merge, onOverflow: () => undefined });
    for (const text of ['a', 'b', 'c']) queue.send({ text });
    queue.send({ other: 1 });
    for (const text of ['d', 'e']) queue.send({ text });
    expect(port.sent).toEqual(['{"text":"a"}']);
    port.takes = 10;
    queue.drained();
    expect(port.sent.slice(1)).toEqual(['{"text":"bc"}', '{"other":1}', '{"text":"de"}']);
    expect(queue.isEmpty).toBe(true);
  });

  test('keeps the order when the peer falls behind again and again', () => {
    const port = new SlowPort();
    const queue = new OutboundQueue(port, { onOverflow: () => undefined });
    for (let index = 0; index < 10_000; index += 1) queue.send({ index });
    while (!queue.isEmpty) {
      port.takes = 7;
      queue.drained();
    }
    expect(port.sent).toEqual(Array.from({ length: 10_000 }, (_, index) => `{"index":${index}}`));
  });

  test('counts what was joined by what it adds, so that text for a peer that rests takes no more than its size', () => {
    const port = new SlowPort();
    let overflows = 0;
    const queue = new OutboundQueue(port, {
      merge,
      maxQueuedChars: 1000,
      onOverflow: () => (overflows += 1),
    });
    for (let index = 0; index < 901; index += 1) queue.send({ text: 'x' });
    expect(overflows).toBe(0);
    for (let index = 0; index < 200; index += 1) queue.send({ text: 'x' });
    expect(overflows).toBe(1);
  });

  test('drops everything and says so when the peer never reads', () => {
    const port = new SlowPort();
    let overflows = 0;
    const queue = new OutboundQueue(port, {
      maxQueuedChars: 1000,
      onOverflow: () => (overflows += 1),
    });
    for (let index = 0; index < 1000; index += 1) queue.send({ index });
    expect(overflows).toBe(1);
    expect(port.sent).toHaveLength(1);
    expect(queue.isEmpty).toBe(true);
  });
});
