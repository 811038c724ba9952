import { describe, expect, it } from 'vitest';
import { receiptEntry } from '../../../../src/extension/receipts/receipt-entry.ts';
import { ReceiptFeed } from '../../../../src/extension/receipts/receipt-feed.ts';
import { ReceiptsDesk } from '../../../../src/extension/receipts/receipts-desk.ts';
import { verifyBoth } from '../../../../src/extension/receipts/verification.ts';
import type { ControlOutcome } from '../../../../src/protocol/controls.ts';
import type { ReceiptList, ReceiptListParams } from '../../../../src/protocol/receipt-shapes.ts';
import type { ToReceipts } from '../../../../src/protocol/receipts-view.ts';

type Listed = ReceiptList['receipts'][number];

function outcome(part: Partial<ControlOutcome> = {}): ControlOutcome {
  return {
    session_id: 's',
    control_id: 'c',
    method: 'session/cancel',
    outcome: 'cancelled',
    status: 'accepted',
    actor: { clientId: 'pilothouse-vscode', role: 'host_owner', source: 'acp' },
    target: { sessionId: 's' },
    metadata: {},
    ...part,
  };
}

function listed(seq: number, part: Partial<ControlOutcome> = {}): Listed {
  return { seq, at: '2026-01-01T00:00:00Z', hash: `h${seq}`, receipt: outcome(part) };
}

/** A store of receipts that pages as the agent does. */
function store(count: number) {
  const all = Array.from({ length: count }, (_, index) => listed(index + 1));
  const asked: ReceiptListParams[] = [];
  return {
    all,
    asked,
    read: async (params: ReceiptListParams): Promise<ReceiptList> => {
      asked.push(params);
      const { after, before, limit = 200, status, method } = params;
      const fits = all.filter(
        ({ receipt }) =>
          (status === undefined || receipt.status === status) &&
          (method === undefined || receipt.method === method),
      );
      const range = fits.filter(
        ({ seq }) => (after === undefined || seq > after) && (before === undefined || seq < before),
      );
      const receipts = after === undefined ? range.slice(-limit) : range.slice(0, limit);
      const first = receipts[0]?.seq ?? 0;
      const last = receipts.at(-1)?.seq ?? 0;
      return {
        receipts,
        hasBefore: fits.some(({ seq }) => seq < first),
        hasAfter: fits.some(({ seq }) => seq > last),
      };
    },
  };
}

const NO_FILTER = { method: null, status: null };
const seqs = (list: readonly Listed[]) => list.map(({ seq }) => seq);

describe('the feed of receipts', () => {
  it('pages from the newest to the first without a gap or a repeat', async () => {
    const { read } = store(450);
    const feed = new ReceiptFeed(read, 'session', 's', NO_FILTER);
    await feed.start();
    expect(feed.hasOlder).toBe(true);
    await Promise.all([feed.older(), feed.older(), feed.older()]);
    expect(feed.hasOlder).toBe(false);
    expect(seqs(feed.receipts)).toEqual(Array.from({ length: 450 }, (_, index) => 450 - index));
  });

  it('takes in what came since, however much it is', async () => {
    const { read, all } = store(3);
    const feed = new ReceiptFeed(read, 'session', 's', NO_FILTER);
    await feed.start();
    expect(await feed.newer()).toEqual([]);
    for (let seq = 4; seq <= 500; seq += 1) all.push(listed(seq));
    expect(seqs(await feed.newer())).toHaveLength(497);
    expect(seqs(feed.receipts)).toEqual(Array.from({ length: 500 }, (_, index) => 500 - index));
  });

  it('reads the first receipt that comes to an empty stream', async () => {
    const { read, all } = store(0);
    const feed = new ReceiptFeed(read, 'session', 's', NO_FILTER);
    await feed.start();
    all.push(listed(1));
    expect(seqs(await feed.newer())).toEqual([1]);
  });

  it('exports everything, oldest first', async () => {
    const { read } = store(2_345);
    const feed = new ReceiptFeed(read, 'session', 's', NO_FILTER);
    await feed.start();
    expect(seqs(await feed.all())).toEqual(Array.from({ length: 2_345 }, (_, index) => index + 1));
    expect(feed.receipts).toHaveLength(200);
  });

  it('names no session for what named none', async () => {
    const { read, asked } = store(1);
    await new ReceiptFeed(read, 'host', 's', { method: null, status: 'rejected' }).start();
    expect(asked).toEqual([{ status: 'rejected', limit: 200 }]);
  });
});

describe('a receipt', () => {
  it('reads as a sentence, and keeps the words of the wire', () => {
    const stop = receiptEntry(listed(1));
    expect(stop).toMatchObject({ asked: 'Stop', happened: 'stopped', outcome: 'cancelled' });
    expect(stop).toMatchObject({ who: 'VS Code', role: 'owner', refusal: null });
    const refused = receiptEntry(
      listed(2, {
        method: 'session/inject',
        outcome: 'rejected',
        status: 'rejected',
        reason: 'no_active_prompt',
        metadata: { mode: 'steer' },
      }),
    );
    expect(refused).toMatchObject({
      asked: 'Steer',
      refusal: { words: 'No turn was running.', reason: 'no_active_prompt' },
    });
  });

  it('tells the three ways of a message apart, refused or not, with the wire name in the details', () => {
    const asked = (mode: string) =>
      receiptEntry(listed(1, { method: 'session/inject', metadata: { mode } }));
    expect(
      ['steer', 'interrupt', 'interrupt_immediate', 'queue'].map((mode) => asked(mode).asked),
    ).toEqual(['Steer', 'Interrupt', 'Interrupt', 'Note']);
    expect(asked('queue').facts).toContainEqual({ label: 'Mode', value: 'Note (queue)' });
    expect(asked('steer').facts[0]).toEqual({ label: 'Session', value: 's' });
  });

  it('tells what the agent did by itself from what a client asked for', () => {
    const method = 'session/revoke_inject';
    const byItself = receiptEntry(
      listed(1, {
        method,
        outcome: 'given_back',
        actor: { clientId: 'host', role: 'host_owner', source: 'host' },
        metadata: { mode: 'steer' },
      }),
    );
    expect(byItself).toMatchObject({
      who: 'Pilothouse: given back because its turn ended',
      role: null,
    });
    const asked = receiptEntry(listed(2, { method, outcome: 'revoked' }));
    expect(asked).toMatchObject({ who: 'VS Code', role: 'owner' });
  });

  it('of a stop in an idle session says that nothing was running', () => {
    const entry = receiptEntry(listed(1, { outcome: 'already_cancelled', status: 'idempotent' }));
    expect(entry.happened).toBe('nothing was running');
  });

  it('shows a word that nobody listed as it is', () => {
    const entry = receiptEntry(listed(1, { outcome: 'some_new_word', reason: 'so_it_is' }));
    expect(entry).toMatchObject({ happened: 'some new word', refusal: { words: 'so it is' } });
  });
});

describe('the receipts desk', () => {
  function desk(count: number, broken = false) {
    const data = store(count);
    const posted: ToReceipts[] = [];
    const saved: { name: string; text: string }[] = [];
    const copied: string[] = [];
    const one = new ReceiptsDesk({
      sessionId: 's',
      title: () => 'title',
      read: data.read,
      verify: async () =>
        verifyBoth(async (stream) =>
          broken && stream === 'control' ? { ok: false, eventId: 2, reason: 'hash' } : { ok: true },
        ),
      post: (message) => posted.push(message),
      copy: async (text) => void copied.push(text),
      save: async (name, text) => void saved.push({ name, text }),
      now: () => 5,
    });
    return { one, data, posted, saved, copied };
  }

  it('shows what is there, then what comes, and only that', async () => {
    const { one, data, posted } = desk(2);
    await one.refreshNewest();
    expect(posted).toEqual([]);
    await one.receive({ type: 'ready' });
    expect(posted.at(-1)).toMatchObject({
      type: 'state',
      state: { loading: false, entries: [{ seq: 2 }, { seq: 1 }] },
    });
    data.all.push(listed(3));
    await one.refreshNewest();
    expect(posted.at(-1)).toMatchObject({ type: 'more', newer: [{ seq: 3 }], older: [] });
    const before = posted.length;
    await one.refreshNewest();
    expect(posted).toHaveLength(before);
  });

  it('names the chain that does not fit and the record; a new receipt makes the result stale', async () => {
    const { one, data, posted } = desk(2, true);
    await one.receive({ type: 'ready' });
    await one.receive({ type: 'verify' });
    expect(posted.at(-1)).toMatchObject({
      state: {
        verify: {
          kind: 'done',
          chains: [{ ok: true }, { ok: false, text: expect.stringContaining('record 2 (hash)') }],
        },
      },
    });
    data.all.push(listed(3));
    await one.refreshNewest();
    expect(posted.at(-1)).toMatchObject({ state: { verify: { kind: 'none' } } });
  });

  it('exports and copies receipts as they are listed', async () => {
    const { one, data, saved, copied } = desk(3);
    await one.receive({ type: 'ready' });
    await one.receive({ type: 'export' });
    await one.receive({ type: 'copy', seq: 2 });
    expect(saved[0]?.name).toBe('receipts-s.json');
    expect(JSON.parse(saved[0]?.text ?? '')).toMatchObject({ sessionId: 's', receipts: data.all });
    expect(JSON.parse(copied[0] ?? '')).toEqual(data.all[1]);
  });

  it('says what could not be read', async () => {
    const posted: ToReceipts[] = [];
    const one = new ReceiptsDesk({
      sessionId: 's',
      title: () => '',
      read: () => Promise.reject(new Error('gone')),
      verify: async () => [],
      post: (message) => posted.push(message),
      copy: async () => undefined,
      save: async () => undefined,
      now: () => 0,
    });
    await one.receive({ type: 'ready' });
    expect(posted.at(-1)).toMatchObject({ state: { problem: 'gone', loading: false } });
  });
});
