import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NextTurnQueue } from '../../../../../src/core/session/control/next-turns.ts';
import type { QueueRequest } from '../../../../../src/core/session/control/session-control.ts';
import type { QueueItemId } from '../../../../../src/core/session/words.ts';
import { OWNER } from '../../../../support/engine/a-session.ts';

const id = (name: string): QueueItemId => name as QueueItemId;
const text = (words: string) => [{ type: 'text', text: words } as const];

/** A queue whose decisions take effect at once. */
function aQueue() {
  const queue = new NextTurnQueue();
  let minted = 0;
  return {
    queue,
    ids: () => queue.view.items.map(({ itemId }) => itemId),
    ask: (request: QueueRequest) => {
      const decision = queue.decide(request, () => id(`minted${++minted}`));
      if (decision.kind === 'change') queue.apply(decision.change, OWNER, 5);
      return decision;
    },
  };
}

const add = (itemId: string, words = itemId, before: string | null = null): QueueRequest => ({
  kind: 'add',
  itemId: id(itemId),
  content: text(words),
  before: before === null ? null : id(before),
});

describe('the next-turn queue', () => {
  it('adds at the end or before another, with the owner and the time of the addition', () => {
    const t = aQueue();
    t.ask(add('a'));
    t.ask(add('c'));
    t.ask(add('b', 'b', 'c'));
    expect(t.ids()).toEqual(['a', 'b', 'c']);
    expect(t.queue.view.items[1]).toEqual({
      itemId: 'b',
      content: text('b'),
      owner: OWNER,
      at: 5,
    });
  });

  it('mints an id where none is given', () => {
    const t = aQueue();
    expect(t.ask({ kind: 'add', content: text('x'), before: null }).itemId).toBe('minted1');
    expect(t.ids()).toEqual(['minted1']);
  });

  it('answers a repeated addition from the record, also when the item is gone', () => {
    const t = aQueue();
    t.ask(add('a'));
    expect(t.ask(add('a')).kind).toBe('nothing');
    t.ask({ kind: 'remove', itemId: id('a') });
    expect(t.ask(add('a')).kind).toBe('nothing');
    expect(t.ids()).toEqual([]);
  });

  it('refuses a used id with another content', () => {
    const t = aQueue();
    t.ask(add('a'));
    expect(() => t.ask(add('a', 'other'))).toThrow(
      expect.objectContaining({ code: 'control.command_collision' }),
    );
  });

  it('edits in place and moves', () => {
    const t = aQueue();
    for (const name of ['a', 'b', 'c']) t.ask(add(name));
    t.ask({ kind: 'edit', itemId: id('b'), content: text('B') });
    t.ask({ kind: 'move', itemId: id('c'), before: id('a') });
    t.ask({ kind: 'move', itemId: id('a'), before: null });
    expect(t.queue.view.items.map(({ content }) => content)).toEqual([
      text('c'),
      text('B'),
      text('a'),
    ]);
  });

  it.each([
    ['edit', { kind: 'edit', itemId: id('no'), content: text('x') }],
    ['move', { kind: 'move', itemId: id('no'), before: null }],
    ['move before', { kind: 'move', itemId: id('a'), before: id('no') }],
    ['remove', { kind: 'remove', itemId: id('no') }],
    ['send now', { kind: 'send_now', itemId: id('no') }],
    ['add before', { kind: 'add', content: text('x'), before: id('no') }],
  ] satisfies [string, QueueRequest][])('refuses to %s an item it does not hold', (_, request) => {
    const t = aQueue();
    t.ask(add('a'));
    expect(() => t.ask(request)).toThrow(
      expect.objectContaining({ code: 'control.unknown_item', refusal: 'unknown_item' }),
    );
    expect(t.ids()).toEqual(['a']);
  });

  it('refuses empty content', () => {
    const t = aQueue();
    t.ask(add('a'));
    for (const request of [add('b', '  '), { kind: 'edit', itemId: id('a'), content: [] } as const])
      expect(() => t.ask(request)).toThrow(
        expect.objectContaining({ code: 'control.invalid_content' }),
      );
  });

  it('pauses and resumes; the second time changes nothing', () => {
    const t = aQueue();
    expect(t.ask({ kind: 'resume' }).kind).toBe('nothing');
    expect(t.ask({ kind: 'pause' }).kind).toBe('change');
    expect(t.queue.paused).toBe('asked');
    expect(t.ask({ kind: 'pause' }).kind).toBe('nothing');
    t.ask({ kind: 'resume' });
    expect(t.queue.paused).toBeNull();
  });

  it('keeps every item once and in the order that was asked for, whatever is asked', () => {
    const name = fc.constantFrom('a', 'b', 'c', 'd', 'e');
    const step = fc.record({
      kind: fc.constantFrom('add' as const, 'move' as const, 'remove' as const, 'sent' as const),
      who: name,
      before: fc.option(name),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const t = aQueue();
        const paper: Paper = { used: new Set(), items: [] };
        for (const one of steps) {
          expect(isRefused(t, one)).toBe(!follows(paper, one));
          expect(t.ids()).toEqual(paper.items);
        }
      }),
    );
  });
});

type Step = {
  readonly kind: 'add' | 'move' | 'remove' | 'sent';
  readonly who: string;
  readonly before: string | null;
};
type Paper = { readonly used: Set<string>; items: string[] };

function isRefused(t: ReturnType<typeof aQueue>, { kind, who, before }: Step): boolean {
  const itemId = id(who);
  try {
    if (kind === 'sent') t.queue.apply({ kind, itemId }, OWNER, 0);
    else if (kind === 'add') t.ask(add(who, who, before));
    else if (kind === 'remove') t.ask({ kind, itemId });
    else t.ask({ kind, itemId, before: before === null ? null : id(before) });
    return false;
  } catch {
    return true;
  }
}

/** The same queue as a list of names; false if the step is to be refused. */
function follows(paper: Paper, { kind, who, before }: Step): boolean {
  const holds = paper.items.includes(who);
  if (kind === 'add' && paper.used.has(who)) return true;
  if (kind === 'sent' && !holds) return true;
  if (kind !== 'add' && !holds) return false;
  const takesPlace = kind === 'add' || kind === 'move';
  if (takesPlace && before !== null && !paper.items.includes(before)) return false;
  if (before === who && takesPlace) return true;
  paper.used.add(who);
  paper.items = paper.items.filter((other) => other !== who);
  const at = before === null ? paper.items.length : paper.items.indexOf(before);
  if (takesPlace) paper.items.splice(at, 0, who);
  return true;
}
