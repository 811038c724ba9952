import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openJournal } from '../../../src/core/journal/open-journal.ts';
import { startChild } from '../../support/journal/children.ts';
import { created, sessionId } from '../../support/journal/events.ts';
import {
  openTestJournal,
  recordingLog,
  temporaryFolder,
  tickingClock,
} from '../../support/journal/open.ts';

const options = (dataFolder: string) => ({
  dataFolder,
  log: recordingLog(),
  clock: tickingClock(),
});

describe('the lock of a data folder', () => {
  test('a second opener is told who holds it and what to do, in the same process too', async () => {
    const folder = await temporaryFolder();
    const journal = await openTestJournal(folder);
    for (let round = 0; round < 3; round += 1) {
      await expect(openJournal(options(folder))).rejects.toMatchObject({
        code: 'journal.locked',
        message: expect.stringMatching(
          new RegExp(`in use by process ${process.pid}\\..*PILOTHOUSE_HOME`),
        ),
        data: { pid: process.pid, folder },
      });
    }
    const child = startChild('race', folder);
    await child.next();
    child.send('go\n');
    expect(await child.next()).toMatchObject({ won: false, code: 'journal.locked' });
    // The refused ones took nothing away.
    await journal.append(sessionId('s'), [created()]);
    await journal.close();
    await openTestJournal(folder);
  });

  test('is free again after the holder was killed, and its name is not believed any more', async () => {
    const folder = await temporaryFolder();
    const child = startChild('race', folder);
    await child.next();
    child.send('go\n');
    expect(await child.next()).toMatchObject({ won: true });
    await expect(openJournal(options(folder))).rejects.toMatchObject({
      code: 'journal.locked',
      data: { pid: child.process.pid },
    });
    await child.kill('SIGKILL');
    const left = JSON.parse(await readFile(join(folder, 'host.json'), 'utf8')) as { pid: number };
    expect(left.pid).toBe(child.process.pid);
    const journal = await openTestJournal(folder);
    const now = JSON.parse(await readFile(join(folder, 'host.json'), 'utf8')) as { pid: number };
    expect(now.pid).toBe(process.pid);
    await journal.close();
  });

  test('a name left by another process, even one whose pid runs again, is not blamed', async () => {
    const folder = await temporaryFolder();
    const journal = await openTestJournal(folder);
    const path = join(folder, 'host.json');
    const holder = JSON.parse(await readFile(path, 'utf8')) as Record<string, unknown>;
    const reused = { ...holder, pid: process.ppid, startTicks: '1' };
    for (const text of [JSON.stringify(reused), 'not json', '{}', '[1]']) {
      await writeFile(path, text);
      await expect(openJournal(options(folder))).rejects.toMatchObject({
        code: 'journal.locked',
        message: expect.stringContaining('in use by another process'),
        data: { pid: null },
      });
    }
    await journal.close();
  });

  test('a waiting opener gets it as soon as the holder lets go', async () => {
    const folder = await temporaryFolder();
    const journal = await openTestJournal(folder);
    const waiting = openTestJournal(folder, { lockWaitMs: 20_000 });
    await journal.append(sessionId('s'), [created()]);
    await journal.close();
    expect(await (await waiting).session(sessionId('s'))).not.toBeNull();
  });

  test('of two processes that race for it exactly one wins, twenty times', async () => {
    const folder = await temporaryFolder();
    for (let round = 0; round < 20; round += 1) {
      // Every round but the first begins with what a killed holder left.
      const children = [startChild('race', folder), startChild('race', folder)];
      await Promise.all(children.map((child) => child.next()));
      for (const child of children) child.send('go\n');
      const results = await Promise.all(children.map((child) => child.next()));
      const winners = results.filter((result) => result['won'] === true);
      const losers = results.filter((result) => result['won'] === false);
      expect([winners.length, losers.length]).toEqual([1, 1]);
      expect(losers[0]).toMatchObject({
        code: 'journal.locked',
        data: { pid: winners[0]?.['pid'] },
      });
      await Promise.all(children.map((child) => child.kill()));
    }
  });
});
