import type { Log } from '../../session/ports.ts';

const MAX_LINE = 500;
const KEPT_LINES = 20;
/** Lines of one start that go to the log; a server that prints for hours must not push out everything else. */
const MAX_LOGGED = 500;
/** Shorter values are too likely to be words. */
const MIN_SECRET = 6;

/** What a server writes to its error output: into the log, and its end kept, without the values it was given. */
export class LastWords {
  readonly #server: string;
  readonly #secrets: readonly string[];
  readonly #log: Log;
  readonly #kept: string[] = [];
  #rest = '';
  #logged = 0;

  constructor(server: string, secrets: readonly string[], log: Log) {
    this.#server = server;
    this.#secrets = secrets.filter((secret) => secret.length >= MIN_SECRET);
    this.#log = log;
  }

  add(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = (lines.pop() ?? '').slice(-8 * MAX_LINE);
    for (const line of lines) this.#take(line);
  }

  /** The most telling of the last lines as a sentence, or nothing. */
  quote(): string {
    this.#take(this.#rest);
    this.#rest = '';
    const isTelling = (line: string): boolean => /error|fatal|cannot|not found|denied/i.test(line);
    const line = this.#kept.findLast(isTelling) ?? this.#kept.at(-1);
    return line === undefined ? '' : ` It wrote: ${line}`;
  }

  #take(line: string): void {
    let text = line.trim();
    if (text === '') return;
    for (const secret of this.#secrets) text = text.replaceAll(secret, '[redacted]');
    text = text.slice(0, MAX_LINE);
    this.#kept.push(text);
    if (this.#kept.length > KEPT_LINES) this.#kept.shift();
    this.#logged += 1;
    if (this.#logged <= MAX_LOGGED)
      this.#log.debug('An MCP server writes', { server: this.#server, text });
  }
}
