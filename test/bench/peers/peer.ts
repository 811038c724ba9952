import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { Deferred } from '../../../src/base/deferred.ts';

/** A message as it came, parsed. */
export type Message = {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: { readonly [key: string]: unknown };
  readonly result?: { readonly [key: string]: unknown };
  readonly error?: unknown;
};

/** What to start, with what environment added. */
export type Program = {
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
};

/**
 * The cheapest client there can be: it splits lines, parses each, and keeps nothing. The raw pipe is read by the
 * same code, so that what is compared is the sending side.
 */
export class Peer {
  readonly #child: ChildProcess;
  readonly #input: Writable;
  readonly #output: Readable;
  readonly #answers = new Map<unknown, Deferred<Message>>();
  readonly #exited = new Deferred<void>();
  #onCall: (message: Message, bytes: number) => void = () => undefined;
  #rest: string[] = [];
  #nextId = 1;

  constructor(program: Program) {
    const child = spawn(process.execPath, [...program.args], {
      env: { ...process.env, ...program.env },
      stdio: ['pipe', 'pipe', 'ignore'],
      detached: true,
    });
    this.#child = child;
    this.#input = child.stdin;
    this.#output = child.stdout;
    child.stdin.on('error', () => undefined);
    child.stdout.setEncoding('utf8').on('data', (text: string) => this.#take(text));
    child.once('error', (error) => this.#over(error));
    child.once('close', () => this.#over(new Error('The process ended')));
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Resolves when the process has ended and all it wrote was read. */
  get exited(): Promise<void> {
    return this.#exited.promise;
  }

  /** Sets what happens with notifications and requests; `bytes` is the line's length in UTF-16 units. */
  onCall(listener: (message: Message, bytes: number) => void): void {
    this.#onCall = listener;
  }

  /** The result of a request; rejects with the answer's error. */
  async request(method: string, params: object): Promise<NonNullable<Message['result']>> {
    const id = this.#nextId;
    this.#nextId += 1;
    const answer = new Deferred<Message>();
    this.#answers.set(id, answer);
    this.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    const { result, error } = await answer.promise;
    if (result === undefined) throw new Error(`${method} failed: ${JSON.stringify(error)}`);
    return result;
  }

  initialize(): Promise<unknown> {
    return this.request('initialize', {
      protocolVersion: 1,
      clientCapabilities: {},
      clientInfo: { name: 'bench', version: '1' },
    });
  }

  /** A new session's id. */
  async newSession(cwd: string): Promise<string> {
    return String((await this.request('session/new', { cwd, mcpServers: [] }))['sessionId']);
  }

  prompt(sessionId: string, text: string): Promise<unknown> {
    return this.request('session/prompt', { sessionId, prompt: [{ type: 'text', text }] });
  }

  write(text: string): void {
    this.#input.write(text);
  }

  /** Answers a request of the agent. */
  answer(id: unknown, result: object): void {
    this.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`);
  }

  pauseReading(): void {
    this.#output.pause();
  }

  resumeReading(): void {
    this.#output.resume();
  }

  /** Ends its input and waits for its end. */
  async close(): Promise<void> {
    this.#input.end();
    this.#output.resume();
    await this.exited;
  }

  /** Kills its whole group. */
  async kill(): Promise<void> {
    const { pid } = this.#child;
    try {
      if (pid !== undefined && this.#child.exitCode === null) process.kill(-pid, 'SIGKILL');
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
    }
    this.#output.resume();
    await this.exited;
  }

  #take(text: string): void {
    let from = 0;
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', from)) {
      const piece = text.slice(from, at);
      this.#line(this.#rest.length === 0 ? piece : this.#rest.join('') + piece);
      if (this.#rest.length > 0) this.#rest = [];
      from = at + 1;
    }
    if (from < text.length) this.#rest.push(text.slice(from));
  }

  #line(line: string): void {
    // What the processes under measurement write is their protocol; a bench does not check it twice.
    const message = JSON.parse(line) as Message;
    if (message.method !== undefined) {
      this.#onCall(message, line.length);
      return;
    }
    const answer = this.#answers.get(message.id);
    this.#answers.delete(message.id);
    answer?.resolve(message);
  }

  #over(error: Error): void {
    if (this.#exited.isSettled) return;
    for (const answer of this.#answers.values()) answer.reject(error);
    this.#answers.clear();
    this.#exited.resolve();
  }
}

/** Runs with a peer that is killed afterwards. */
export async function withPeer<T>(program: Program, run: (peer: Peer) => Promise<T>): Promise<T> {
  const peer = new Peer(program);
  try {
    return await run(peer);
  } finally {
    await peer.kill();
  }
}
