import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { OUTPUT_KEPT } from '../../../media/chat/state/bounded-output.ts';
import { coalesce } from '../../../media/chat/state/coalesce.ts';
import { INITIAL_STATE } from '../../../media/chat/state/initial.ts';
import { reduce } from '../../../media/chat/state/reduce.ts';
import { isStopping } from '../../../media/chat/state/stop.ts';
import type { Action, ViewState } from '../../../media/chat/state/view-state.ts';
import type { ChatItem, ToChat } from '../../../src/protocol/chat.ts';
import { IDLE, PERMISSION, RUNNING, reset, tool } from '../../ui/support/samples.ts';

function viewAfter(...actions: readonly Action[]): ViewState {
  return actions.reduce(reduce, INITIAL_STATE);
}

function said(id: string, text = ''): ChatItem {
  return { kind: 'assistant', id, text, streaming: true };
}

function ids(view: ViewState): readonly string[] {
  return view.items.map(({ id }) => id);
}

function textOf(view: ViewState, id: string): string | undefined {
  const item = view.items[view.index.get(id) ?? -1];
  return item?.kind === 'assistant' ? item.text : undefined;
}

describe('rows', () => {
  test('new rows go to the end and known ones are replaced where they stand', () => {
    const view = viewAfter(reset({ items: [said('a'), said('b')] }), {
      type: 'upsert',
      items: [said('c'), said('a', 'changed'), said('d')],
    });
    expect(ids(view)).toEqual(['a', 'b', 'c', 'd']);
    expect(textOf(view, 'a')).toBe('changed');
  });

  test('one row given twice in one message appears once', () => {
    const view = viewAfter(reset(), { type: 'upsert', items: [said('a', '1'), said('a', '2')] });
    expect(ids(view)).toEqual(['a']);
    expect(textOf(view, 'a')).toBe('2');
  });

  test('older rows go in front, those already known are not doubled, and loading is over', () => {
    const view = viewAfter(
      reset({ items: [said('c')], hasBefore: true }),
      { type: 'local_load_before' },
      { type: 'prepend', items: [said('a'), said('b'), said('c', 'old')], hasBefore: false },
    );
    expect(ids(view)).toEqual(['a', 'b', 'c']);
    expect(textOf(view, 'c')).toBe('');
    expect([view.hasBefore, view.loadingBefore]).toEqual([false, false]);
  });

  test('removed rows are gone and the others are still found', () => {
    const view = viewAfter(
      reset({ items: [said('a'), said('b'), said('c')] }),
      { type: 'remove', ids: ['a'] },
      { type: 'append', id: 'c', field: 'text', offset: 0, text: 'x' },
    );
    expect(ids(view)).toEqual(['b', 'c']);
    expect(textOf(view, 'c')).toBe('x');
  });

  test('a reset replaces everything', () => {
    const view = viewAfter(
      reset({ items: [said('a')], gates: [PERMISSION] }),
      reset({ items: [said('z')] }),
    );
    expect(ids(view)).toEqual(['z']);
    expect(view.gates).toEqual([]);
  });
});

describe('streamed text', () => {
  const start = reset({ items: [said('a', 'one ')] });

  test('is added once, however often and however split it comes', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }),
        fc.array(fc.tuple(fc.nat(40), fc.nat(40)), { maxLength: 12 }),
        (text, cuts) => {
          const pieces = [...cuts, [0, text.length] as const].map(([from, to]): ToChat => {
            const offset = Math.min(from, text.length);
            return { type: 'append', id: 'a', field: 'text', offset, text: text.slice(offset, to) };
          });
          // Pieces that would leave a gap are skipped, as a reset would heal them.
          const view = pieces.reduce<ViewState>(
            (before, piece) => {
              const next = reduce(before, piece);
              return next.gap ? before : next;
            },
            viewAfter(reset({ items: [said('a')] })),
          );
          expect(textOf(view, 'a')).toBe(text);
        },
      ),
    );
  });

  test('with a piece missing changes nothing and asks for a reset', () => {
    const view = viewAfter(start, {
      type: 'append',
      id: 'a',
      field: 'text',
      offset: 9,
      text: 'three',
    });
    expect(textOf(view, 'a')).toBe('one ');
    expect(view.gap).toBe(true);
    expect(reduce(view, start).gap).toBe(false);
  });

  test('of a row that is not there asks for a reset', () => {
    expect(
      viewAfter(start, { type: 'append', id: 'b', field: 'text', offset: 0, text: 'x' }).gap,
    ).toBe(true);
  });

  test('joined by frame gives the same view as piece by piece', () => {
    const pieces: ToChat[] = [...'streamed text'].map((text, offset) => ({
      type: 'append',
      id: offset % 5 === 4 ? 'b' : 'a',
      field: 'text',
      offset: offset % 5 === 4 ? Math.floor(offset / 5) : offset - Math.floor((offset + 1) / 5),
      text,
    }));
    const begin = reset({ items: [said('a'), said('b')] });
    const joined = coalesce(pieces);
    expect(joined.length).toBeLessThan(pieces.length);
    expect(viewAfter(begin, ...joined)).toEqual(viewAfter(begin, ...pieces));
    expect(viewAfter(begin, ...pieces).gap).toBe(false);
  });
});

describe('output', () => {
  test('is kept to its last megabyte from a line start, and says what was left out', () => {
    const line = `${'x'.repeat(99)}\n`;
    const output = line.repeat(30_000);
    const view = viewAfter(reset({ items: [tool({ output })] }));
    const item = view.items[0];
    if (item?.kind !== 'tool') throw new Error('no tool row');
    expect(item.output.length).toBeLessThanOrEqual(OUTPUT_KEPT);
    expect(item.output.length % 100).toBe(0);
    expect(item.output.length + item.outputCut).toBe(output.length);
  });

  test('goes on streaming after its front was left out', () => {
    let view = viewAfter(reset({ items: [tool({ output: '' })] }));
    const piece = `${'y'.repeat(9_999)}\n`;
    for (let count = 0; count < 300; count += 1) {
      view = reduce(view, {
        type: 'append',
        id: 'tool-1',
        field: 'output',
        offset: count * piece.length,
        text: piece,
      });
    }
    const item = view.items[0];
    if (item?.kind !== 'tool') throw new Error('no tool row');
    expect(view.gap).toBe(false);
    expect(item.output.length + item.outputCut).toBe(300 * piece.length);
    expect(item.output.length).toBeLessThanOrEqual(OUTPUT_KEPT * 1.25);
  });
});

describe('Stop', () => {
  const pressed = viewAfter(reset({ status: RUNNING }), { type: 'local_stop' });
  const shown = (view: ViewState): boolean => isStopping(view.stop, view.status);

  test('stays "Stopping…" while the same turn is under way', () => {
    expect(shown(pressed)).toBe(true);
    const still = reduce(pressed, { type: 'status', status: { ...RUNNING, usage: null } });
    expect(shown(still)).toBe(true);
    const waiting = reduce(still, { type: 'status', status: { ...RUNNING, activity: 'waiting' } });
    expect(shown(waiting)).toBe(true);
    expect(
      shown(reduce(waiting, { type: 'status', status: { ...RUNNING, activity: 'stopping' } })),
    ).toBe(true);
  });

  test('is over once the session is idle, also after a reset', () => {
    expect(shown(reduce(pressed, { type: 'status', status: IDLE }))).toBe(false);
    expect(shown(reduce(pressed, reset({ status: IDLE })))).toBe(false);
    expect(shown(reduce(pressed, reset({ status: RUNNING })))).toBe(true);
  });

  test('does not hold for the next turn', () => {
    const next = reduce(pressed, { type: 'status', status: { ...RUNNING, turnId: 't2' } });
    expect(shown(next)).toBe(false);
  });

  test('without turn ids ends when "stopping" is followed by work again', () => {
    const { turnId: _, ...running } = RUNNING;
    const view = viewAfter(
      reset({ status: running }),
      { type: 'local_stop' },
      { type: 'status', status: { ...running, activity: 'stopping' } },
      { type: 'status', status: running },
    );
    expect(shown(view)).toBe(false);
  });

  test('of an idle session does nothing', () => {
    expect(viewAfter(reset(), { type: 'local_stop' }).stop).toBeNull();
  });
});

describe('sending and answering', () => {
  test('only the answer to the pending send counts', () => {
    const pending = viewAfter(reset(), { type: 'local_send', requestId: 7 });
    expect(reduce(pending, { type: 'sent', requestId: 6 })).toBe(pending);
    expect(reduce(pending, { type: 'sent', requestId: 7, error: 'no' }).send).toEqual({
      pending: null,
      seq: 1,
      done: 7,
      error: 'no',
    });
  });

  test('an answer that failed leaves the gate open with the reason; a closed gate forgets it', () => {
    const failed = viewAfter(
      reset({ gates: [PERMISSION] }),
      { type: 'local_answer', gateId: 'g1' },
      { type: 'answer_failed', gateId: 'g1', error: 'too late' },
    );
    expect(failed.answers.get('g1')).toEqual({ sending: false, error: 'too late' });
    expect(reduce(failed, { type: 'gates', gates: [] }).answers.size).toBe(0);
  });
});
