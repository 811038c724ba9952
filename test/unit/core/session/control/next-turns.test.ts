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
    const names = ['a', 'b', 'c', 'd', 'e'];
    const name = fc.constantFrom(...names);
    const before = fc.option(name);
    const request = fc.oneof(
      fc.record({ kind: fc.constant('add'), name, before }),
      fc.record({ kind: fc.constant('move'), name, before }),
      fc.record({ kind: fc.constant('remove'), name, before }),
      fc.record({ kind: fc.constant('sent'), name, before }),
    );
    fc.assert(
      fc.property(fc.array(request, { maxLength: 40 }), (requests) => {
        const t = aQueue();
        const used = new Set<string>();
        let model: string[] = [];
        for (const { kind, name: who, before: where } of requests) {
          const holds = model.includes(who);
          const whereOk = where === null || model.includes(where);
          let refused = false;
          try {
            if (kind === 'add') t.ask(add(who, who, where));
            else if (kind === 'remove') t.ask({ kind, itemId: id(who) });
            else if (kind === 'move')
              t.ask({ kind, itemId: id(who), before: where === null ? null : id(where) });
            else t.queue.apply({ kind: 'sent', itemId: id(who) }, OWNER, 0);
          } catch {
            refused = true;
          }
          const expectRefused =
            kind === 'add'
              ? !used.has(who) && !whereOk
              : kind !== 'sent' && (!holds || (kind === 'move' && !whereOk));
          expect(refused).toBe(expectRefused);
          if (refused) continue;
          if (kind === 'add' && used.has(who)) continue;
          if (kind === 'move' && where === who) continue;
          used.add(kind === 'add' ? who : 'none');
          model = model.filter((other) => other !== who);
          if (kind === 'add' || kind === 'move')
            model.splice(where === null ? model.length : model.indexOf(where), 0, who);
          expect(t.ids()).toEqual(model);
        }
      }),
    );
  });
});
