import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { type Entry, looksBinary } from '../entry.ts';
import { CheckpointError, ignoreMissing } from '../errors.ts';
import { Batch } from '../git/git-output.ts';
import type { Git } from '../git/run-git.ts';
import { clearLocks } from '../git/shadow-folder.ts';
import type { BlobStore } from './blob-store.ts';

/** So many objects are held in memory at once. */
const AT_ONCE = 32;
const DEADLINE_MS = 60_000;

/** Bytes by name, wherever the session keeps them: as blobs of their own or in a shadow store. */
export class Contents {
  readonly blobs: BlobStore;
  readonly #shadows: string;
  readonly #git: () => Promise<Git | null>;
  readonly #signal: AbortSignal;

  /** `shadows` is the folder with the shadow stores. */
  constructor(
    blobs: BlobStore,
    shadows: string,
    git: () => Promise<Git | null>,
    signal: AbortSignal,
  ) {
    this.blobs = blobs;
    this.#shadows = shadows;
    this.#git = git;
    this.#signal = signal;
  }

  /** Makes all of them readable as blobs. Throws `checkpoint.unknown` if one is nowhere. */
  async fetch(contents: Iterable<string>): Promise<void> {
    const missing = await this.#missing(new Set(contents));
    for (let at = 0; at < missing.length; at += AT_ONCE) {
      const part = missing.slice(at, at + AT_ONCE);
      const found: Buffer[] = [];
      await this.#read(part, (_content, bytes) => found.push(bytes));
      await Promise.all(found.map((bytes) => this.blobs.keepBytes(bytes)));
    }
    if ((await this.#missing(missing)).length > 0)
      throw new CheckpointError(
        'checkpoint.unknown',
        'What some files held is not kept here any more, so they can not be put back.',
      );
  }

  /** Throws `checkpoint.unknown`. */
  async bytes(content: string): Promise<Buffer> {
    await this.fetch([content]);
    const bytes = await this.blobs.read(content);
    if (bytes === null)
      throw new CheckpointError('checkpoint.unknown', 'The file is not kept here.');
    return bytes;
  }

  /** Which of these, kept in shadow stores, are no text. */
  async binaries(contents: readonly string[]): Promise<ReadonlySet<string>> {
    const found = new Set<string>();
    if (contents.length > 0)
      await this.#read(contents, (content, bytes) => {
        if (looksBinary(bytes)) found.add(content);
      });
    return found;
  }

  /** The same entries, each with whether it is text. */
  async withKinds(entries: ReadonlyMap<string, Entry>): Promise<ReadonlyMap<string, Entry>> {
    const unknown = [...entries.values()].flatMap((entry) =>
      entry === null || entry.binary !== undefined ? [] : [entry.content],
    );
    const binaries = await this.binaries([...new Set(unknown)]);
    const withKind = (entry: Entry): Entry =>
      entry === null || entry.binary !== undefined
        ? entry
        : { ...entry, binary: binaries.has(entry.content) };
    return new Map([...entries].map(([file, entry]) => [file, withKind(entry)]));
  }

  async #missing(contents: Iterable<string>): Promise<string[]> {
    const missing: string[] = [];
    for (const content of contents) if (!(await this.blobs.has(content))) missing.push(content);
    return missing;
  }

  async #read(
    contents: readonly string[],
    onBytes: (content: string, bytes: Buffer) => void,
  ): Promise<void> {
    const git = await this.#git();
    const names = (await readdir(this.#shadows).catch(ignoreMissing)) ?? [];
    if (git === null) return;
    for (const name of names) {
      const gitDir = path.join(this.#shadows, name);
      await clearLocks(gitDir);
      await git({
        args: ['cat-file', '--batch'],
        cwd: gitDir,
        gitDir,
        workTree: gitDir,
        input: contents.map((content) => `${content}\n`).join(''),
        onOutput: new Batch(onBytes).take,
        deadlineMs: DEADLINE_MS,
        signal: this.#signal,
      });
    }
  }
}
