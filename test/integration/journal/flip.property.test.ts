import { copyFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { attached, created, delta, sessionId, titled } from '../../support/journal/events.ts';
import { openTestJournal, temporaryFolder } from '../../support/journal/open.ts';

const id = sessionId('s1');
const EVENTS = 12;

/** A data folder whose two streams hold texts of all kinds. */
async function filled(texts: readonly string[]): Promise<string> {
  const folder = await temporaryFolder();
  const journal = await openTestJournal(folder);
  await journal.append(id, [created(), titled('One')]);
  for (const text of texts) await journal.append(id, [delta(text), attached(`client ${text}`)]);
  await journal.close();
  return folder;
}

/** Flips one bit in the body of one stored record, as a bad disk or a bad hand would. */
function flip(folder: string, stream: string, seq: number, where: number, bit: number): void {
  const database = new DatabaseSync(join(folder, 'sessions.db'));
  const { body } = database
    .prepare('SELECT CAST(body AS BLOB) AS body FROM records WHERE stream = ? AND seq = ?')
    .get(stream, seq) as { body: Uint8Array };
  const bytes = Uint8Array.from(body);
  const at = where % bytes.length;
  bytes[at] = (bytes[at] ?? 0) ^ (1 << bit);
  database
    .prepare('UPDATE records SET body = CAST(? AS TEXT) WHERE stream = ? AND seq = ?')
    .run(bytes, stream, seq);
  database.close();
}

test('one flipped bit anywhere in a copied database is found, and its record is named', async () => {
  const whole = await filled(
    fc.sample(fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }), EVENTS),
  );
  const copy = join(await temporaryFolder(), 'copy');
  await mkdir(copy);
  await copyFile(join(whole, 'sessions.db'), join(copy, 'sessions.db'));
  const journal = await openTestJournal(copy);
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('history' as const, 'control' as const),
      fc.integer({ min: 1, max: EVENTS }),
      fc.nat(1_000),
      fc.nat(6),
      async (stream, seq, where, bit) => {
        flip(copy, stream, seq, where, bit);
        const found = await journal.verify(id, stream);
        flip(copy, stream, seq, where, bit);
        expect(found).toMatchObject({ ok: false, seq });
        expect(await journal.verify(id, stream)).toMatchObject({ ok: true });
      },
    ),
    { numRuns: 60 },
  );
});
