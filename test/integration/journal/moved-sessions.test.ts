import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Client, LiveSession } from '../../../src/core/host/api.ts';
import { openHost } from '../../../src/core/host/compose/open-host.ts';
import { createLog } from '../../../src/core/host/log/log.ts';
import type { LocalSessionHost } from '../../../src/core/host/session-host.ts';
import type { OpenJournal } from '../../../src/core/journal/open-journal.ts';
import { HOST_STREAM } from '../../../src/core/session/ports.ts';
import type { SessionId } from '../../../src/core/session/words.ts';
import { actor } from '../../support/journal/events.ts';
import { openTestJournal, temporaryFolder } from '../../support/journal/open.ts';

const all = { limit: 1_000_000 };
const overwrite: readonly string[] = [];

function aClient(): Client {
  return {
    key: 'test',
    actor,
    canReadFiles: false,
    canWriteFiles: false,
    readTextFile: async () => null,
    writeTextFile: async () => false,
  };
}

type Rig = {
  readonly host: LocalSessionHost;
  readonly journal: OpenJournal;
  readonly close: () => Promise<void>;
};

/** A whole host on a real store. */
async function aHost(folder: string): Promise<Rig> {
  const log = createLog({ file: null, level: 'error', stderr: process.stderr });
  const journal = await openTestJournal(join(folder, 'data'));
  const running = openHost({
    journal,
    dataFolder: join(folder, 'data'),
    environment: { ...process.env, PILOTHOUSE_SANDBOX: 'off' },
    defaultModel: null,
    version: '0.0.0',
    log,
  });
  onTestFinished(async () => {
    await running.close();
    log.dispose();
  });
  return {
    host: running.host,
    journal,
    close: async () => {
      await running.close();
    },
  };
}

async function says(host: LocalSessionHost, session: LiveSession, text: string): Promise<void> {
  const { terminal } = await session.prompt({
    admission: host.admit(),
    content: [{ type: 'text', text: `finish with ${text}` }],
    actor,
  });
  expect(terminal.kind).toBe('natural');
}

async function create(host: LocalSessionHost, cwd: string, client = aClient()) {
  return host.create({ cwd, additionalDirectories: [], mcpServers: [] }, client);
}

async function outcomes(journal: OpenJournal, id: SessionId): Promise<readonly string[]> {
  return (await journal.readControl(id, all)).flatMap(({ event }) =>
    event.type === 'control_outcome' ? [`${event.receipt.method} ${event.receipt.outcome}`] : [],
  );
}

const text = async (host: LocalSessionHost, id: SessionId, everything = false): Promise<string> =>
  JSON.stringify(await host.history(id, { ...all, all: everything }));

describe('a session whose history moved', () => {
  test('is read, paged and loaded along its current branch; everything is there for who asks', {
    timeout: 60_000,
  }, async () => {
    const folder = await temporaryFolder();
    const first = await aHost(folder);
    const session = await create(first.host, folder);
    const id = session.sessionId;
    for (const word of ['alpha', 'beta', 'gamma']) await says(first.host, session, word);
    const { snapshot, subscription } = session.subscribe(() => undefined);
    subscription.dispose();
    const back = await first.host.controls.rollback({ sessionId: id, actor }, { overwrite });
    await says(first.host, session, 'sigma');

    const check = async ({ host, journal }: Rig): Promise<void> => {
      const branch = await host.history(id, all);
      const shown = JSON.stringify(branch);
      for (const word of ['alpha', 'beta', 'sigma']) expect(shown).toContain(word);
      expect(shown).not.toContain('gamma');
      expect(await text(host, id, true)).toContain('gamma');
      const old = await host.history(id, { ...all, tip: snapshot.lastEventId });
      expect(old.map(({ seq }) => seq)).toEqual(
        Array.from({ length: snapshot.lastEventId }, (_, index) => index + 1),
      );
      for (const newestFirst of [false, true]) {
        const paged: number[] = [];
        for (;;) {
          const from = paged.at(-1);
          const step = (at: number) => (newestFirst ? { before: at } : { after: at });
          const page = await host.history(id, {
            limit: 7,
            newestFirst,
            ...(from === undefined ? {} : step(from)),
          });
          if (page.length === 0) break;
          paged.push(...page.map(({ seq }) => seq));
        }
        const expected = branch.map(({ seq }) => seq);
        expect(newestFirst ? paged.reverse() : paged).toEqual(expected);
      }
      const middle = branch[Math.floor(branch.length / 2)]?.seq ?? 0;
      const around = await host.history(id, { after: middle - 3, before: middle + 3, limit: 100 });
      expect(around.every(({ seq }) => seq > middle - 3 && seq < middle + 3)).toBe(true);
      expect(await host.verify(id)).toMatchObject({ ok: true });
      expect(await journal.hashAt(id, back.lastEventId)).toBe(back.prefixHash);
    };
    await check(first);
    const described = await first.host.describe(id);
    await first.close();

    const second = await aHost(folder);
    await check(second);
    const again = await second.host.open(id, {}, aClient());
    expect(again.describe()).toMatchObject({
      lastEventId: described?.lastEventId,
      prefixHash: described?.prefixHash,
    });
    await check(second);
    await second.host.controls.rollback({ sessionId: id, actor }, { overwrite });
    expect(await text(second.host, id)).not.toContain('sigma');
    await second.host.controls.redo({ sessionId: id, actor }, { overwrite });
    expect(await text(second.host, id)).toContain('sigma');
  });

  test('need not be open: it is brought to life for the control alone', {
    timeout: 60_000,
  }, async () => {
    const folder = await temporaryFolder();
    const first = await aHost(folder);
    const session = await create(first.host, folder);
    const id = session.sessionId;
    await says(first.host, session, 'alpha');
    await says(first.host, session, 'beta');
    await first.close();

    const { host, journal } = await aHost(folder);
    const target = { sessionId: id, actor };
    const back = await host.controls.rollback(target, { overwrite });
    expect(host.live(id)).toBeUndefined();
    expect(await text(host, id)).not.toContain('beta');
    const [first2, second] = await Promise.all([
      host.controls.redo(target, { overwrite }),
      host.controls.rollback(target, { overwrite }),
    ]);
    expect([first2.status, second.status]).toEqual(['redone', 'rolled_back']);
    expect(host.live(id)).toBeUndefined();
    expect(await host.controls.checkpoints(id)).toMatchObject([
      { state: 'stack' },
      { state: 'redo', checkpointId: back.checkpointId },
    ]);
    expect(await outcomes(journal, id)).toEqual([
      'session/rollback rolled_back',
      'session/redo redone',
      'session/rollback rolled_back',
    ]);
    await expect(host.controls.planRestore(id, { kind: 'rollback' })).rejects.toMatchObject({
      refusal: 'unknown_session',
    });
    expect(await host.verify(id)).toMatchObject({ ok: true });
  });
});

describe('forks', () => {
  test('go their own way, whether their parent is open or not, and survive a restart', {
    timeout: 60_000,
  }, async () => {
    const folder = await temporaryFolder();
    const first = await aHost(folder);
    const parent = await create(first.host, folder);
    await says(first.host, parent, 'alpha');
    await says(first.host, parent, 'beta');
    const target = { sessionId: parent.sessionId, actor };
    const { session: child } = await first.host.controls.fork(
      target,
      { at: { keepFirst: 2 }, id: 'child' },
      aClient(),
    );
    await says(first.host, child, 'gamma');
    await says(first.host, parent, 'sigma');
    expect(await text(first.host, child.sessionId)).not.toMatch(/beta|sigma/);
    expect(await text(first.host, parent.sessionId)).not.toContain('gamma');
    await expect(
      first.host.controls.fork(target, { at: { whole: true }, id: 'child' }, aClient()),
    ).rejects.toMatchObject({ refusal: 'session_exists' });
    await first.close();

    const second = await aHost(folder);
    const { session: other } = await second.host.controls.fork(
      target,
      { at: { whole: true } },
      aClient(),
    );
    expect(second.host.live(parent.sessionId)).toBeUndefined();
    expect(await text(second.host, other.sessionId)).toContain('sigma');
    await says(second.host, other, 'epsilon');
    expect(await second.host.verify(other.sessionId)).toMatchObject({ ok: true });
    expect(await second.host.history('child' as SessionId, all)).not.toHaveLength(0);
    expect(await outcomes(second.journal, parent.sessionId)).toEqual([
      'session/fork forked',
      'session/fork session_exists',
      'session/fork forked',
    ]);
    await expect(
      second.host.controls.fork({ sessionId: 'nobody', actor }, { at: { whole: true } }, aClient()),
    ).rejects.toMatchObject({ refusal: 'unknown_session' });
  });
});

describe('receipts of controls that are as old as the host', () => {
  test('are one each, in the session or, if it is not here, in the stream of the host', async () => {
    const folder = await temporaryFolder();
    const { host, journal } = await aHost(folder);
    const session = await create(host, folder);
    const id = session.sessionId;
    const nobody = 'nobody' as SessionId;
    await host.cancel(id, host.admit(), actor).receipt;
    await host.cancel(nobody, host.admit(), actor).receipt;
    await expect(host.close(nobody, actor)).rejects.toMatchObject({ code: 'host.unknown_session' });
    await host.close(id, actor);
    await host.close(id, actor);
    expect(await outcomes(journal, id)).toEqual([
      'session/cancel already_cancelled',
      'session/close closed',
      'session/close already_closed',
    ]);
    await host.delete(id, actor);
    await host.delete(id, actor);
    expect(await outcomes(journal, HOST_STREAM)).toEqual([
      'session/cancel unknown_session',
      'session/close unknown_session',
      'session/delete deleted',
      'session/delete already_deleted',
    ]);
    expect((await host.list({})).sessions).toEqual([]);
    await expect(host.open(HOST_STREAM, {}, aClient())).rejects.toMatchObject({
      code: 'host.unknown_session',
    });
    await expect(host.history(HOST_STREAM, all)).rejects.toMatchObject({
      code: 'host.unknown_session',
    });
    await host.delete(HOST_STREAM, actor);
    expect((await outcomes(journal, HOST_STREAM)).length).toBe(5);
    expect((await host.controls.receipts({})).receipts).toHaveLength(5);
  });
});

test('a move whose record was changed is named by verify', { timeout: 30_000 }, async () => {
  const folder = await temporaryFolder();
  const first = await aHost(folder);
  const session = await create(first.host, folder);
  await says(first.host, session, 'alpha');
  const back = await first.host.controls.rollback(
    { sessionId: session.sessionId, actor },
    { overwrite },
  );
  await first.close();
  const database = new DatabaseSync(join(folder, 'data', 'sessions.db'));
  database.exec(
    `UPDATE records SET body = replace(body, '"to":', '"to":1') WHERE type = 'history_moved'`,
  );
  database.close();
  const { host } = await aHost(folder);
  expect(await host.verify(session.sessionId)).toMatchObject({
    ok: false,
    eventId: back.lastEventId,
  });
});
