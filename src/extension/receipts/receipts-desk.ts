import { messageOf } from '../../base/errors.ts';
import type {
  ChainResult,
  FromReceipts,
  ReceiptFilter,
  ReceiptStream,
  ReceiptsState,
  ToReceipts,
  VerifyState,
} from '../../protocol/receipts-view.ts';
import { receiptEntry } from './receipt-entry.ts';
import { type ReadReceipts, ReceiptFeed } from './receipt-feed.ts';
import { receiptStrings } from './receipt-strings.ts';
import { controlChoices } from './receipt-words.ts';

/** What the page needs from outside. */
export type DeskPorts = {
  readonly sessionId: string | null;
  readonly title: () => string;
  readonly read: ReadReceipts;
  /** Checks what the stream belongs to. */
  readonly verify: (stream: ReceiptStream) => Promise<ChainResult[]>;
  readonly post: (message: ToReceipts) => void;
  readonly copy: (text: string) => Promise<void>;
  /** Saves a text under a name that the person may change. */
  readonly save: (name: string, text: string) => Promise<void>;
  readonly now: () => number;
};

const NO_FILTER: ReceiptFilter = { method: null, status: null };

/** Holds what one receipts page shows, and does what the page asks for. */
export class ReceiptsDesk {
  readonly #ports: DeskPorts;
  #stream: ReceiptStream;
  #filter = NO_FILTER;
  #feed: ReceiptFeed;
  #loading = false;
  #problem: string | null = null;
  #verify: VerifyState = { kind: 'none' };
  #isReady = false;

  constructor(ports: DeskPorts) {
    this.#ports = ports;
    this.#stream = ports.sessionId === null ? 'host' : 'session';
    this.#feed = this.#newFeed();
  }

  get stream(): ReceiptStream {
    return this.#stream;
  }

  #newFeed(): ReceiptFeed {
    const { read, sessionId } = this.#ports;
    return new ReceiptFeed(read, this.#stream, sessionId, this.#filter);
  }

  /** Does what the page asks for. Never rejects: the page says what did not work. */
  async receive(message: FromReceipts): Promise<void> {
    try {
      await this.#handle(message);
    } catch (error) {
      this.#problem = messageOf(error);
      this.#loading = false;
      this.#postAll();
    }
  }

  async #handle(message: FromReceipts): Promise<void> {
    switch (message.type) {
      case 'ready':
        this.#isReady = true;
        return this.#start();
      case 'load_older':
        return this.#older();
      case 'filter':
        this.#filter = message.filter;
        return this.#start();
      case 'stream':
        this.#stream = message.stream;
        this.#verify = { kind: 'none' };
        return this.#start();
      case 'refresh':
        return this.#start();
      case 'verify':
        return this.verify();
      case 'export':
        return this.#export();
      case 'copy':
        return this.#copy(message.seq);
    }
  }

  async #start(): Promise<void> {
    const feed = this.#newFeed();
    this.#feed = feed;
    this.#problem = null;
    this.#loading = true;
    this.#postAll();
    await feed.start();
    if (this.#feed !== feed) return;
    this.#loading = false;
    this.#postAll();
  }

  async #older(): Promise<void> {
    const feed = this.#feed;
    const older = await feed.older();
    if (this.#feed === feed) this.#postMore({ newer: [], older: older.map(receiptEntry) });
  }

  /** There may be new receipts: fetches them. Never rejects. */
  async refreshNewest(): Promise<void> {
    if (!this.#isReady || this.#loading) return;
    const feed = this.#feed;
    try {
      const newer = await feed.newer();
      if (this.#feed !== feed || newer.length === 0) return;
      // What was verified did not include these.
      this.#verify = { kind: 'none' };
      this.#postMore({ newer: newer.map(receiptEntry), older: [] });
    } catch (error) {
      this.#problem = messageOf(error);
      this.#postAll();
    }
  }

  /** Checks both chains and shows what was found. */
  async verify(): Promise<void> {
    const { verify, now } = this.#ports;
    if (this.#verify.kind === 'running') return;
    const stream = this.#stream;
    this.#setVerify({ kind: 'running' });
    try {
      const chains = await verify(stream);
      if (this.#stream === stream) this.#setVerify({ kind: 'done', at: now(), chains });
    } catch (error) {
      this.#verify = { kind: 'none' };
      throw error;
    }
  }

  #setVerify(verify: VerifyState): void {
    this.#verify = verify;
    this.#postMore({ newer: [], older: [] });
  }

  async #export(): Promise<void> {
    const { sessionId, save, now } = this.#ports;
    const receipts = await this.#feed.all();
    const isOfSession = this.#stream === 'session';
    const whole = {
      sessionId: isOfSession ? sessionId : null,
      exportedAt: new Date(now()).toISOString(),
      filter: this.#filter,
      receipts,
    };
    const name = isOfSession ? `receipts-${sessionId}.json` : 'receipts-without-session.json';
    await save(name, `${JSON.stringify(whole, null, 2)}\n`);
  }

  async #copy(seq: number): Promise<void> {
    const found = this.#feed.receipts.find((receipt) => receipt.seq === seq);
    if (found) await this.#ports.copy(JSON.stringify(found, null, 2));
  }

  /** Everything anew, as for a page that was just made. */
  #postAll(): void {
    if (!this.#isReady) return;
    const entries = this.#feed.receipts.map(receiptEntry);
    const state = { ...this.#state(), entries };
    this.#ports.post({ type: 'state', state, strings: receiptStrings() });
  }

  #postMore(more: Pick<Extract<ToReceipts, { type: 'more' }>, 'newer' | 'older'>): void {
    if (this.#isReady) this.#ports.post({ type: 'more', state: this.#state(), ...more });
  }

  #state(): Omit<ReceiptsState, 'entries'> {
    return {
      title: this.#ports.title(),
      stream: this.#stream,
      hasSession: this.#ports.sessionId !== null,
      filter: this.#filter,
      methods: controlChoices(),
      hasOlder: this.#feed.hasOlder,
      loading: this.#loading,
      problem: this.#problem,
      verify: this.#verify,
    };
  }
}
