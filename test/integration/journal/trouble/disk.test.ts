import { spawnSync } from 'node:child_process';
import { chmod, readdir, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { LiveSession } from '../../../../src/core/host/api.ts';
import type { OpenJournal } from '../../../../src/core/journal/open-journal.ts';
import { startChild } from '../../../support/journal/children.ts';
import { actor, created, delta, sessionId } from '../../../support/journal/events.ts';
import { hostClient, openTestHost, promptHost } from '../../../support/journal/host.ts';
import { openTestJournal, temporaryFolder } from '../../../support/journal/open.ts';

const all = { limit: 1_000_000 };
const [ballast, full, other] = ['ballast', 'full', 'other'].map(sessionId) as [
  ReturnType<typeof sessionId>,
  ReturnType<typeof sessionId>,
  ReturnType<typeof sessionId>,
];

/** Appends until it fails; what it failed with, and how many succeeded. */
async function fill(journal: OpenJournal, id = full): Promise<{ error: unknown; kept: number }> {
  for (let kept = 0; ; kept += 1) {
    try {
      await journal.append(id, [delta('x'.repeat(20_000))]);
    } catch (error) {
      return { error, kept };
    }
  }
}

describe('a full disk', () => {
  test('stops the session that met it: what was acknowledged is there, and with room it goes on', async () => {
    const folder = await temporaryFolder();
    const journal = await openTestJournal(folder, { maxPages: 100 });
    for (const id of [ballast, full, other]) await journal.append(id, [created()]);
    await journal.append(ballast, [delta('b'.repeat(100_000))]);
    const { error, kept } = await fill(journal);
    expect(error).toMatchObject({
      code: 'journal.fault',
      retryable: true,
      message: expect.stringMatching(/is full.*not saved.*Free some space/),
    });
    expect(kept).toBeGreaterThan(3);
    expect(journal.fault).toBeNull();
    expect(await journal.readHistory(full, all)).toHaveLength(1 + kept);
    expect(await journal.verify(full, 'history')).toMatchObject({ ok: true, records: 1 + kept });

    // The store itself is sound: what makes room still works, and then everybody may go on.
    expect(await journal.deleteSession(ballast)).toBe(true);
    await journal.append(other, [delta('beside it')]);
    await journal.append(full, [delta('goes on')]);
    expect(await journal.verify(full, 'history')).toMatchObject({ ok: true, records: 2 + kept });
    await journal.close();
    const again = await openTestJournal(folder);
    expect((await again.readHistory(full, all)).at(-1)?.event).toMatchObject({ text: 'goes on' });
  });

  test('keeps nothing of what failed, in a group either', async () => {
    const journal = await openTestJournal(await temporaryFolder(), { maxPages: 60 });
    await journal.append(full, [created()]);
    const results = await Promise.allSettled(
      Array.from({ length: 40 }, () => journal.append(full, [delta('x'.repeat(20_000))])),
    );
    const kept = results.filter(({ status }) => status === 'fulfilled').length;
    expect(kept).toBeLessThan(40);
    // No gap: after the first that failed, none succeeded.
    expect(results.findIndex(({ status }) => status === 'rejected')).toBe(kept);
    expect(await journal.readHistory(full, all)).toHaveLength(1 + kept);
  });

  test('ends a turn with a typed fault; the session goes on once it is opened anew and there is room', {
    timeout: 60_000,
  }, async () => {
    const folder = await temporaryFolder();
    const running = openTestHost(await openTestJournal(folder, { maxPages: 260 }));
    const { host } = running;
    const make = (): Promise<LiveSession> =>
      host.create({ cwd: folder, additionalDirectories: [], mcpServers: [] }, hostClient);
    const [heavy, work, beside] = [await make(), await make(), await make()];
    await promptHost(running, heavy, `say ${'b'.repeat(60_000)}`);
    await promptHost(running, work, 'say before');
    const fault = await promptHost(running, work, `say ${'w'.repeat(400_000)}`).then(
      () => null,
      (error: unknown) => error,
    );
    expect(fault).toMatchObject({
      code: 'journal.fault',
      message: expect.stringMatching(/is full.*Free some space.*open it again/),
    });
    await host.delete(heavy.sessionId, actor);
    // There is room again. Who was not hit knows of nothing; who was stays stopped until it is opened again.
    expect(await promptHost(running, beside, 'say beside')).toMatchObject({
      terminal: { kind: 'natural' },
    });
    await expect(promptHost(running, work, 'say no')).rejects.toMatchObject({
      code: 'journal.fault',
    });
    const reopened = await host.open(work.sessionId, { cwd: folder }, hostClient);
    expect(await promptHost(running, reopened, 'say after')).toMatchObject({
      terminal: { kind: 'natural' },
    });
    const texts = (await host.history(work.sessionId, all)).flatMap(({ event }) =>
      event.type === 'message_delta' ? [event.text] : [],
    );
    expect(texts[0]).toBe('before');
    expect(texts).toContain('after');
    expect(await host.verify(work.sessionId)).toEqual({ ok: true });
  });

  test.runIf(process.platform === 'linux' && spawnSync('prlimit', ['--version']).status === 0)(
    'met for real, by files that may not grow: the same, and it goes on when they may',
    { timeout: 60_000 },
    async () => {
      const child = startChild('fill', await temporaryFolder(), { maxFileKiB: 400 });
      const met = await child.next();
      expect(met).toMatchObject({ code: 'journal.fault', fault: null });
      expect(met['message']).toMatch(/not saved; all before it is\./);
      expect(met['kept']).toBeGreaterThan(0);
      spawnSync('prlimit', ['--pid', String(child.process.pid), '--fsize=unlimited:unlimited']);
      child.send('go on\n');
      expect(await child.next()).toEqual({
        verified: { ok: true, records: Number(met['kept']) + 2, hash: expect.any(String) },
      });
    },
  );
});

describe('a folder that is not to be written', () => {
  test('is refused when it is opened, with what to do, and nothing in it changes', async () => {
    const folder = await temporaryFolder();
    const journal = await openTestJournal(folder);
    await journal.append(full, [created()]);
    await journal.close();
    const before = await readFile(join(folder, 'sessions.db'));
    for (const name of await readdir(folder)) await chmod(join(folder, name), 0o444);
    await chmod(folder, 0o555);
    const child = startChild('race', folder, { asNobody: true });
    await child.next();
    child.send('go\n');
    expect(await child.next()).toMatchObject({
      won: false,
      code: 'journal.fault',
      message: expect.stringMatching(/can't write to.*writable, or set PILOTHOUSE_HOME.*restart/),
    });
    await chmod(folder, 0o755);
    expect((await readFile(join(folder, 'sessions.db'))).equals(before)).toBe(true);
  });

  test('a database that is moved away while it is used is said so, and put back it goes on', async () => {
    const folder = await temporaryFolder();
    // With a log SQLite looks for the file no more once it is open.
    const journal = await openTestJournal(folder, { journalMode: 'delete' });
    await journal.append(full, [created()]);
    await rename(join(folder, 'sessions.db'), join(folder, 'away.db'));
    await expect(journal.append(full, [delta('lost')])).rejects.toMatchObject({
      code: 'journal.fault',
      message: expect.stringMatching(/was moved or deleted.*Put it back/),
    });
    await rename(join(folder, 'away.db'), join(folder, 'sessions.db'));
    await journal.append(full, [delta('goes on')]);
    await journal.close();
    const again = await openTestJournal(folder);
    expect((await again.readHistory(full, all)).map(({ event }) => event.type)).toEqual([
      'session_created',
      'message_delta',
    ]);
  });
});
