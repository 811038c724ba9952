import {
  appendFileSync,
  chmodSync,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { makeFolders } from '../../journal/lock/private-files.ts';
import type { Log } from '../../session/ports.ts';
import { describe } from './log-redaction.ts';

/** From the most to the least talkative. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** How a log is kept. */
export type LogOptions = {
  /** Absolute path of the newest file; older ones are `file.1`, `file.2` and so on. Null: no file. */
  readonly file: string | null;
  /** Lines below it are dropped. */
  readonly level: LogLevel;
  /** A file past this size is rotated; 5 MiB by default. */
  readonly maxBytes?: number;
  /** Files that are kept, the newest included; 4 by default. */
  readonly maxFiles?: number;
  /** Where lines for a person go, usually `process.stderr`; never stdout, which belongs to the protocol. */
  readonly stderr?: {
    write(text: string): unknown;
    on?(event: 'error', listener: () => void): unknown;
  } | null;
  /** Time source; the system's by default. */
  readonly now?: () => number;
};

/** A log with an owner. */
export interface FileLog extends Log {
  /** Writes what is held back. */
  flush(): void;
  /** Removes every line that holds `text` from all files: the traces of a deleted session. */
  forget(text: string): void;
  /** Flushes and stops; later lines are dropped. */
  dispose(): void;
}

const DEFAULT_MAX_BYTES = 5 * 1024 * 1024;
const DEFAULT_MAX_FILES = 4;
const FLUSH_AFTER_MS = 100;
const FLUSH_AT_CHARACTERS = 64 * 1024;

/**
 * A log of JSON lines `{at, level, message, …details}` in a rotating file that only its owner can read. Values of
 * keys that name a secret, and texts that look like one, are replaced. Nothing in it throws: when the file can't be
 * written, the lines go to `stderr` alone. Warnings and errors are written at once, the rest within 100 ms and at
 * the exit of the process.
 */
export function createLog(options: LogOptions): FileLog {
  return new RotatingLog(options);
}

class RotatingLog implements FileLog {
  readonly #options: LogOptions;
  readonly #threshold: number;
  readonly #maxBytes: number;
  readonly #maxFiles: number;
  readonly #atExit = (): void => this.flush();
  #held: string[] = [];
  #heldCharacters = 0;
  #timer: NodeJS.Timeout | null = null;
  #size: number | null = null;
  #fileBroken = false;
  #disposed = false;
  #stderr: LogOptions['stderr'];

  constructor(options: LogOptions) {
    this.#options = options;
    this.#stderr = options.stderr;
    // Whoever read it is gone. An error that nobody takes would be logged, and so on for ever.
    options.stderr?.on?.('error', () => {
      this.#stderr = null;
    });
    this.#threshold = LOG_LEVELS.indexOf(options.level);
    this.#maxBytes = Math.max(1, options.maxBytes ?? DEFAULT_MAX_BYTES);
    this.#maxFiles = Math.max(1, options.maxFiles ?? DEFAULT_MAX_FILES);
    process.on('exit', this.#atExit);
  }

  debug(message: string, details?: object): void {
    this.#log('debug', message, details);
  }

  info(message: string, details?: object): void {
    this.#log('info', message, details);
  }

  warn(message: string, details?: object): void {
    this.#log('warn', message, details);
  }

  error(message: string, details?: object): void {
    this.#log('error', message, details);
  }

  flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#held.length === 0) return;
    const text = this.#held.join('');
    this.#held = [];
    this.#heldCharacters = 0;
    const { file } = this.#options;
    if (file !== null) this.#guard('write', () => this.#write(file, text));
  }

  forget(text: string): void {
    this.flush();
    const { file } = this.#options;
    if (file === null || text === '') return;
    this.#guard('clean', () => {
      for (const path of this.#files(file)) if (existsSync(path)) removeLines(path, text);
      this.#size = null;
    });
  }

  dispose(): void {
    if (this.#disposed) return;
    this.flush();
    this.#disposed = true;
    process.off('exit', this.#atExit);
  }

  #log(level: LogLevel, message: string, details: object | undefined): void {
    const rank = LOG_LEVELS.indexOf(level);
    if (this.#disposed || rank < this.#threshold) return;
    const at = new Date(this.#options.now?.() ?? Date.now()).toISOString();
    const line = describe({ at, level, message }, details);
    if (this.#stderr) this.#say(`${line}\n`);
    if (this.#options.file === null) return;
    this.#held.push(`${line}\n`);
    this.#heldCharacters += line.length;
    if (rank >= LOG_LEVELS.indexOf('warn') || this.#heldCharacters > FLUSH_AT_CHARACTERS) {
      this.flush();
      return;
    }
    this.#timer ??= setTimeout(() => this.flush(), FLUSH_AFTER_MS).unref();
  }

  #write(file: string, text: string): void {
    if (this.#size === null) {
      makeFolders(dirname(file));
      this.#size = existsSync(file) ? statSync(file).size : 0;
    }
    const bytes = Buffer.byteLength(text);
    if (this.#size > 0 && this.#size + bytes > this.#maxBytes) {
      this.#rotate(file);
      this.#size = 0;
    }
    appendFileSync(file, text, { mode: 0o600 });
    if (this.#size === 0 && process.platform !== 'win32') chmodSync(file, 0o600);
    this.#size += bytes;
    this.#fileBroken = false;
  }

  #rotate(file: string): void {
    const files = this.#files(file);
    const oldest = files.at(-1);
    if (oldest !== undefined) rmSync(oldest, { force: true });
    for (let index = files.length - 2; index >= 0; index -= 1) {
      const [from, to] = [files[index], files[index + 1]];
      if (from !== undefined && to !== undefined && existsSync(from)) renameSync(from, to);
    }
  }

  #files(file: string): readonly string[] {
    return Array.from({ length: this.#maxFiles }, (_, index) =>
      index === 0 ? file : `${file}.${index}`,
    );
  }

  /** Runs file work; its first failure in a row is said once, where somebody may read it. */
  #guard(what: string, work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#size = null;
      if (this.#fileBroken) return;
      this.#fileBroken = true;
      const line = describe(
        { level: 'warn', message: `Could not ${what} the log file.` },
        { error },
      );
      this.#say(`${line}\n`);
    }
  }

  #say(text: string): void {
    try {
      this.#stderr?.write(text);
    } catch (error) {
      // The last place to report to is gone; there is nobody left to tell.
      if (!(error instanceof Error)) this.#fileBroken = true;
    }
  }
}

function removeLines(path: string, text: string): void {
  const lines = readFileSync(path, 'utf8').split('\n');
  const kept = lines.filter((line) => !line.includes(text));
  if (kept.length === lines.length) return;
  const draft = `${path}.new`;
  writeFileSync(draft, kept.join('\n'), { mode: 0o600 });
  renameSync(draft, path);
}
