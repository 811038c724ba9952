import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Client, LiveSession } from '../../../src/core/host/api.ts';
import { openHost, type RunningHost } from '../../../src/core/host/compose/open-host.ts';
import { createLog } from '../../../src/core/host/log/log.ts';
import { actor } from '../../support/journal/events.ts';
import { openTestJournal, temporaryFolder } from '../../support/journal/open.ts';

const client: Client = {
  key: 'test',
  actor,
  canReadFiles: false,
  canWriteFiles: false,
  readTextFile: async () => null,
  writeTextFile: async () => false,
};

async function hostIn(dataFolder: string): Promise<RunningHost['host']> {
  const log = createLog({ file: null, level: 'error', stderr: process.stderr });
  onTestFinished(() => log.dispose());
  const running = openHost({
    journal: await openTestJournal(dataFolder),
    dataFolder,
    environment: { ...process.env, PILOTHOUSE_SANDBOX: 'off' },
    defaultModel: null,
    version: '0.0.0',
    log,
  });
  onTestFinished(async () => {
    await running.close();
  });
  return running.host;
}

async function prompt(host: RunningHost['host'], session: LiveSession, text: string) {
  const content = [{ type: 'text', text } as const];
  const { terminal } = await session.prompt({ admission: host.admit(), content, actor });
  expect(terminal.kind).toBe('natural');
}

test('a session goes from one data folder to another and rolls on there', {
  timeout: 30_000,
}, async () => {
  const [from, to, cwd, elsewhere] = await Promise.all([1, 2, 3, 4].map(temporaryFolder));
  if (!from || !to || !cwd || !elsewhere) throw new Error('missing');
  await writeFile(join(cwd, 'note.txt'), 'a note');
  const first = await hostIn(from);
  const request = { cwd, additionalDirectories: [], mcpServers: [] };
  const session = await first.create(request, client);
  const { sessionId } = session;
  await prompt(first, session, 'read note.txt\nsay The lighthouse is white.\nfinish with Done.');
  const path = join(elsewhere, 'session.json');
  const out = await first.transfers.export(sessionId, 'json', path);
  expect(out.bytes).toBe((await readFile(path)).length);
  const markdown = await first.transfers.export(sessionId, 'markdown', undefined);
  expect(markdown.text).toContain(out.prefixHash);
  expect(markdown.text).toContain('The lighthouse is white.');

  const second = await hostIn(to);
  const changed: string[] = [];
  second.onDidChangeSession((id) => changed.push(id));
  const taken = await second.transfers.import({ path }, elsewhere);
  expect(taken).toMatchObject({ sessionId, prefixHash: out.prefixHash, events: out.events });
  expect(changed).toEqual([sessionId]);
  const { sessions } = await second.list({ text: 'lighthouse' });
  expect(sessions).toMatchObject([{ sessionId, cwd: elsewhere, prefixHash: out.prefixHash }]);
  expect(await second.verify(sessionId)).toEqual({ ok: true });
  expect(await second.history(sessionId, { limit: 10_000, all: true })).toEqual(
    await first.history(sessionId, { limit: out.events, all: true }),
  );
  const opened = await second.open(sessionId, {}, client);
  await prompt(second, opened, 'finish with Still here.');
  expect(await second.hashAt(sessionId, out.events)).toBe(out.prefixHash);
  expect(await second.verify(sessionId)).toEqual({ ok: true });
  expect(await second.transfers.import({ path }, undefined)).toMatchObject({ alreadyThere: true });
});
