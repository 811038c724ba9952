/**
 * A process that uses the store, for tests that kill it. Arguments: what to do and the data folder. It says on
 * stdout, one JSON a line, what happened.
 */
import { openJournal } from '../../../src/core/journal/open-journal.ts';
import type { Log } from '../../../src/core/session/ports.ts';
import { attached, created, delta, sessionId } from './events.ts';

const [what = '', dataFolder = ''] = process.argv.slice(2);
const silent = (): void => undefined;
const log: Log = { debug: silent, info: silent, warn: silent, error: silent };
const say = (value: unknown): void => {
  process.stdout.write(`${JSON.stringify(value)}\n`);
};

/** Appends without end to four sessions at once and says each record once it is acknowledged. */
async function append(): Promise<void> {
  const journal = await openJournal({ dataFolder, log, clock: Date });
  const run = async (name: string): Promise<void> => {
    const id = sessionId(name);
    for (let index = 0; ; index += 1) {
      const text = `${name}-${index}-${'x'.repeat(index % 7 === 0 ? 9000 : 40)}`;
      const first = index === 0 ? [created()] : [];
      const stored = await journal.append(id, [...first, delta(text), attached(text)]);
      say({ session: name, stored: stored.map(({ stream, record }) => [stream, record.hash]) });
    }
  };
  await Promise.all(['a', 'b', 'c', 'd'].map(run));
}

/** Tries to open at the moment that stdin says, and holds what it got until it is killed. */
async function race(): Promise<void> {
  say({ ready: true });
  await new Promise((resolve) => process.stdin.once('data', resolve));
  try {
    await openJournal({ dataFolder, log, clock: Date });
    say({ won: true, pid: process.pid });
    setInterval(silent, 1000);
  } catch (error) {
    const { code, data, message } = error as { code?: string; data?: unknown; message?: string };
    say({ won: false, code, data, message });
  }
}

/**
 * Writes to one session until that fails, then to another; says what came of it, waits for a line, and goes on with
 * the first.
 */
async function fill(): Promise<void> {
  const journal = await openJournal({ dataFolder, log, clock: Date });
  const [full, other] = [sessionId('full'), sessionId('other')];
  await journal.append(full, [created()]);
  await journal.append(other, [created()]);
  let kept = 0;
  const failed = async (): Promise<unknown> => {
    for (;;) {
      try {
        await journal.append(full, [delta('x'.repeat(40_000))]);
        kept += 1;
      } catch (error) {
        return error;
      }
    }
  };
  const { code, message } = (await failed()) as { code?: string; message?: string };
  say({ kept, code, message, fault: journal.fault?.code ?? null });
  await new Promise((resolve) => process.stdin.once('data', resolve));
  await journal.append(full, [delta('goes on')]);
  await journal.append(other, [delta('was never stopped')]);
  const verified = await journal.verify(full, 'history');
  await journal.close();
  say({ verified });
  process.stdin.destroy();
}

const TASKS: Readonly<Record<string, () => Promise<void>>> = { append, race, fill };
await TASKS[what]?.();
