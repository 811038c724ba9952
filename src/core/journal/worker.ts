import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { assertNever } from '../../base/assert-never.ts';
import { isObject } from '../../base/json.ts';
import { JournalError, toErrorShape } from './errors.ts';
import type { ChangeResult } from './store/appender.ts';
import type { Sliced } from './store/reader.ts';
import { jobOf, Scheduler } from './store/scheduler.ts';
import { faultOf, isDamage } from './store/sqlite-errors.ts';
import { openStore, type Store } from './store/store.ts';
import type {
  ImportAnswer,
  ImportStep,
  WorkerReply,
  WorkerRequest,
  WorkerSettings,
} from './worker-protocol.ts';

/** The thread that does all work on the session database, so that a slow disk stops nobody else. */

/** Quiet time before new messages are indexed: an index commit never stands between two appends of a stream. */
const INDEX_DELAY_MS = 150;

/**
 * Parts of an answer that may be on their way: the receiver is never buried in them, and what else it is told (an
 * append that is durable) stands behind a few at most.
 */
const MAX_PARTS_AHEAD = 2;

/** Records after which a message is complete and can be found. */
const INDEXED_AFTER = new Set(['turn_started', 'model_replied', 'turn_ended', 'title_changed']);

class Writer {
  readonly #store: Store;
  readonly #folder: string;
  readonly #post: (reply: WorkerReply) => void;
  readonly #scheduler: Scheduler;
  /** Parts that were sent and not taken in yet, by request. */
  readonly #ahead = new Map<number, number>();
  #indexTimer: NodeJS.Timeout | null = null;
  #closing = false;

  constructor(store: Store, folder: string, post: (reply: WorkerReply) => void) {
    this.#store = store;
    this.#folder = folder;
    this.#post = post;
    this.#scheduler = new Scheduler(
      (group) => store.committer.commit(group),
      () => this.#stopIndexing(),
    );
    store.onReopened(() => this.#beginBackground());
    this.#beginBackground();
  }

  #beginBackground(): void {
    this.#runInBackground(this.#store.deleter.removeHidden());
    this.#indexSoon();
  }

  /** Commits what was handled so far. */
  commit(): void {
    this.#scheduler.commitNow();
  }

  handle(request: WorkerRequest): void {
    const { id } = request;
    switch (request.op) {
      case 'append':
        this.#append(request);
        return;
      case 'read':
        this.#run(id, this.#store.reader.read(request.args));
        return;
      case 'list':
        this.#run(id, this.#store.lister.list(request.args));
        return;
      case 'verify':
        this.#run(id, this.#store.verifier.verify(request.args.sessionId, request.args.stream));
        return;
      case 'moves':
        this.#answer(id, () => this.#store.reader.moves(request.args.sessionId));
        return;
      case 'session':
        this.#answer(id, () => this.#store.reader.session(request.args.sessionId));
        return;
      case 'delegates':
        this.#answer(id, () => this.#store.reader.delegates(request.args.sessionId));
        return;
      case 'hashAt':
        this.#answer(id, () => this.#store.reader.hashAt(request.args.sessionId, request.args.seq));
        return;
      case 'delete':
        this.#delete(id, request.args.sessionId);
        return;
      case 'import':
        if (request.args.step === 'abort') this.#run(id, this.#abortImport(request.args));
        else this.#answer(id, () => this.#import(request.args));
        return;
      case 'taken':
        this.#taken(id);
        return;
      case 'close':
        this.#close(id);
        return;
      default:
        assertNever(request);
    }
  }

  #append({ id, args }: Extract<WorkerRequest, { op: 'append' }>): void {
    const settle = (result: ChangeResult): void => {
      if (!result.ok) {
        this.#fail(id, result.error);
        return;
      }
      this.#post({ kind: 'result', id, value: result.placed });
      if (args.records.some(({ type }) => INDEXED_AFTER.has(type))) this.#touch(args.sessionId);
    };
    this.#scheduler.change({ change: { kind: 'append', ...args }, settle });
  }

  #delete(id: number, sessionId: string): void {
    const settle = (result: ChangeResult): void => {
      if (result.ok) this.#run(id, this.#removeHidden());
      else if (result.error.code === 'journal.unknown_session') {
        this.#post({ kind: 'result', id, value: false });
      } else this.#fail(id, result.error);
    };
    this.#scheduler.change({ change: { kind: 'hide', sessionId }, settle });
  }

  #import(step: ImportStep): ImportAnswer {
    const answer = this.#store.importer.step(step);
    for (const n of answer.loops ?? []) this.#store.search.touch(n);
    if (step.step === 'finish') this.#indexSoon();
    return answer;
  }

  *#abortImport(step: ImportStep): Sliced<undefined, ImportAnswer> {
    const answer = this.#store.importer.step(step);
    yield* this.#store.deleter.removeHidden();
    return answer;
  }

  *#removeHidden(): Sliced<undefined, boolean> {
    yield* this.#store.deleter.removeHidden();
    return true;
  }

  /** A read of one row needs no slices, but it waits its turn behind the appends made before it. */
  #answer(id: number, read: () => unknown): void {
    this.#scheduler.start({
      isReady: () => true,
      step: () => {
        try {
          this.#post({ kind: 'result', id, value: read() });
        } catch (error) {
          this.#failRead(id, error);
        }
        return true;
      },
    });
  }

  #run(id: number, work: Sliced<unknown, unknown>): void {
    this.#ahead.set(id, 0);
    this.#scheduler.start(
      jobOf(work, {
        isReady: () => (this.#ahead.get(id) ?? 0) < MAX_PARTS_AHEAD,
        part: (value) => {
          if (value === undefined) return;
          this.#ahead.set(id, (this.#ahead.get(id) ?? 0) + 1);
          this.#post({ kind: 'part', id, value });
        },
        result: (value) => {
          this.#ahead.delete(id);
          this.#post({ kind: 'result', id, value });
        },
        failed: (error) => {
          this.#ahead.delete(id);
          this.#failRead(id, error);
        },
      }),
    );
  }

  #taken(id: number): void {
    const ahead = this.#ahead.get(id);
    if (ahead === undefined) return;
    this.#ahead.set(id, ahead - 1);
    this.#scheduler.wake();
  }

  #runInBackground(work: Sliced<undefined, void>): void {
    this.#scheduler.start(
      jobOf(work, {
        part: () => undefined,
        result: () => undefined,
        failed: (error) => {
          const fault = faultOf(error, this.#folder);
          if (isDamage(error)) this.#scheduler.latch(fault);
          const latched = this.#scheduler.fault !== null;
          this.#post({ kind: 'trouble', error: toErrorShape(fault), latched });
        },
      }),
    );
  }

  #failRead(id: number, error: unknown): void {
    const fault = faultOf(error, this.#folder);
    if (isDamage(error)) this.#scheduler.latch(fault);
    this.#fail(id, fault);
  }

  #fail(id: number, error: JournalError): void {
    const latched = this.#scheduler.fault !== null;
    this.#post({ kind: 'error', id, error: toErrorShape(error), latched });
  }

  #touch(sessionId: string): void {
    const n = this.#store.reader.numberOf(sessionId);
    if (n === null) return;
    this.#store.search.touch(n);
    this.#indexSoon();
  }

  #indexSoon(): void {
    if (this.#closing || this.#scheduler.fault !== null || !this.#store.search.isBehind) return;
    if (this.#indexTimer !== null) {
      this.#indexTimer.refresh();
      return;
    }
    this.#indexTimer = setTimeout(() => {
      this.#indexTimer = null;
      this.#runInBackground(this.#store.search.catchUp());
    }, INDEX_DELAY_MS);
  }

  #stopIndexing(): void {
    if (this.#indexTimer !== null) clearTimeout(this.#indexTimer);
    this.#indexTimer = null;
  }

  #close(id: number): void {
    this.#closing = true;
    this.#stopIndexing();
    this.#scheduler.whenIdle(() => {
      try {
        this.#store.close();
        this.#post({ kind: 'result', id, value: null });
      } catch (error) {
        this.#fail(id, faultOf(error, this.#folder));
      }
    });
  }
}

async function main(): Promise<void> {
  const port = parentPort;
  if (port === null || !isSettings(workerData)) {
    throw new JournalError('journal.fault', 'The store worker was started without its settings.');
  }
  const settings = workerData;
  const post = (reply: WorkerReply): void => port.postMessage(reply);
  let store: Store;
  try {
    store = await openStore(settings);
  } catch (error) {
    post({ kind: 'failed', error: toErrorShape(faultOf(error, settings.folder, true)) });
    return;
  }
  const writer = new Writer(store, settings.folder, post);
  const handle = (request: WorkerRequest): void => {
    writer.handle(request);
    if (request.op === 'close') port.unref();
  };
  port.on('message', (request: WorkerRequest) => {
    handle(request);
    // All that arrived while the last commit ran goes into the next one.
    for (let more = receiveMessageOnPort(port); more; more = receiveMessageOnPort(port)) {
      handle(more.message as WorkerRequest);
    }
    writer.commit();
  });
  post({ kind: 'ready' });
}

function isSettings(value: unknown): value is WorkerSettings {
  return isObject(value) && typeof value['folder'] === 'string';
}

await main();
