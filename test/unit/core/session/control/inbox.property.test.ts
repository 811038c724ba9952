import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Inbox } from '../../../../../src/core/session/control/inbox.ts';
import { ControlRefused } from '../../../../../src/core/session/control/refusal.ts';
import {
  INJECT_MODES,
  type InjectMode,
  type MessageId,
  SEAMS,
  type Seam,
  type TurnId,
} from '../../../../../src/core/session/words.ts';
import { OWNER } from '../../../../support/engine/a-session.ts';

/** What Harn's page says of each mode: where it is drained. */
const DRAINED_AT: Record<InjectMode, readonly Seam[]> = {
  steer: ['iteration_start', 'post_tool_dispatch', 'iteration_end'],
  interrupt_immediate: [
    'iteration_start',
    'post_tool_dispatch',
    'iteration_end',
    'pre_tool_dispatch',
    'idle_pre',
    'idle_post',
  ],
  queue: ['loop_exit'],
};

type Step =
  | { readonly do: 'accept'; readonly mode: InjectMode }
  | { readonly do: 'seam'; readonly seam: Seam }
  | { readonly do: 'revoke' | 'replace'; readonly which: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant('accept' as const), mode: fc.constantFrom(...INJECT_MODES) }),
  fc.record({ do: fc.constant('seam' as const), seam: fc.constantFrom(...SEAMS) }),
  fc.record({ do: fc.constantFrom('revoke' as const, 'replace' as const), which: fc.nat(12) }),
);

type Model = { id: MessageId; mode: InjectMode; text: string; state: string };

/** The table of Harn's page: what a revoke or replace comes to in each state. */
function expected(what: 'revoke' | 'replace', entry: Model | undefined): string {
  if (entry === undefined) return 'unknown_message_id';
  if (entry.state === 'delivered') return 'already_delivered';
  if (entry.state === 'revoked') return what === 'revoke' ? 'idempotent' : 'already_revoked';
  return 'done';
}

function attempt(inbox: Inbox, what: 'revoke' | 'replace', id: MessageId): string {
  try {
    const entry = what === 'revoke' ? inbox.revocable(id, OWNER) : inbox.replaceable(id, OWNER);
    return entry === null ? 'idempotent' : 'done';
  } catch (error) {
    return error instanceof ControlRefused ? error.refusal : String(error);
  }
}

class Run {
  readonly inbox = new Inbox();
  readonly model: Model[] = [];
  readonly delivered: MessageId[] = [];
  #texts = 0;

  take(one: Step): void {
    if (one.do === 'accept') this.#accept(one.mode);
    else if (one.do === 'seam') this.#pass(one.seam);
    else this.#change(one.do, one.which);
    const waiting = this.model.filter(({ state }) => state === 'pending');
    expect(this.inbox.pending().map(({ messageId }) => messageId)).toEqual(
      waiting.map(({ id }) => id),
    );
    expect(this.inbox.pending().map(({ content }) => content)).toEqual(
      waiting.map(({ text }) => [{ type: 'text', text }]),
    );
  }

  #accept(mode: InjectMode): void {
    const id = `m${this.model.length}` as MessageId;
    const text = this.#text();
    this.model.push({ id, mode, text, state: 'pending' });
    const content = [{ type: 'text' as const, text }];
    this.inbox.apply({ type: 'inject_accepted', messageId: id, mode, content, actor: OWNER }, 1);
  }

  #pass(seam: Seam): void {
    const waiting = this.model.filter(({ state }) => state === 'pending');
    const takesInterrupts = DRAINED_AT.interrupt_immediate.includes(seam);
    const due = waiting.filter(
      ({ mode }, at) =>
        DRAINED_AT[mode].includes(seam) ||
        // An older steer does not outlive the interrupt that was sent behind it.
        (mode === 'steer' &&
          takesInterrupts &&
          waiting.slice(at).some((later) => later.mode === 'interrupt_immediate')),
    );
    expect(this.inbox.due(seam).map(({ messageId }) => messageId)).toEqual(due.map(({ id }) => id));
    for (const entry of due) {
      entry.state = 'delivered';
      this.delivered.push(entry.id);
      this.inbox.apply(
        {
          type: 'inject_delivered',
          turnId: 't' as TurnId,
          messageId: entry.id,
          mode: entry.mode,
          content: [],
          seam,
          actor: OWNER,
        },
        2,
      );
    }
  }

  #change(what: 'revoke' | 'replace', which: number): void {
    const entry = this.model[which];
    const id = entry?.id ?? ('nobody' as MessageId);
    const came = attempt(this.inbox, what, id);
    expect(came).toBe(expected(what, entry));
    if (came !== 'done' || entry === undefined) return;
    if (what === 'revoke') {
      entry.state = 'revoked';
      this.inbox.apply({ type: 'inject_revoked', messageId: id, why: 'revoked', actor: OWNER }, 3);
      return;
    }
    entry.text = this.#text();
    const content = [{ type: 'text' as const, text: entry.text }];
    this.inbox.apply({ type: 'inject_replaced', messageId: id, content, actor: OWNER }, 3);
  }

  #text(): string {
    this.#texts += 1;
    return `text ${this.#texts}`;
  }
}

describe('the inbox', () => {
  it('keeps the table of states and the drain rules under every order of requests and seams', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const run = new Run();
        for (const one of steps) run.take(one);
        expect(new Set(run.delivered).size).toBe(run.delivered.length);
      }),
      { numRuns: 500 },
    );
  });

  it('is the same when the histories of delivery and of acceptance are read one after the other', () => {
    const inbox = new Inbox();
    const messageId = 'm' as MessageId;
    const turnId = 't' as TurnId;
    inbox.apply(
      {
        type: 'inject_delivered',
        turnId,
        messageId,
        mode: 'steer',
        content: [],
        seam: 'iteration_start',
        actor: OWNER,
      },
      1,
    );
    inbox.apply(
      { type: 'inject_accepted', messageId, mode: 'steer', content: [], actor: OWNER },
      0,
    );
    expect(inbox.pending()).toEqual([]);
  });
});
