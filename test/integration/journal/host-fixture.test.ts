import { copyFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Client } from '../../../src/core/host/api.ts';
import { openHost, type RunningHost } from '../../../src/core/host/compose/open-host.ts';
import { foldSession } from '../../../src/core/host/fold-session.ts';
import { createLog } from '../../../src/core/host/log/log.ts';
import type { SessionRow } from '../../../src/core/session/ports.ts';
import { actor } from '../../support/journal/events.ts';
import { openTestJournal, temporaryFolder } from '../../support/journal/open.ts';

const fixtures = fileURLToPath(new URL('../../fixtures/journal/', import.meta.url));
const all = { limit: 1_000_000 };

const client: Client = {
  key: 'test',
  actor,
  canReadFiles: false,
  canWriteFiles: false,
  readTextFile: async () => null,
  writeTextFile: async () => false,
};

/** What fixtures hold since there are controls, in the order of the list: the last one was closed in good order. */
const ALSO = ['say wait for me', 'ask Which way?', 'write parked.md: Parked', 'say steer me'];

function sessionOf(rows: readonly SessionRow[], title: string): SessionRow['sessionId'] {
  const row = rows.find((one) => one.title === title);
  if (row === undefined) throw new Error(`There is no session "${title}".`);
  return row.sessionId;
}

/** A copy of a fixture, open. */
async function opened(name: string) {
  const folder = await temporaryFolder();
  await copyFile(join(fixtures, name), join(folder, 'sessions.db'));
  return { folder, journal: await openTestJournal(folder) };
}

describe('real sessions of earlier issues', async () => {
  const names = (await readdir(fixtures)).filter((name) => /^issue-\d+\.db$/u.test(name));

  test('are there', () => {
    expect(names).toEqual(expect.arrayContaining(['issue-2.db', 'issue-3.db', 'issue-4.db']));
  });

  test.each(names)('%s: every session verifies, folds and can be searched', async (name) => {
    const { journal } = await opened(name);
    const { rows } = await journal.sessions({ limit: 10 });
    expect(rows.map(({ title }) => title)).toEqual([
      'say one',
      'say A large picture of the lighthouse.',
      'think The keeper is gone.',
      ...(name === 'issue-2.db' ? [] : ALSO),
    ]);
    for (const { sessionId, lastEventId, prefixHash } of rows) {
      expect(await journal.verify(sessionId, 'history')).toEqual({
        ok: true,
        records: lastEventId,
        hash: prefixHash,
      });
      expect(await journal.verify(sessionId, 'control')).toMatchObject({ ok: true });
      expect(await journal.hashAt(sessionId, lastEventId)).toBe(prefixHash);
      const { conversation, state } = await foldSession(journal, sessionId);
      expect(conversation.messages.length).toBeGreaterThan(0);
      expect(state.config.model).toBe('rehearsal/script');
    }
    const [cut, large, work] = rows.map(({ sessionId }) => sessionId);
    if (cut === undefined || large === undefined || work === undefined) throw new Error('missing');
    const folded = await Promise.all([cut, large, work].map((id) => foldSession(journal, id)));
    expect(folded.map(({ state }) => state.openTurn !== null)).toEqual([true, false, false]);
    expect(folded.map(({ conversation }) => conversation.openCalls.length)).toEqual([1, 0, 0]);
    const receipts = (await journal.readControl(work, all)).flatMap(({ event }) =>
      event.type === 'control_outcome' ? [event.receipt.outcome] : [],
    );
    expect(receipts).toEqual(['cancelled', 'already_cancelled', 'closed']);
    const picture = (await journal.readHistory(large, all)).find(
      ({ event }) => event.type === 'turn_started',
    );
    expect(JSON.stringify(picture).length).toBeGreaterThan(512 * 1024);
    expect((await journal.sessions({ limit: 5, text: 'keeper' })).rows).toHaveLength(1);
  });

  test.each(names)(
    '%s: every session comes to life and takes a prompt',
    { timeout: 30_000 },
    async (name) => {
      const { folder, journal } = await opened(name);
      const log = createLog({ file: null, level: 'error', stderr: process.stderr });
      onTestFinished(() => log.dispose());
      const running: RunningHost = openHost({
        journal,
        dataFolder: folder,
        environment: { ...process.env, PILOTHOUSE_SANDBOX: 'off' },
        defaultModel: null,
        version: '0.0.0',
        log,
      });
      onTestFinished(async () => {
        await running.close();
      });
      const { host } = running;
      const { sessions } = await host.list({});
      for (const { sessionId, lastEventId } of sessions) {
        const before = await host.history(sessionId, all);
        const session = await host.open(sessionId, { cwd: folder }, client);
        const loaded = await host.history(sessionId, all);
        // What was rolled back is not part of it.
        expect(loaded.filter(({ seq }) => seq <= lastEventId)).toEqual(before);
        // A turn that goes on at its open question, or what waited for it, is ended first.
        if (session.describe().activePrompt)
          await host.cancel(sessionId, host.admit(), actor).receipt;
        const outcome = await session.prompt({
          admission: host.admit(),
          content: [{ type: 'text', text: 'finish with Still here.' }],
          actor,
        });
        expect(outcome.terminal.kind).toBe('natural');
        expect(await host.verify(sessionId)).toEqual({ ok: true });
      }
    },
  );

  test('issue-3.db: what a crash found unfinished is folded as it was', async () => {
    const { journal } = await opened('issue-3.db');
    const { rows } = await journal.sessions({ limit: 10 });
    const folded = new Map(
      await Promise.all(
        rows.map(
          async ({ title, sessionId }) => [title, await foldSession(journal, sessionId)] as const,
        ),
      ),
    );
    const [waiting, asked, parked, steered] = ALSO.map((title) => folded.get(title));
    expect(asked?.state.openGates).toHaveLength(1);
    expect(parked?.state.openGates).toHaveLength(1);
    expect(parked?.state.openTurn).not.toBeNull();
    expect(waiting?.state.openTurn).not.toBeNull();
    expect(waiting?.nextTurns.view.items).toMatchObject([{ content: [{ text: 'say later' }] }]);
    expect(steered?.nextTurns.view).toMatchObject({
      paused: 'asked',
      items: [{ content: [{ text: 'say queued' }] }],
    });
    const said = JSON.stringify(steered?.conversation.messages);
    for (const text of ['say three', 'say five', 'Be short.']) expect(said).toContain(text);
    // A note is read by no model, a message that was taken back by nobody, and a rolled back turn is gone.
    for (const text of ['a note', 'say four', 'say six', 'finish with Lit']) {
      expect(said).not.toContain(text);
    }
    const receipts = (await journal.readControl(sessionOf(rows, 'say steer me'), all)).flatMap(
      ({ event }) => (event.type === 'control_outcome' ? [event.receipt.method] : []),
    );
    expect(receipts.filter((method) => method === 'session/inject')).toHaveLength(4);
    expect(receipts.filter((method) => method === 'session/rollback')).toHaveLength(2);
  });
});
