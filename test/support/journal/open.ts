import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import {
  type OpenJournal,
  type OpenJournalOptions,
  openJournal,
} from '../../../src/core/journal/open-journal.ts';
import type { Log } from '../../../src/core/session/ports.ts';

/** A log that keeps what it is told. */
export function recordingLog(): Log & { readonly lines: string[] } {
  const lines: string[] = [];
  const keep =
    (level: string) =>
    (message: string): void => {
      lines.push(`${level} ${message}`);
    };
  return {
    lines,
    debug: keep('debug'),
    info: keep('info'),
    warn: keep('warn'),
    error: keep('error'),
  };
}

/** A folder that is gone when the test is over. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'pilothouse-journal-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** A clock that goes one millisecond further with each look. */
export function tickingClock(start = 1_700_000_000_000): { now(): number; set(at: number): void } {
  let at = start;
  return {
    now: () => {
      at += 1;
      return at;
    },
    set: (value) => {
      at = value;
    },
  };
}

/** A journal that is closed when the test is over. */
export async function openTestJournal(
  dataFolder: string,
  options: Partial<OpenJournalOptions> = {},
): Promise<OpenJournal> {
  const journal = await openJournal({
    dataFolder,
    log: recordingLog(),
    clock: tickingClock(),
    ...options,
  });
  onTestFinished(() => journal.close());
  return journal;
}
