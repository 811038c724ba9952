import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { UNKNOWN_CLIENT } from '../../../../src/core/acp/client-facts.ts';
import { Attachment, type AttachmentDeps } from '../../../../src/core/acp/session/attachment.ts';
import { MOST_PENDING, MOST_QUEUED_CHARS } from '../../../../src/core/acp/session/lag.ts';
import { UpdateSender } from '../../../../src/core/acp/session/sender.ts';
import type { MessageId, TurnId } from '../../../../src/core/session/words.ts';
import type { RpcPeer } from '../../../../src/protocol/transport/rpc-types.ts';
import { REAL_CLOCK } from '../../../support/fake-host/connect-fake.ts';
import { FakeHost } from '../../../support/fake-host/fake-host.ts';
import type { FakeSession } from '../../../support/fake-host/fake-session.ts';

/** A client that reads when the test says so. */
class SlowPeer implements Pick<RpcPeer, 'notify' | 'isBehind' | 'queuedChars' | 'taken'> {
  readonly read: { method: string; params: Record<string, unknown> }[] = [];
  readonly #queue: { method: string; params: Record<string, unknown> }[] = [];
  #waiters: (() => void)[] = [];
  isReading = true;
  mostQueued = 0;
  queuedChars = 0;

  get isBehind(): boolean {
    return this.#queue.length > 0;
  }

  notify(method: string, params: object): void {
    const message = { method, params: params as Record<string, unknown> };
    if (this.isReading) this.read.push(message);
    else {
      this.#queue.push(message);
      this.queuedChars += JSON.stringify(message).length;
      this.mostQueued = Math.max(this.mostQueued, this.queuedChars);
    }
  }

  async taken(): Promise<void> {
    if (this.#queue.length > 0) await new Promise<void>((resolve) => this.#waiters.push(resolve));
  }

  resume(): void {
    this.isReading = true;
    this.read.push(...this.#queue.splice(0));
    this.queuedChars = 0;
    for (const wake of this.#waiters.splice(0)) wake();
  }
}

type Rig = {
  readonly peer: SlowPeer;
  readonly session: FakeSession;
  readonly attachment: Attachment;
  readonly failures: string[];
};

function following(): Rig {
  const host = new FakeHost();
  const session = host.add('/work');
  const peer = new SlowPeer();
  const failures: string[] = [];
  const ignore = (): void => undefined;
  const deps: AttachmentDeps = {
    host,
    facts: { ...UNKNOWN_CLIENT, pilothouse: true },
    // What an attachment sends goes through these alone.
    sender: new UpdateSender(peer as unknown as RpcPeer),
    clock: REAL_CLOCK,
    log: { debug: ignore, info: ignore, warn: ignore, error: (message) => failures.push(message) },
    isOwnPrompt: () => false,
    gates: { opened: ignore, resolved: ignore, detached: ignore },
    receipts: {
      live: ignore,
      replayed: ignore,
      dispose: ignore,
    } as unknown as AttachmentDeps['receipts'],
  };
  const attachment = new Attachment(session, 'host_owner', deps);
  attachment.goLive({ withPartial: false });
  return { peer, session, attachment, failures };
}

const turnId = 't' as TurnId;
const messageId = 'm' as MessageId;

/** Streams text live, and stores it. */
function say(session: FakeSession, text: string, offset: number): void {
  const part = { turnId, messageId, kind: 'text', offset, text } as const;
  session.emit({ type: 'message_chunk', ...part, afterEventId: session.records.length });
  session.append({ type: 'message_delta', ...part });
}

function updates(peer: SlowPeer): { update: Record<string, unknown>; eventId?: number }[] {
  return peer.read
    .filter(({ method }) => method === 'session/update')
    .map(({ params }) => {
      const { harn } = params['_meta'] as { harn: { eventId?: number } };
      return { update: params['update'] as Record<string, unknown>, ...harn };
    });
}

function textOf(peer: SlowPeer): string {
  return updates(peer)
    .map(({ update }) => (update['content'] as { text?: string } | undefined)?.text ?? '')
    .join('');
}

describe('a client that does not read', () => {
  test('is sent no more than a bound, and everything that is stored once it reads again', async () => {
    const { peer, session, attachment, failures } = following();
    say(session, 'before ', 0);
    peer.isReading = false;
    const piece = 'x'.repeat(10_000);
    const total = 2_000;
    for (let i = 0; i < total; i += 1) {
      say(session, piece, 7 + i * piece.length);
      session.append({ type: 'title_changed', title: `${i}` });
      if (i % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    // Its bound, and the one message that passed it.
    expect(peer.mostQueued).toBeLessThan(MOST_QUEUED_CHARS + 2 * piece.length);
    peer.resume();
    await attachment.drained();
    expect(failures).toEqual([]);
    expect(textOf(peer)).toBe(`before ${piece.repeat(total)}`);
    const titles = updates(peer).flatMap(({ update }) =>
      'title' in update ? [update['title']] : [],
    );
    expect(titles).toEqual(Array.from({ length: total }, (_, i) => `${i}`));
    // The negative control: it is live again.
    say(session, 'after', 7 + total * piece.length);
    expect(textOf(peer).endsWith('after')).toBe(true);
  });

  test('holds back no more than a bound before it is live', async () => {
    const host = new FakeHost();
    const session = host.add('/work');
    const peer = new SlowPeer();
    const ignore = (): void => undefined;
    const reads: number[] = [];
    const deps: AttachmentDeps = {
      host: {
        controls: host.controls,
        history: async (id, query) => {
          reads.push(query.after ?? 0);
          return host.history(id, query);
        },
      },
      facts: UNKNOWN_CLIENT,
      sender: new UpdateSender(peer as unknown as RpcPeer),
      clock: REAL_CLOCK,
      log: { debug: ignore, info: ignore, warn: ignore, error: ignore },
      isOwnPrompt: () => false,
      gates: { opened: ignore, resolved: ignore, detached: ignore },
      receipts: {
        live: ignore,
        replayed: ignore,
        dispose: ignore,
      } as unknown as AttachmentDeps['receipts'],
    };
    const attachment = new Attachment(session, 'host_owner', deps);
    for (let i = 0; i < MOST_PENDING + 10; i += 1)
      session.append({ type: 'title_changed', title: `${i}` });
    attachment.goLive({ withPartial: false });
    await attachment.drained();
    expect(reads[0]).toBe(1);
    expect(updates(peer)).toHaveLength(MOST_PENDING + 10);
  });

  test('is told the newest of what waits, though it missed the changes', async () => {
    const { peer, session, attachment } = following();
    peer.isReading = false;
    say(session, 'x'.repeat(MOST_QUEUED_CHARS + 1), 0);
    say(session, 'y', MOST_QUEUED_CHARS + 1);
    const nextTurns = { paused: null, items: [] };
    session.emit({
      type: 'pending_changed',
      pending: [],
      nextTurns: { ...nextTurns, paused: 'asked' },
    });
    session.emit({ type: 'pending_changed', pending: [], nextTurns });
    peer.resume();
    await attachment.drained();
    const told = peer.read.filter(({ method }) => method === '_pilothouse/pending_changed');
    expect(told.map(({ params }) => params['queue'])).toEqual([{ paused: null, items: [] }]);
  });

  test('gets every stored event once and in order, whatever the rhythm of its reading', async () => {
    const plan = fc.array(
      fc.record({
        events: fc.integer({ min: 0, max: 6 }),
        isReading: fc.boolean(),
        big: fc.boolean(),
        waits: fc.integer({ min: 0, max: 2 }),
      }),
      { maxLength: 30 },
    );
    await fc.assert(
      fc.asyncProperty(plan, async (steps) => {
        const { peer, session, attachment, failures } = following();
        let offset = 0;
        for (const { events, isReading, big, waits } of steps) {
          if (isReading) peer.resume();
          else peer.isReading = false;
          for (let i = 0; i < events; i += 1) {
            const text = (big ? 'x' : 'y').repeat(big ? MOST_QUEUED_CHARS / 2 : 3);
            say(session, text, offset);
            offset += text.length;
            session.append({ type: 'title_changed', title: `${offset}` });
          }
          for (let i = 0; i < waits; i += 1) await new Promise((resolve) => setImmediate(resolve));
        }
        peer.resume();
        await attachment.drained();
        const ids = updates(peer).flatMap(({ update, eventId }) =>
          'title' in update ? [eventId] : [],
        );
        const stored = session.records.flatMap(({ event, seq }) =>
          event.type === 'title_changed' ? [seq] : [],
        );
        expect(ids).toEqual(stored);
        expect(textOf(peer)).toHaveLength(offset);
        expect(failures).toEqual([]);
      }),
      { numRuns: 40 },
    );
  });
});
