import { describe, expect, test } from 'vitest';
import { startChild } from '../../support/journal/children.ts';
import { sessionId } from '../../support/journal/events.ts';
import { openTestJournal, temporaryFolder } from '../../support/journal/open.ts';

const all = { limit: 1_000_000 };

describe('a killed process', () => {
  test.each([5, 60, 240])(
    'after %i acknowledged appends leaves every one of them behind, in whole chains',
    async (lines) => {
      const folder = await temporaryFolder();
      const acknowledged = new Map<string, string[]>();
      const child = startChild('append', folder);
      while (child.said.length < lines) await child.next();
      await child.kill();
      for (const line of child.said) {
        for (const [stream, hash] of line['stored'] as [string, string][]) {
          const key = `${String(line['session'])} ${stream}`;
          acknowledged.set(key, [...(acknowledged.get(key) ?? []), hash]);
        }
      }

      const journal = await openTestJournal(folder);
      expect(acknowledged.size).toBeGreaterThan(0);
      for (const [key, hashes] of acknowledged) {
        const [name = '', stream = ''] = key.split(' ');
        const id = sessionId(name);
        const records =
          stream === 'history'
            ? await journal.readHistory(id, all)
            : await journal.readControl(id, all);
        expect(records.slice(0, hashes.length).map(({ hash }) => hash)).toEqual(hashes);
        // What was committed and not yet acknowledged may be there: at most the one append in flight.
        expect(records.length - hashes.length).toBeLessThanOrEqual(1);
        expect(await journal.verify(id, stream === 'history' ? 'history' : 'control')).toEqual({
          ok: true,
          records: records.length,
          hash: records.at(-1)?.hash,
        });
      }
      // Both streams of one append are there or neither.
      for (const { sessionId: id } of (await journal.sessions({ limit: 10 })).rows) {
        const history = await journal.readHistory(id, all);
        const control = await journal.readControl(id, all);
        expect(history.length).toBe(control.length + 1);
      }
    },
  );
});
