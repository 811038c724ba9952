import { GitError } from './run-git.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Collects NUL-ended fields as they come. A field that is no UTF-8 is counted and left out. */
export class Fields {
  unreadable = 0;
  readonly #onField: (field: string) => void;
  readonly #limit: number;
  #rest: Buffer = Buffer.alloc(0);
  #count = 0;

  /** `onField` may throw to end the run. More than `limit` fields throw `git.too_much`. */
  constructor(onField: (field: string) => void, limit: number) {
    this.#onField = onField;
    this.#limit = limit;
  }

  readonly take = (chunk: Buffer): void => {
    const all = this.#rest.byteLength === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let start = 0;
    for (let end = all.indexOf(0, start); end !== -1; end = all.indexOf(0, start)) {
      this.#field(all.subarray(start, end));
      start = end + 1;
    }
    this.#rest = all.subarray(start);
  };

  #field(bytes: Buffer): void {
    this.#count += 1;
    if (this.#count > this.#limit)
      throw new GitError('git.too_much', `The folder has more than ${this.#limit} files`);
    const text = decoded(bytes);
    if (text === null) this.unreadable += 1;
    else this.#onField(text);
  }
}

function decoded(bytes: Buffer): string | null {
  try {
    return utf8.decode(bytes);
  } catch {
    // Names are bytes to the system; one that is no text can't be named in an event.
    return null;
  }
}

/** One line of `ls-files --stage -z`. */
export type Staged = { readonly gitMode: string; readonly object: string; readonly name: string };

/** Null for what is no plain entry of the index. */
export function stagedOf(field: string): Staged | null {
  const [, gitMode = '', object = '', name = ''] =
    /^(\d{6}) ([0-9a-f]{64}) 0\t(.*)$/s.exec(field) ?? [];
  return name === '' ? null : { gitMode, object, name };
}

/** Reads the answer of `cat-file --batch`, object after object; a missing one is skipped. */
export class Batch {
  readonly #onObject: (object: string, bytes: Buffer) => void;
  #chunks: Buffer[] = [];
  #have = 0;
  #header: { readonly object: string; readonly size: number } | null = null;

  constructor(onObject: (object: string, bytes: Buffer) => void) {
    this.#onObject = onObject;
  }

  readonly take = (chunk: Buffer): void => {
    this.#chunks.push(chunk);
    this.#have += chunk.byteLength;
    while (this.#step());
  };

  #step(): boolean {
    if (this.#header === null) {
      const all = this.#joined();
      const end = all.indexOf(0x0a);
      if (end === -1) return false;
      const [, object, size] =
        /^([0-9a-f]{64}) blob (\d+)$/.exec(all.subarray(0, end).toString('latin1')) ?? [];
      this.#keep(all.subarray(end + 1));
      if (object !== undefined) this.#header = { object, size: Number(size) };
      return true;
    }
    const { object, size } = this.#header;
    // A line end follows the bytes.
    if (this.#have < size + 1) return false;
    const all = this.#joined();
    this.#onObject(object, all.subarray(0, size));
    this.#header = null;
    this.#keep(all.subarray(size + 1));
    return true;
  }

  #joined(): Buffer {
    const all = this.#chunks.length === 1 ? this.#chunks[0] : undefined;
    const joined = all ?? Buffer.concat(this.#chunks);
    this.#chunks = [joined];
    return joined;
  }

  #keep(rest: Buffer): void {
    this.#chunks = [rest];
    this.#have = rest.byteLength;
  }
}
