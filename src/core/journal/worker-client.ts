import { Worker } from 'node:worker_threads';
import { Deferred } from '../../base/deferred.ts';
import { messageOf } from '../../base/errors.ts';
import { fromErrorShape, JournalError } from './errors.ts';
import type {
  OperationName,
  Operations,
  WorkerReply,
  WorkerRequest,
  WorkerSettings,
} from './worker-protocol.ts';

type Pending = {
  readonly op: OperationName;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: JournalError) => void;
  readonly part: (value: unknown) => void;
};

/** What the client tells about by itself. */
export type WorkerListener = {
  /** No append will succeed any more. */
  latched(fault: JournalError): void;
  /** Background work failed. */
  trouble(error: JournalError): void;
};

/** The calling side of the store's thread. Requests are handled in the order they are made. */
export class WorkerClient {
  readonly #worker: Worker;
  readonly #pending = new Map<number, Pending>();
  readonly #ready = new Deferred<void>();
  readonly #exited = new Deferred<void>();
  readonly #listener: WorkerListener;
  #lastId = 0;
  #crash: JournalError | null = null;

  constructor(url: URL, settings: WorkerSettings, listener: WorkerListener) {
    this.#listener = listener;
    this.#worker = new Worker(url, {
      workerData: settings,
      name: 'journal',
      // It needs no environment, and stdout belongs to the protocol.
      env: {},
      execArgv: ['--disable-warning=ExperimentalWarning'],
      stdout: true,
      stderr: true,
      // What a commit leaves behind is small and garbage at once.
      resourceLimits: { maxYoungGenerationSizeMb: 2 },
    });
    this.#worker.on('message', (reply: WorkerReply) => this.#receive(reply));
    this.#worker.on('messageerror', (error) => this.#crashed(error));
    this.#worker.on('error', (error) => this.#crashed(error));
    this.#worker.on('exit', () => {
      this.#crashed(new Error('its thread ended'));
      this.#exited.resolve();
    });
    // Nobody may wait for it: then its failure must not count as unhandled.
    this.#ready.promise.catch(() => undefined);
  }

  /** Resolves once the store is open; rejects with the `JournalError` that kept it from opening. */
  get ready(): Promise<void> {
    return this.#ready.promise;
  }

  /** Resolves when the thread is gone. */
  get exited(): Promise<void> {
    return this.#exited.promise;
  }

  /** Asks for an operation; `part` receives what comes before the result. */
  call<N extends OperationName>(
    op: N,
    args: Operations[N]['args'],
    part: (value: Operations[N]['result']) => void = () => undefined,
  ): Promise<Operations[N]['result']> {
    if (this.#crash !== null) return Promise.reject(this.#crash);
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise<Operations[N]['result']>((resolve, reject) => {
      // The worker answers an operation with that operation's result: both sides share the table.
      this.#pending.set(id, {
        op,
        resolve: (value) => resolve(value as Operations[N]['result']),
        reject,
        part: (value) => part(value as Operations[N]['result']),
      });
      this.#post({ id, op, args } as WorkerRequest);
    });
  }

  /** Ends the thread at once; what was asked and not answered is rejected. */
  async terminate(): Promise<void> {
    await this.#worker.terminate();
  }

  #post(request: WorkerRequest): void {
    this.#worker.postMessage(request);
  }

  #receive(reply: WorkerReply): void {
    switch (reply.kind) {
      case 'ready':
        this.#ready.resolve();
        return;
      case 'failed':
        this.#ready.reject(fromErrorShape(reply.error));
        return;
      case 'trouble': {
        const error = fromErrorShape(reply.error);
        if (reply.latched) this.#listener.latched(error);
        this.#listener.trouble(error);
        return;
      }
      case 'part':
        this.#pending.get(reply.id)?.part(reply.value);
        this.#post({ id: reply.id, op: 'taken' });
        return;
      case 'result':
        this.#take(reply.id)?.resolve(reply.value);
        return;
      case 'error': {
        const error = fromErrorShape(reply.error);
        if (reply.latched) this.#listener.latched(error);
        this.#take(reply.id)?.reject(error);
      }
    }
  }

  #take(id: number): Pending | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    return pending;
  }

  #crashed(cause: unknown): void {
    if (this.#crash !== null) return;
    const fault = new JournalError(
      'journal.fault',
      `The session store stopped working (${messageOf(cause)}). Restart Pilothouse; if it happens again, look at the log.`,
      { cause },
    );
    this.#crash = fault;
    this.#ready.reject(fault);
    const unknown = new JournalError(
      'journal.outcome_unknown',
      `The session store stopped while it saved (${messageOf(cause)}). Restart Pilothouse to see what was kept.`,
      { cause },
    );
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    this.#listener.latched(fault);
    for (const { op, reject } of pending) {
      reject(op === 'append' || op === 'delete' ? unknown : fault);
    }
  }
}
