import { onTestFinished } from 'vitest';
import type { Client, LiveSession } from '../../../src/core/host/api.ts';
import { openHost, type RunningHost } from '../../../src/core/host/compose/open-host.ts';
import { createLog } from '../../../src/core/host/log/log.ts';
import type { OpenJournal } from '../../../src/core/journal/open-journal.ts';
import { actor } from './events.ts';

/** A client of the host without files of its own. */
export const hostClient: Client = {
  key: 'test',
  actor,
  canReadFiles: false,
  canWriteFiles: false,
  readTextFile: async () => null,
  writeTextFile: async () => false,
};

/** The real host on a journal; closed when the test is over. */
export function openTestHost(journal: OpenJournal): RunningHost {
  const log = createLog({ file: null, level: 'error', stderr: null });
  onTestFinished(() => log.dispose());
  const running = openHost({
    journal,
    dataFolder: journal.dataFolder,
    environment: { ...process.env, PILOTHOUSE_SANDBOX: 'off' },
    defaultModel: 'rehearsal/instant',
    version: '0.0.0',
    log,
  });
  onTestFinished(async () => {
    await running.close();
  });
  return running;
}

/** Runs one prompt; rejects as the session does. */
export function promptHost(
  { host }: RunningHost,
  session: LiveSession,
  text: string,
): ReturnType<LiveSession['prompt']> {
  return session.prompt({
    admission: host.admit(),
    content: [{ type: 'text', text }],
    actor,
  });
}
