import { describe, expect, test } from 'vitest';
import {
  JournaledReceipts,
  type ReceiptTaker,
} from '../../../../../src/core/host/controls/receipts/receipt-sink.ts';
import { HOST_STREAM } from '../../../../../src/core/session/ports.ts';
import type { ControlOutcome } from '../../../../../src/protocol/controls.ts';

const RECEIPT: ControlOutcome = {
  session_id: 'one',
  control_id: 'c1',
  method: 'session/inject',
  outcome: 'failed',
  status: 'rejected',
  reason: 'failed',
  actor: { clientId: 'client', role: 'host_owner', source: 'acp' },
  target: {},
  metadata: {},
};
const STOPPED = new Error('An earlier append of this session failed');

/** Where receipts went, with a live session that takes them or not and a store that takes them or not. */
function sinkWith(
  live: ReceiptTaker,
  storeFails = false,
): { sink: JournaledReceipts; in: string[] } {
  const appended: string[] = [];
  const sink = new JournaledReceipts(() => live, {
    append: (sessionId) => {
      if (storeFails) return Promise.reject(new Error('The disk is full'));
      appended.push(sessionId);
      return Promise.resolve([]);
    },
    session: () => Promise.resolve(null),
  });
  return { sink, in: appended };
}

describe('where a receipt is kept', () => {
  test('a live session keeps its own', async () => {
    const taken: ControlOutcome[] = [];
    const kept = sinkWith({
      receipt: async (receipt) => {
        taken.push(receipt);
      },
    });
    await kept.sink.keep(RECEIPT);
    expect(taken).toEqual([RECEIPT]);
    expect(kept.in).toEqual([]);
  });

  test('a session that a failed append has stopped leaves it to the host', async () => {
    const kept = sinkWith({ receipt: () => Promise.reject(STOPPED) });
    await kept.sink.keep(RECEIPT);
    expect(kept.in).toEqual([HOST_STREAM]);
  });

  test('where nothing can be kept the failure of the session is told', async () => {
    const kept = sinkWith({ receipt: () => Promise.reject(STOPPED) }, true);
    await expect(kept.sink.keep(RECEIPT)).rejects.toBe(STOPPED);
  });
});
