import { describe, expect, test } from 'vitest';
import { receiptOf } from '../../../../src/core/host/controls/receipts/receipt-of.ts';

const actor = { clientId: 'client', role: 'host_owner', source: 'acp' } as const;
const huge = 'x'.repeat(1_000_000);

describe('the receipt of a control', () => {
  test('stays short whatever the call named', () => {
    const outcome = {
      outcome: 'failed',
      status: 'rejected',
      metadata: { why: huge, n: 1 },
    } as const;
    const target = { sessionId: huge, actor };
    const receipt = receiptOf('id', 'session/inject', target, outcome, { messageId: huge });
    expect(JSON.stringify(receipt).length).toBeLessThan(10_000);
    expect(receipt).toMatchObject({ metadata: { n: 1 } });
    expect(receipt.session_id).toBe(receipt.target['sessionId']);
  });

  test('keeps names of the usual length, and the actor as it is', () => {
    const outcome = { outcome: 'accepted', status: 'accepted' } as const;
    const receipt = receiptOf('id', 'session/inject', { sessionId: 's', actor }, outcome, {
      messageId: 'm',
    });
    expect(receipt.target).toEqual({ sessionId: 's', messageId: 'm' });
    expect(receipt.actor).toBe(actor);
  });
});
