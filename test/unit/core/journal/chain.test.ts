import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { canonicalJson } from '../../../../src/base/canonical-json.ts';
import { chainHash, GENESIS_HASH, recordText } from '../../../../src/core/journal/chain.ts';

describe('the chain hash', () => {
  const record = {
    session: 's"é',
    stream: 'history' as const,
    seq: 3,
    at: 1700000000000,
    version: 1,
    body: '{"title":"x","type":"title_changed"}',
  };

  test('covers the canonical JSON of the whole record', () => {
    expect(recordText(record)).toBe(
      canonicalJson({
        v: 1,
        session: 's"é',
        stream: 'history',
        seq: 3,
        at: 1700000000000,
        event: { type: 'title_changed', title: 'x' },
      }),
    );
    const byHand = createHash('sha256')
      .update(Buffer.concat([Buffer.alloc(32), Buffer.from(recordText(record))]))
      .digest('hex');
    expect(chainHash(GENESIS_HASH, record)).toBe(byHand);
  });

  test('is fixed for ever', () => {
    expect(chainHash(GENESIS_HASH, record)).toMatchInlineSnapshot(
      `"82aeccb156ffdc2bf951549092dcb5cabcdbc9f09103a54e44d155e28dbab4f7"`,
    );
  });

  test('changes with every part and with what came before', () => {
    const changes: Partial<typeof record>[] = [
      { session: 't' },
      { stream: 'control' as 'history' },
      { seq: 4 },
      { at: 1 },
      { version: 2 },
      { body: '{}' },
    ];
    const hashes = changes.map((change) => chainHash(GENESIS_HASH, { ...record, ...change }));
    const next = chainHash(chainHash(GENESIS_HASH, record), record);
    const all = [chainHash(GENESIS_HASH, record), next, ...hashes];
    expect(new Set(all).size).toBe(changes.length + 2);
  });
});
