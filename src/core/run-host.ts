import { closeSync, writeSync } from 'node:fs';
import { Deferred } from '../base/deferred.ts';
import { codeOf, isCoded, messageOf } from '../base/errors.ts';
import { HOST_LINK_VERSION } from '../protocol/host-link.ts';
import { serveAcp } from './acp/serve-acp.ts';
import { type HostStart, REPORT_FD_VARIABLE, START_REPORT_FD } from './door/start-host.ts';
import { acpExtensions } from './host/compose/acp-extensions.ts';
import { endAtOnce, onTermination } from './host/compose/lifetime.ts';
import { openHost, type RunningHost } from './host/compose/open-host.ts';
import { Transcripts } from './host/compose/transcripts.ts';
import type { FileLog } from './host/log/log.ts';
import { randomIds, systemClock } from './host/node-ports.ts';
import { watchEndpoint } from './host/process/endpoint-watch.ts';
import { IdleWatch, idleMs } from './host/process/idle.ts';
import { type Listener, listen } from './host/process/listener.ts';
import { otherHostCame } from './host/process/other-host.ts';
import { crashPoints, keepSmall } from './host/process/process-setup.ts';
import { Visitors } from './host/process/visitors.ts';
import { SHUTDOWN_DEADLINES, shutdownMs } from './host/shutdown/phases.ts';
import { type OpenJournal, startJournal } from './journal/open-journal.ts';
import { liveEndpoint, readEndpoint, removeEndpoint, writeEndpoint } from './link/endpoint-file.ts';
import { ownMark } from './link/process-facts.ts';
import { VERSION } from './version.ts';

/** An agent-core that reloads or ends lets go of the data folder in this time. */
const LOCK_WAIT_MS = 2_500;
/** A host that ends does so in this time. */
const ENDING_WAIT_MS = shutdownMs(SHUTDOWN_DEADLINES) + LOCK_WAIT_MS;

/** What a host's process is started with. */
export type RunHostOptions = {
  readonly dataFolder: string;
  readonly defaultModel: string | null;
  readonly log: FileLog;
};

/**
 * Is the host of a data folder until somebody ends it or nobody needs it. Says over the report descriptor how the
 * start went. Rejects with what kept it from starting, after it was said.
 */
export async function runHost(options: RunHostOptions): Promise<void> {
  const { dataFolder, log } = options;
  const report = reporter();
  try {
    const journal = await openStore(options);
    if (journal === null) {
      report({ kind: 'exists' });
      return;
    }
    await new HostProcess(options, journal).run(() => report({ kind: 'ready' }));
  } catch (failure) {
    log.error('The session host could not start', { error: messageOf(failure) });
    if (isHeldByHost(failure)) report({ kind: 'exists' });
    else {
      const code = codeOf(failure) ?? 'host.failed';
      report({ kind: 'failed', code, message: messageOf(failure) });
    }
    throw failure;
  } finally {
    log.info('The session host has ended', { dataFolder });
  }
}

/** One that starts, or whose word in the folder is gone for a moment, can be reached soon. */
function isHeldByHost(failure: unknown): boolean {
  return isCoded(failure) && failure.code === 'journal.locked' && failure.data['isHost'] === true;
}

/** Null if another host came up first and can be reached; this process has to end then. */
async function openStore({ dataFolder, log }: RunHostOptions): Promise<OpenJournal | null> {
  const isEnding = liveEndpoint(dataFolder)?.isClosing === true;
  const lockWaitMs = isEnding ? ENDING_WAIT_MS : LOCK_WAIT_MS;
  const store = startJournal({ dataFolder, log, clock: systemClock, lockWaitMs, isHost: true });
  const other = otherHostCame(dataFolder, VERSION);
  try {
    const opened = store.opened.then(() => true);
    // Who loses is not waited for: the end of the process ends its try for the lock.
    opened.catch(() => undefined);
    return (await Promise.race([opened, other.came])) ? store.journal : null;
  } finally {
    other.dispose();
  }
}

/**
 * Says one line to the door that started this process. In one that was started by hand the descriptor may be anything;
 * a door that is gone needs no line.
 */
function reporter(): (start: HostStart) => void {
  let isHeard = process.env[REPORT_FD_VARIABLE] === String(START_REPORT_FD);
  delete process.env[REPORT_FD_VARIABLE];
  return (start) => {
    if (!isHeard) return;
    isHeard = false;
    try {
      writeSync(START_REPORT_FD, `${JSON.stringify(start)}\n`);
      closeSync(START_REPORT_FD);
    } catch {
      // The door is gone.
    }
  };
}

class HostProcess {
  readonly #options: RunHostOptions;
  readonly #journal: OpenJournal;
  readonly #token = randomIds.secret();
  readonly #stopped = new Deferred<void>();

  constructor(options: RunHostOptions, journal: OpenJournal) {
    this.#options = options;
    this.#journal = journal;
  }

  /** `onReady` is called when doors can come. */
  async run(onReady: () => void): Promise<void> {
    const { log, dataFolder, defaultModel } = this.#options;
    const crashing = await crashPoints(process.env['CRASH_AT']);
    const running = openHost({
      journal: this.#journal,
      dataFolder,
      environment: process.env,
      defaultModel,
      version: VERSION,
      log,
      leavesQuestions: true,
      ...crashing,
    });
    process.on('exit', () => running.killAll());
    onTermination(() => this.#stopped.resolve());
    const transcripts = new Transcripts(running.host, systemClock, log);
    const visitors = this.#visitors(running, transcripts);
    try {
      this.#listener = await this.#listen(visitors);
      this.#announce(false);
      keepSmall();
      onReady();
      log.info('The session host is ready', { pid: process.pid, version: VERSION });
      await this.#untilStopped(running, visitors);
    } finally {
      await this.#end(running, visitors);
      transcripts.dispose();
    }
  }

  #visitors(running: RunningHost, transcripts: Transcripts): Visitors {
    const { log } = this.#options;
    const startedAt = systemClock.now();
    const extensions = acpExtensions({
      ...this.#options,
      ...running,
      journal: this.#journal,
      transcripts,
    });
    const hostFacts = { pid: process.pid, version: VERSION, startedAt, inProcess: false };
    return new Visitors({
      self: {
        version: VERSION,
        startedAt,
        activity: () => running.host.activity(),
        isBroken: () => this.#journal.fault !== null,
      },
      serve: (port, { model, keys, environment, remote, ceiling }) => {
        if (remote !== true) running.models.addEnvironment(environment);
        return serveAcp({
          port,
          host: running.host,
          extensions,
          log,
          clock: systemClock,
          ids: randomIds,
          agentVersion: VERSION,
          keys,
          ...(ceiling === undefined ? {} : { ceiling }),
          hostFacts,
          onDetach: 'keep',
          origin: { model, environment },
        });
      },
      onStop: () => this.#stopped.resolve(),
      onChange: () => this.#idle?.look(),
    });
  }

  #idle: IdleWatch | null = null;
  #listener: Listener | null = null;
  #isEnding = false;

  #listen(visitors: Visitors): Promise<Listener> {
    const { log, dataFolder } = this.#options;
    return listen({
      dataFolder,
      token: this.#token,
      onHello: (hello, socket) => visitors.hello(hello, socket),
      log,
    });
  }

  #announce(isClosing: boolean): void {
    if (this.#listener === null) return;
    const { endpoint } = this.#listener;
    const known = { link: HOST_LINK_VERSION, version: VERSION, endpoint, token: this.#token };
    writeEndpoint(this.#options.dataFolder, { ...ownMark(), ...known, isClosing });
  }

  /** Whoever cleaned up took the way to this host with it. */
  async #showAgain(visitors: Visitors): Promise<void> {
    const { log } = this.#options;
    try {
      const old = this.#listener;
      if (old?.isReachable() === false) {
        const fresh = await this.#listen(visitors);
        if (this.#isEnding) {
          fresh.close();
          return;
        }
        this.#listener = fresh;
        old.close();
      }
      if (this.#isEnding) return;
      this.#announce(false);
      log.warn('The way to the session host was gone and is there again');
    } catch (failure) {
      log.warn('The way to the session host is gone', { error: messageOf(failure) });
    }
  }

  async #untilStopped(running: RunningHost, visitors: Visitors): Promise<void> {
    const { dataFolder, log } = this.#options;
    const stop = (why: string) => (): void => {
      log.info(why);
      this.#stopped.resolve();
    };
    const idle = new IdleWatch(
      idleMs(process.env),
      () => visitors.isNeeded,
      stop('Nobody has needed the session host for a while: it ends'),
    );
    this.#idle = idle;
    const changed = running.host.onDidChangeActivity(() => idle.look());
    const watch = watchEndpoint({
      dataFolder,
      token: this.#token,
      isReachable: () => this.#listener?.isReachable() === true,
      onUnfindable: () => this.#showAgain(visitors),
      onLost: stop('The data folder is gone: its session host ends'),
    });
    await this.#stopped.promise;
    changed.dispose();
    watch.dispose();
    idle.dispose();
  }

  /** Everything is bounded; what hangs all the same is cut off. */
  async #end(running: RunningHost, visitors: Visitors): Promise<void> {
    this.#isEnding = true;
    const cutOff = (): void => {
      running.killAll();
      endAtOnce();
    };
    const deadline = setTimeout(cutOff, ENDING_WAIT_MS);
    const { dataFolder, log } = this.#options;
    try {
      // What another host says in a folder that was lost is not touched.
      if (readEndpoint(dataFolder)?.token === this.#token) this.#announce(true);
    } catch (failure) {
      log.warn('The end of the host could not be announced', { error: messageOf(failure) });
    }
    this.#listener?.close();
    await visitors.close();
    const { timeouts } = await running.close();
    removeEndpoint(dataFolder, this.#token);
    if (timeouts.some(({ phase }) => phase === 'lock')) cutOff();
    visitors.dispose();
    clearTimeout(deadline);
  }
}
