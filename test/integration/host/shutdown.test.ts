import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Deferred } from '../../../src/base/deferred.ts';
import type { Client, LiveSession } from '../../../src/core/host/api.ts';
import { openHost, type RunningHost } from '../../../src/core/host/compose/open-host.ts';
import type { HostParts } from '../../../src/core/host/host-parts.ts';
import { createLog } from '../../../src/core/host/log/log.ts';
import type { ShutdownDeadlines } from '../../../src/core/host/shutdown/phases.ts';
import type { SessionId } from '../../../src/core/session/words.ts';
import { tempFolder } from '../../support/agent-core/agent-core.ts';
import { actor } from '../../support/journal/events.ts';
import { openTestJournal } from '../../support/journal/open.ts';

const forever = (): Promise<never> => new Promise(() => undefined);

/** Short enough to wait for, long enough for what does not hang. */
const DEADLINES: ShutdownDeadlines = {
  admission: 400,
  loop_drain: 1_500,
  delegates: 400,
  processes: 400,
  external: 400,
  checkpoints: 400,
  feeds: 100,
  journal: 1_500,
  lock: 500,
};

const client: Client = {
  key: 'test',
  actor,
  canReadFiles: false,
  canWriteFiles: false,
  readTextFile: async () => null,
  writeTextFile: async () => false,
};

type Rig = RunningHost & { readonly data: string; readonly open: () => Promise<LiveSession> };

/** A whole host on a real store, with something in it that hangs. */
async function aHost(wedge: (parts: HostParts) => HostParts): Promise<Rig> {
  const data = tempFolder('home');
  const log = createLog({ file: null, level: 'error', stderr: process.stderr });
  const journal = await openTestJournal(data);
  const running = openHost({
    journal,
    dataFolder: data,
    environment: { ...process.env, PILOTHOUSE_SANDBOX: 'off' },
    defaultModel: 'rehearsal/instant',
    version: '0.0.0',
    log,
    crashing: (parts) => wedge({ ...parts, deadlines: DEADLINES }),
  });
  onTestFinished(async () => {
    await running.close();
    log.dispose();
  });
  const open = (): Promise<LiveSession> => {
    const cwd = tempFolder('work');
    const request = { cwd, additionalDirectories: [], mcpServers: [] };
    return running.host.create(request, client);
  };
  return { ...running, data, open };
}

/** The first session's external tools can't be stopped. */
function firstHangs(parts: HostParts): HostParts {
  const { factory } = parts;
  let made = 0;
  return {
    ...parts,
    factory: {
      ...factory,
      externalTools: (...args) => {
        const tools = factory.externalTools(...args);
        made += 1;
        return made > 1 ? tools : replaced(tools, { stopCalls: forever, dispose: forever });
      },
    },
  };
}

/** The same object with some methods replaced. */
function replaced<T extends object>(target: T, methods: Partial<T>): T {
  return new Proxy(target, {
    get: (object, key) => {
      const value: unknown = Reflect.get(Object.hasOwn(methods, key) ? methods : object, key);
      return typeof value === 'function' ? value.bind(object) : value;
    },
  });
}

async function endOf(data: string, session: LiveSession): Promise<readonly string[]> {
  const journal = await openTestJournal(data);
  try {
    const records = await journal.readControl(session.sessionId, { limit: 1_000 });
    return records.flatMap(({ event }) => (event.type === 'session_closed' ? [event.type] : []));
  } finally {
    await journal.close();
  }
}

function prompt(host: Rig['host'], session: LiveSession, text: string): Promise<unknown> {
  const admission = host.admit();
  return session.prompt({ admission, content: [{ type: 'text', text }], actor });
}

describe('the end of a host', () => {
  it('leaves a session behind that can not be stopped, and ends the others and the store', async () => {
    const rig = await aHost(firstHangs);
    const [wedged, fine] = [await rig.open(), await rig.open()];
    const { timeouts } = await rig.close();
    expect(timeouts.map(({ phase, sessionId }) => [phase, sessionId])).toEqual([
      ['loop_drain', wedged.sessionId],
      ['external', wedged.sessionId],
    ]);
    expect(await endOf(rig.data, fine)).toEqual(['session_closed']);
    expect(await endOf(rig.data, wedged)).toEqual([]);
  });

  it('gives all who ask for it the same report', async () => {
    const rig = await aHost((parts) => parts);
    const session = await rig.open();
    const [one, two, three] = await Promise.all([
      rig.host.shutdown(),
      rig.host.shutdown(),
      rig.close(),
    ]);
    expect(two).toBe(one);
    expect(three).toEqual(one);
    expect(one.timeouts).toEqual([]);
    expect(await endOf(rig.data, session)).toEqual(['session_closed']);
  });

  it('refuses what is asked for while it comes and after it', async () => {
    const rig = await aHost((parts) => parts);
    const session = await rig.open();
    const ending = rig.close();
    const refused = expect.objectContaining({ code: 'host.closing' });
    await expect(rig.open()).rejects.toEqual(refused);
    await expect(prompt(rig.host, session, 'say hello')).rejects.toMatchObject({
      code: 'session.closed',
    });
    await ending;
    const { host } = rig;
    await expect(host.open(session.sessionId, {}, client)).rejects.toEqual(refused);
    await expect(host.list({})).rejects.toEqual(refused);
    await expect(host.describe(session.sessionId)).rejects.toEqual(refused);
    await expect(host.history(session.sessionId, { limit: 1 })).rejects.toEqual(refused);
    await expect(host.close(session.sessionId, actor)).rejects.toEqual(refused);
    await expect(host.delete(session.sessionId, actor)).rejects.toEqual(refused);
    await expect(prompt(host, session, 'say hello')).rejects.toMatchObject({
      code: 'session.closed',
    });
  });

  it('refuses a session that was being made when it began, and closes what was made of it', async () => {
    const made = new Deferred<SessionId>();
    const goOn = new Deferred<void>();
    const rig = await aHost((parts) => ({
      ...parts,
      deps: {
        ...parts.deps,
        journal: replaced(parts.deps.journal, {
          append: async (id, records) => {
            const stored = await parts.deps.journal.append(id, records);
            made.resolve(id);
            await goOn.promise;
            return stored;
          },
        }),
      },
    }));
    const opening = rig.open();
    const sessionId = await made.promise;
    const ending = rig.close();
    goOn.resolve();
    await expect(opening).rejects.toMatchObject({ code: 'host.closing' });
    expect((await ending).timeouts).toEqual([]);
    expect(rig.host.live(sessionId)).toBe(undefined);
    const journal = await openTestJournal(rig.data);
    const control = await journal.readControl(sessionId, { limit: 10 });
    expect(control.map(({ event }) => event.type)).toContain('session_closed');
  });

  it('fails what runs in a session that was left behind, which then records nothing any more', async () => {
    const kept = new Deferred<void>();
    const goOn = new Deferred<void>();
    const rig = await aHost((parts) => {
      const { factory } = parts;
      let isFirst = true;
      const checkpoints: typeof factory.checkpoints = (...args) => {
        const made = factory.checkpoints(...args);
        const keep: typeof made.keep = async (...files) => {
          const found = await made.keep(...files);
          if (!isFirst) return found;
          isFirst = false;
          kept.resolve();
          await goOn.promise;
          return found;
        };
        return replaced(made, { keep });
      };
      return { ...parts, factory: { ...factory, checkpoints } };
    });
    const { sessionId } = await rig.open();
    const keep = () =>
      rig.host.live(sessionId)?.session.checkpointWorkspace({ actor, agency: 'user' });
    const failed = expect(keep()).rejects.toMatchObject({ code: 'session.closed' });
    await kept.promise;
    await rig.host.close(sessionId, actor);
    // It can be opened again in the same process, and nothing of the old one gets in between.
    const again = await rig.host.open(sessionId, {}, client);
    goOn.resolve();
    await failed;
    await prompt(rig.host, again, 'say hello');
    const kinds = async () => {
      const history = await rig.host.history(sessionId, { limit: 100 });
      return history.filter(({ event }) => event.type === 'workspace_checkpointed').length;
    };
    expect(await kinds()).toBe(0);
    expect(await rig.host.verify(sessionId)).toEqual({ ok: true });
    // The one that is there now can be kept.
    await keep();
    expect(await kinds()).toBe(1);
  });
});

describe('the store', () => {
  it('that hangs is cut off, and the data folder is free when the end is over', async () => {
    const rig = await aHost((parts) => parts);
    await rig.open();
    const other = join(rig.data, 'sessions.db');
    const { DatabaseSync } = await import('node:sqlite');
    const holder = new DatabaseSync(other, { timeout: 1_000 });
    holder.exec('BEGIN IMMEDIATE');
    const { timeouts } = await rig.close();
    expect(timeouts.map(({ phase }) => phase)).toEqual(
      expect.arrayContaining(['loop_drain', 'journal']),
    );
    holder.exec('ROLLBACK');
    holder.close();
    const journal = await openTestJournal(rig.data, { lockWaitMs: 10_000 });
    await journal.close();
  });
});
