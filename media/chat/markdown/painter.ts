import { type CodeHost, dressCodeBlocks } from './code-block.ts';
import { type LinkEnv, renderBlocks } from './render.ts';
import { sanitize } from './sanitize.ts';

/** A tail below this size is parsed at every change. */
const SMALL_TAIL = 8 * 1024;
/** A larger one only when it has grown by this share, so that the sum of all parses stays linear. */
const GROWTH = 1.125;

/**
 * Keeps an element showing a Markdown text that grows. Blocks that are complete are painted once; only the last is
 * painted again as it grows, and of a very long last block only now and then, with the newest text plain behind it.
 */
export class MarkdownPainter {
  readonly root: HTMLElement;
  readonly #host: CodeHost;
  readonly #tail: HTMLElement;
  readonly #fresh: Text;
  #text = '';
  #finished = false;
  #env: LinkEnv = {};
  /** What lies before is painted for good. */
  #settledTo = 0;
  /** What lies between `#settledTo` and here is painted as the open block. */
  #parsedTo = 0;

  constructor(host: CodeHost) {
    this.#host = host;
    this.root = document.createElement('div');
    this.root.className = 'markdown';
    this.root.dir = 'auto';
    this.#tail = document.createElement('div');
    this.#fresh = document.createTextNode('');
    this.root.append(this.#tail, this.#fresh);
  }

  /** Shows `text`. While `streaming` the last block may still change. */
  update(text: string, streaming: boolean): void {
    if (this.#finished && !streaming && text === this.#text) return;
    if (this.#finished || !text.startsWith(this.#text)) this.#restart();
    this.#text = text;
    if (!streaming) this.#finish();
    else if (this.#mayWait()) this.#fresh.data = text.slice(this.#parsedTo);
    else this.#paint();
  }

  #mayWait(): boolean {
    const parsed = this.#parsedTo - this.#settledTo;
    const tail = this.#text.length - this.#settledTo;
    return tail > SMALL_TAIL && tail < parsed * GROWTH;
  }

  #paint(): void {
    const tail = this.#text.slice(this.#settledTo);
    // A link definition may be cut in its middle: what the open part defines is not kept.
    const open = renderBlocks(tail, { references: { ...this.#env.references } }).at(-1);
    if (open !== undefined && open.start > 0) {
      this.#settle(tail.slice(0, open.start));
      this.#settledTo += open.start;
    }
    this.#tail.replaceChildren(...(open === undefined ? [] : [this.#nodesOf(open.html, false)]));
    this.#fresh.data = '';
    this.#parsedTo = this.#text.length;
  }

  #finish(): void {
    const paintedBefore = this.#settledTo > 0;
    this.#settle(this.#text.slice(this.#settledTo));
    // A link may be defined below its use: then all is painted again, once.
    if (paintedBefore && Object.keys(this.#env.references ?? {}).length > 0) {
      this.#restart();
      this.#settle(this.#text);
    }
    this.#tail.replaceChildren();
    this.#fresh.data = '';
    this.#finished = true;
  }

  #settle(text: string): void {
    for (const block of renderBlocks(text, this.#env)) {
      this.#tail.before(this.#nodesOf(block.html, true));
    }
  }

  #nodesOf(html: string, final: boolean): DocumentFragment {
    const nodes = sanitize(html);
    dressCodeBlocks(nodes, this.#host, final);
    return nodes;
  }

  #restart(): void {
    this.root.replaceChildren(this.#tail, this.#fresh);
    this.#env = {};
    this.#settledTo = 0;
    this.#parsedTo = 0;
    this.#finished = false;
  }
}
