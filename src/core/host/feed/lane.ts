import type { LoopId } from '../../session/words.ts';
import { FeedError, type FeedSource, type StoredClass, type StoredItem } from './feed-types.ts';

/** How many records are read at once. */
const PAGE = 128;

/** One stream of one loop, as far as one subscriber has got in it. */
export class Lane {
  readonly loopId: LoopId;
  readonly class: StoredClass;
  /** The last seq that was given to the reader; null until the first event says where "now" is. */
  given: number | null;
  /** The newest seq that is known to be stored. */
  #tip = 0;
  /** True until the store said that there is no more. */
  #isUnread: boolean;
  #page: readonly StoredItem[] = [];
  #next = 0;

  constructor(loopId: LoopId, kind: StoredClass) {
    this.loopId = loopId;
    this.class = kind;
    this.given = null;
    this.#isUnread = false;
  }

  /** Begins behind `seq`, with what is stored. */
  beginBehind(seq: number): void {
    this.given = seq;
    this.#isUnread = true;
  }

  /** A record was stored. */
  noted(seq: number): void {
    this.given ??= seq - 1;
    this.#tip = Math.max(this.#tip, seq);
  }

  /** True if the store holds something that the reader was not given. */
  get isBehind(): boolean {
    return (
      this.#next < this.#page.length ||
      this.#isUnread ||
      (this.given !== null && this.given < this.#tip)
    );
  }

  /** The next record from the store; undefined if there is none that was not given. */
  async peek(source: FeedSource): Promise<StoredItem | undefined> {
    while (this.#next === this.#page.length && this.isBehind) await this.#read(source);
    return this.#page[this.#next];
  }

  /** Takes what `peek` showed. */
  take(): void {
    this.given = this.#page[this.#next]?.record.seq ?? this.given;
    this.#next += 1;
  }

  /** What was read ahead is read again when it is needed. */
  forget(): void {
    this.#page = [];
    this.#next = 0;
  }

  async #read(source: FeedSource): Promise<void> {
    const after = this.given ?? 0;
    const page = await pageOf(this.loopId, this.class, after, source);
    const [first] = page;
    const isShort = page.length < PAGE;
    if (
      (first !== undefined && first.record.seq !== after + 1) ||
      (first === undefined && after < this.#tip)
    )
      throw missing(this.loopId, after);
    this.#page = page;
    this.#next = 0;
    if (isShort) this.#isUnread = false;
  }
}

async function pageOf(
  loopId: LoopId,
  kind: StoredClass,
  after: number,
  source: FeedSource,
): Promise<readonly StoredItem[]> {
  const range = { after, limit: PAGE };
  if (kind === 'history')
    return (await source.readHistory(loopId, range)).map((record) => ({
      class: kind,
      loopId,
      record,
    }));
  return (await source.readControl(loopId, range)).map((record) => ({
    class: kind,
    loopId,
    record,
  }));
}

function missing(loopId: string, after: number): FeedError {
  return new FeedError(
    'feed.missing_records',
    `The records behind event ${after} of loop ${loopId} are not there any more. Subscribe anew.`,
    { data: { loopId, after } },
  );
}
