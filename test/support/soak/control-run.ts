import type { ControlOutcome } from '../../../src/protocol/controls.ts';
import type { AcpTestClient } from '../acp-client/client.ts';

const DEADLINE_MS = 60_000;

/** Something that must come did not. */
export class Late extends Error {}

/** The promise, or `Late` after a minute: nothing here takes that long. */
export async function inTime<T>(promise: Promise<T>, what: string): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Late(`${what} did not come`)), DEADLINE_MS);
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** One control that was sent, and what came of it. */
export type SentControl = {
  /** The client id of this one call, by which its receipt is found. */
  readonly actor: string;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  answer: 'none' | 'ok' | 'refused';
  result: Readonly<Record<string, unknown>>;
};

/** Sends controls, each under a client id of its own, and keeps what was answered. */
export class ControlRun {
  readonly sent: SentControl[] = [];
  readonly #sessionId: string;
  #client: AcpTestClient;

  constructor(client: AcpTestClient, sessionId: string) {
    this.#client = client;
    this.#sessionId = sessionId;
  }

  /** Goes on with another connection. */
  reconnected(client: AcpTestClient): void {
    this.#client = client;
  }

  /** A refusal and the end of the process are answers too; rejects only where none comes at all. */
  async send(method: string, params: Readonly<Record<string, unknown>>): Promise<SentControl> {
    const actor = `c${this.sent.length}`;
    const control: SentControl = { actor, method, params, answer: 'none', result: {} };
    this.sent.push(control);
    const client = this.#client;
    try {
      const answer = client.call(method, {
        sessionId: this.#sessionId,
        ...params,
        _meta: { harn: { clientId: actor } },
      });
      // What is sent to a process that has ended is never answered.
      const gone = client.exited.then(() => Promise.reject(new Error('The process has ended')));
      const first = Promise.race([answer, gone]);
      control.result = await inTime(first, `the answer to ${method}`);
      control.answer = 'ok';
    } catch (failure) {
      if (failure instanceof Late) throw failure;
      if (failure instanceof Error && 'code' in failure) control.answer = 'refused';
    }
    return control;
  }

  /** Answered ones of a method that were accepted. */
  done(method: string): readonly SentControl[] {
    return this.sent.filter((one) => one.method === method && one.answer === 'ok');
  }
}

/** What the queue should hold, from the answers alone. */
export class QueueModel {
  #items: readonly { readonly itemId: string; readonly text: string }[] = [];

  get items(): readonly { readonly itemId: string; readonly text: string }[] {
    return this.#items;
  }

  /** What it would be with this change. */
  with({ method, params }: Pick<SentControl, 'method' | 'params'>): QueueModel {
    const next = new QueueModel();
    next.#items = this.#changed(method, params);
    return next;
  }

  #changed(method: string, params: Readonly<Record<string, unknown>>): QueueModel['items'] {
    const itemId = String(params['itemId']);
    const before = params['before'];
    const others = this.#items.filter((item) => item.itemId !== itemId);
    const own = this.#items.find((item) => item.itemId === itemId);
    const place = (item: { itemId: string; text: string }): QueueModel['items'] => {
      const at = others.findIndex((other) => other.itemId === before);
      return at < 0 ? [...others, item] : [...others.slice(0, at), item, ...others.slice(at)];
    };
    switch (method) {
      case '_pilothouse/queue/add':
        return place({ itemId, text: String(params['content']) });
      case '_pilothouse/queue/move':
        return own === undefined ? this.#items : place(own);
      case '_pilothouse/queue/edit':
        return this.#items.map((item) =>
          item.itemId === itemId ? { itemId, text: String(params['content']) } : item,
        );
      case '_pilothouse/queue/remove':
        return others;
      default:
        return this.#items;
    }
  }
}

/** All receipts of a session, oldest first. */
export async function allReceipts(
  client: AcpTestClient,
  sessionId: string,
): Promise<readonly ControlOutcome[]> {
  type Page = { receipts: { seq: number; receipt: ControlOutcome }[]; hasAfter: boolean };
  const receipts: ControlOutcome[] = [];
  for (let after = 0; ; ) {
    const page = (await client.call('_pilothouse/receipts/list', {
      sessionId,
      after,
      limit: 500,
    })) as unknown as Page;
    receipts.push(...page.receipts.map(({ receipt }) => receipt));
    after = page.receipts.at(-1)?.seq ?? after;
    if (!page.hasAfter) return receipts;
  }
}

export type TranscriptUpdate = {
  readonly sessionUpdate: string;
  readonly content?: unknown;
  readonly toolCallId?: string;
  readonly status?: string;
  readonly rawInput?: Readonly<Record<string, unknown>>;
  readonly _meta?: { readonly pilothouse?: { readonly inject?: { readonly messageId: string } } };
};

/** The message that an update says was delivered; undefined if it says something else. */
export function injectOf(update: TranscriptUpdate): string | undefined {
  return update._meta?.pilothouse?.inject?.messageId;
}

/** Everything that ever happened in a session, what was rolled back included. */
export function everything(
  client: AcpTestClient,
  sessionId: string,
): Promise<readonly TranscriptUpdate[]> {
  return pages(client, { sessionId, all: true });
}

/** What the conversation is now. */
export function currentBranch(
  client: AcpTestClient,
  sessionId: string,
): Promise<readonly TranscriptUpdate[]> {
  return pages(client, { sessionId });
}

/** The newest write of a file, and how it ended; null if there is none. */
export function lastWrite(
  updates: readonly TranscriptUpdate[],
): { readonly text: string; readonly status: string } | null {
  const texts = new Map<string, string>();
  let last: { text: string; status: string } | null = null;
  for (const { sessionUpdate, toolCallId, rawInput, status } of updates) {
    if (toolCallId === undefined) continue;
    const text = sessionUpdate === 'tool_call' ? rawInput?.['text'] : undefined;
    if (typeof text === 'string') texts.set(toolCallId, text);
    const written = texts.get(toolCallId);
    if (written !== undefined && (status === 'completed' || status === 'failed'))
      last = { text: written, status };
  }
  return last;
}

async function pages(client: AcpTestClient, of: object): Promise<readonly TranscriptUpdate[]> {
  type Page = {
    entries: { eventId: number; updates: TranscriptUpdate[] }[];
    hasAfter: boolean;
  };
  const updates: TranscriptUpdate[] = [];
  for (let after = 0; ; ) {
    const page = (await client.call('_pilothouse/history/page', {
      ...of,
      after,
      limit: 1_000,
    })) as unknown as Page;
    updates.push(...page.entries.flatMap((entry) => entry.updates));
    after = page.entries.at(-1)?.eventId ?? after;
    if (!page.hasAfter) return updates;
  }
}
