import type { Transcript } from './projection/assemble.ts';
import { Projection } from './projection/projection.ts';
import type { TranscriptSource } from './source.ts';

const PAGE = 1_000;

/** One open transcript. It reads only what is new, and one reader at a time. */
export class TranscriptDocument {
  readonly uri: string;
  readonly sessionId: string;
  readonly #source: TranscriptSource;
  readonly #projection: Projection;
  #reading: Promise<boolean> | null = null;
  #shown: Transcript | null = null;

  constructor(uri: string, sessionId: string, source: TranscriptSource) {
    this.uri = uri;
    this.sessionId = sessionId;
    this.#source = source;
    this.#projection = new Projection(sessionId);
  }

  /** What the client has last been given: answers about lines must be about that text. */
  get shown(): Transcript | null {
    return this.#shown;
  }

  /** The newest text, which the client is about to show; null if there is no such session. */
  async refreshed(): Promise<Transcript | null> {
    const exists = await this.#read();
    if (!exists) return null;
    this.#shown = this.#projection.transcript();
    return this.#shown;
  }

  async #read(): Promise<boolean> {
    // A read under way may have begun before the change that this call is about: go after it.
    await this.#reading;
    this.#reading ??= this.#readToEnd().finally(() => {
      this.#reading = null;
    });
    return this.#reading;
  }

  async #readToEnd(): Promise<boolean> {
    for (;;) {
      const records = await this.#source.read(this.sessionId, this.#projection.lastEventId, PAGE);
      if (records === null) return false;
      for (const record of records) this.#projection.apply(record);
      if (records.length < PAGE) return true;
    }
  }
}
