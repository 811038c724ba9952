import { expect, test } from 'vitest';
import { announcements } from '../../../media/chat/state/announce.ts';
import { INITIAL_STATE } from '../../../media/chat/state/initial.ts';
import { reduce } from '../../../media/chat/state/reduce.ts';
import type { Action } from '../../../media/chat/state/view-state.ts';
import type { ChatItem } from '../../../src/protocol/chat.ts';
import { PERMISSION, reset } from '../../ui/support/samples.ts';

const START = reduce(
  INITIAL_STATE,
  reset({ items: [{ kind: 'user', id: 'u', at: 0, text: 'Hi', attachments: [] }] }),
);

const END: ChatItem = {
  kind: 'turn_end',
  id: 'e',
  stopReason: 'end_turn',
  terminal: 'natural',
  reason: '',
  seconds: 2,
};

function saidBy(...actions: readonly Action[]): readonly string[] {
  let view = START;
  return actions.flatMap((action) => {
    const before = view;
    view = reduce(view, action);
    return announcements(before, view);
  });
}

test('a turn is announced once, when it ends, and its tokens never', () => {
  expect(
    saidBy(
      { type: 'upsert', items: [{ kind: 'assistant', id: 'a', text: '', streaming: true }] },
      { type: 'append', id: 'a', field: 'text', offset: 0, text: 'Good ' },
      { type: 'append', id: 'a', field: 'text', offset: 5, text: 'day' },
      { type: 'upsert', items: [END] },
      { type: 'upsert', items: [END] },
    ),
  ).toEqual(['Good day — Finished · 2.0 s']);
});

test('a gate is announced once, however often the list comes', () => {
  expect(
    saidBy({ type: 'gates', gates: [PERMISSION] }, { type: 'gates', gates: [PERMISSION] }),
  ).toEqual(['Needs your answer: Run a command']);
});

test('another session opening announces nothing of its past', () => {
  const other = reset({
    status: { ...START.status, sessionId: 's2' },
    items: [END],
    gates: [PERMISSION],
  });
  expect(saidBy(other)).toEqual([]);
});

test('turns that come with the conversation after a reload were announced before', () => {
  expect(saidBy(reset({ items: [] }), reset({ items: [END] }))).toEqual([]);
});

test('an answer is announced by its words, not by its Markdown', () => {
  const text =
    '# Done\n\nI **changed** `greet.ts`, see [the docs](https://example.org/x).\n\n- one\n- two\n';
  expect(
    saidBy({
      type: 'upsert',
      items: [{ kind: 'assistant', id: 'a', text, streaming: false }, END],
    }),
  ).toEqual(['Done I changed greet.ts, see the docs. one two — Finished · 2.0 s']);
});
