import { describe, expect, test } from 'vitest';
import * as checks from '../../../../../src/core/acp/generated/schema-checks.mjs';
import {
  damagedNotice,
  StoredReceipts,
} from '../../../../../src/core/acp/session/stored-receipts.ts';
import type { ListedReceipt, ReceiptPage } from '../../../../../src/core/host/controls/api.ts';

const listed = (seq: number): ListedReceipt =>
  ({ seq, at: seq * 10, hash: '', receipt: { control_id: `c${seq}` } }) as unknown as ListedReceipt;

describe('the stored receipts of a replay', () => {
  test('are told in step with the history, and those that are damaged are counted', async () => {
    const pages: ReceiptPage[] = [
      { receipts: [listed(1), listed(4)], hasBefore: false, hasAfter: true, damaged: [2, 3] },
      { receipts: [listed(5)], hasBefore: true, hasAfter: false },
    ];
    const said: string[] = [];
    const receipts = new StoredReceipts(
      { receipts: async () => pages.shift() as ReceiptPage },
      's',
      ({ control_id }) => said.push(control_id),
      (count) => said.push(`${count} damaged`),
    );
    await receipts.tellBefore(40);
    expect(said).toEqual(['2 damaged', 'c1']);
    await receipts.tellRest();
    expect(said).toEqual(['2 damaged', 'c1', 'c4', 'c5']);
  });

  test('the notice of damaged ones is a valid update that says what is left', () => {
    for (const count of [1, 3]) {
      const update = damagedNotice(count);
      expect(checks.sessionNotification({ sessionId: 's', update })).toBe(true);
      expect(update).toMatchObject({
        sessionUpdate: 'notice',
        description: expect.stringMatching(/left out\. The conversation is complete/),
      });
    }
  });
});
