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
  #streaming = false;
  #env: LinkEnv = {};
  #settledTo = 0;
  #parsedTo = 0;
  #referencesAtFirstUse = 0;
  #painted = false;

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
    if (this.#painted && text === this.#text && streaming === this.#streaming) return;
    if (!text.startsWith(this.#text)) this.#restart();
    this.#text = text;
    this.#streaming = streaming;
    if (streaming && this.#mayWait()) {
      this.#fresh.data = text.slice(this.#parsedTo);
      return;
    }
    this.#paint();
    if (!streaming) this.#resolveLateReferences();
    this.#painted = true;
  }

  #mayWait(): boolean {
    const parsed = this.#parsedTo - this.#settledTo;
    const tail = this.#text.length - this.#settledTo;
    return tail > SMALL_TAIL && tail < parsed * GROWTH;
  }

  #paint(): void {
    const blocks = renderBlocks(this.#text.slice(this.#settledTo), this.#env);
    const open = this.#streaming ? blocks.at(-1) : undefined;
    for (const block of blocks) {
      if (block !== open) this.#tail.before(this.#nodesOf(block.html, true));
    }
    this.#tail.replaceChildren(...(open === undefined ? [] : [this.#nodesOf(open.html, false)]));
    this.#fresh.data = '';
    if (open !== undefined) this.#settledTo += open.start;
    else if (!this.#streaming) this.#settledTo = this.#text.length;
    this.#parsedTo = this.#text.length;
  }

  #nodesOf(html: string, final: boolean): DocumentFragment {
    const nodes = sanitize(html);
    dressCodeBlocks(nodes, this.#host, final);
    return nodes;
  }

  /** A link may be defined below its use; blocks painted before that are painted again, once. */
  #resolveLateReferences(): void {
    const known = Object.keys(this.#env.references ?? {}).length;
    if (known === this.#referencesAtFirstUse) return;
    const env = this.#env;
    this.#restart();
    this.#env = env;
    this.#referencesAtFirstUse = known;
    this.#paint();
  }

  #restart(): void {
    this.root.replaceChildren(this.#tail, this.#fresh);
    this.#env = {};
    this.#settledTo = 0;
    this.#parsedTo = 0;
    this.#referencesAtFirstUse = 0;
  }
}
