/**
 * Makes `test/fixtures/journal/v<format>.db`, the database that later code must be able to open. Run it once when a
 * format is settled, with the code of that commit; a fixture that is committed is never made again.
 */
import { copyFile, mkdir, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openJournal } from '../../../src/core/journal/open-journal.ts';
import { MIGRATIONS } from '../../../src/core/journal/store/schema.ts';
import type { Log, NewRecord } from '../../../src/core/session/ports.ts';
import {
  created,
  delta,
  everyControlEvent,
  everyHistoryEvent,
  prompted,
  replied,
  sessionId,
  titled,
} from './events.ts';

const target = fileURLToPath(
  new URL(`../../fixtures/journal/v${MIGRATIONS.length}.db`, import.meta.url),
);
if (await stat(target).catch(() => null)) throw new Error(`${target} is there already.`);

const silent = (): void => undefined;
const log: Log = { debug: silent, info: silent, warn: silent, error: silent };
let now = 1_700_000_000_000;
const clock = {
  now: () => {
    now += 1000;
    return now;
  },
};
const dataFolder = await mkdtemp(join(tmpdir(), 'pilothouse-fixture-'));
const journal = await openJournal({ dataFolder, log, clock });

const history: NewRecord[] = everyHistoryEvent.map((event) => ({ stream: 'history', event }));
const control: NewRecord[] = everyControlEvent.map((event) => ({ stream: 'control', event }));
for (const record of [...history, ...control]) await journal.append(sessionId('every'), [record]);
await journal.append(sessionId('talk'), [
  created('/work/talk'),
  titled('A talk about “quotes”, \ud800 and 日本語'),
  prompted('Tell me about the lighthouse'),
  delta('The light'),
  delta('house is old.', 'm1', 9),
  replied(),
]);
await journal.append(sessionId('large'), [created('/work/large'), delta('blob '.repeat(110_000))]);
await journal.append(sessionId('deleted'), [created('/work/deleted')]);
await journal.deleteSession(sessionId('deleted'));
await journal.sessions({ limit: 1, text: 'everything is indexed now' });
await journal.close();

await mkdir(fileURLToPath(new URL('../../fixtures/journal/', import.meta.url)), {
  recursive: true,
});
await copyFile(join(dataFolder, 'sessions.db'), target);
await rm(dataFolder, { recursive: true });
console.log(`${target} made`);
