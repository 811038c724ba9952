import { describe, expect, test } from 'vitest';
import { ReceiptList } from '../../../../../src/core/host/controls/receipts/receipt-list.ts';
import type { ControlEvent } from '../../../../../src/core/session/control-events.ts';
import type { Stored } from '../../../../../src/core/session/events.ts';
import type { SessionId } from '../../../../../src/core/session/words.ts';

const actor = { clientId: 'c', role: 'host_owner', source: 'acp' } as const;

/** Every third record is a receipt, every second of those rejected. */
function list(count: number): ReceiptList {
  const records = Array.from({ length: count }, (_, index): Stored<ControlEvent> => {
    const seq = index + 1;
    const event: ControlEvent =
      seq % 3 === 0
        ? {
            type: 'control_outcome',
            receipt: {
              session_id: 's',
              control_id: `${seq}`,
              method: 'session/cancel',
              outcome: 'x',
              status: seq % 2 === 0 ? 'rejected' : 'accepted',
              actor,
              target: {},
              metadata: {},
            },
          }
        : { type: 'client_attached', actor };
    return {
      sessionId: 's' as SessionId,
      seq,
      at: seq,
      event,
      cause: { command_ids: [] },
      hash: `h${seq}`,
    };
  });
  return new ReceiptList({
    isStored: async (sessionId) => sessionId === 's',
    readControl: async (sessionId, { after = 0, before = Infinity, limit, newestFirst }) => {
      const fitting = records.filter(({ seq }) => seq > after && seq < before);
      if (sessionId === null) return [];
      return (newestFirst === true ? fitting.toReversed() : fitting).slice(0, limit);
    },
  });
}

const seqs = (page: { receipts: readonly { seq: number }[] }): number[] =>
  page.receipts.map(({ seq }) => seq);

describe('the list of receipts', () => {
  test('begins with the newest page, oldest first, and goes on in both directions without a gap', async () => {
    const receipts = list(3_000);
    const newest = await receipts.page({ sessionId: 's', limit: 4 });
    expect([seqs(newest), newest.hasBefore, newest.hasAfter]).toEqual([
      [2991, 2994, 2997, 3000],
      true,
      false,
    ]);
    const older = await receipts.page({ sessionId: 's', before: 2991, limit: 2 });
    expect([seqs(older), older.hasBefore, older.hasAfter]).toEqual([[2985, 2988], true, true]);
    const newer = await receipts.page({ sessionId: 's', after: 2988, limit: 2 });
    expect([seqs(newer), newer.hasBefore, newer.hasAfter]).toEqual([[2991, 2994], true, true]);
    const first = await receipts.page({ sessionId: 's', after: 0, limit: 1_000 });
    expect([first.receipts.length, first.hasBefore, first.hasAfter]).toEqual([1_000, false, false]);
  });

  test('is filtered, and of an unknown session there is none', async () => {
    const receipts = list(30);
    const rejected = await receipts.page({ sessionId: 's', status: 'rejected', limit: 2 });
    expect([seqs(rejected), rejected.hasBefore]).toEqual([[24, 30], true]);
    expect(seqs(await receipts.page({ sessionId: 's', method: 'session/inject' }))).toEqual([]);
    expect(seqs(await receipts.page({}))).toEqual([]);
    await expect(receipts.page({ sessionId: 'ghost' })).rejects.toMatchObject({
      code: 'host.unknown_session',
    });
  });
});
