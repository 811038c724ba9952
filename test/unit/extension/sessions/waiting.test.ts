import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  EMPTY_QUEUE,
  Waiting,
  withText,
} from '../../../../src/extension/sessions/control/waiting.ts';
import type { PendingInjection } from '../../../../src/protocol/harn.ts';

const OWNER = { clientId: 'me', role: 'host_owner', source: 'acp' } as const;

function message(messageId: string): PendingInjection {
  const content = [{ type: 'text' as const, text: messageId }];
  const at = '2026-01-01T00:00:00Z';
  return { kind: 'user', messageId, mode: 'steer', content, owner: OWNER, at, behindGate: false };
}

const ids = (messages: readonly { messageId: string }[]) => messages.map((one) => one.messageId);

describe('what waits in a session', () => {
  it('shows what the agent tells, but no reminders', () => {
    const waiting = new Waiting();
    const { messageId: _, ...reminder } = message('x');
    waiting.replace([message('a'), { ...reminder, kind: 'reminder', reminderId: 'r' }], null, true);
    expect(ids(waiting.pending)).toEqual(['a']);
    expect(waiting.queue).toBe(EMPTY_QUEUE);
  });

  it('does not take a delivered message for one that came back, in either order of the news', () => {
    for (const first of ['list', 'mark']) {
      const waiting = new Waiting();
      waiting.replace([message('a')], null, true);
      if (first === 'mark') waiting.explain('a');
      waiting.replace([], null, true);
      if (first === 'list') waiting.explain('a');
      waiting.turnEnded();
      expect(waiting.givenBack).toEqual([]);
    }
  });

  it('takes a message back from those that came back once a receipt says that somebody revoked it', () => {
    const waiting = new Waiting();
    waiting.replace([message('a')], null, false);
    waiting.replace([], null, false);
    expect(ids(waiting.givenBack)).toEqual(['a']);
    waiting.explain('a');
    expect(waiting.givenBack).toEqual([]);
  });

  it('lets a message that waits again after a restart be pending, not given back', () => {
    const waiting = new Waiting();
    waiting.replace([message('a')], null, true);
    waiting.lost();
    expect(ids(waiting.givenBack)).toEqual(['a']);
    waiting.replace([message('a')], null, false);
    expect(ids(waiting.givenBack)).toEqual([]);
    expect(ids(waiting.pending)).toEqual(['a']);
  });

  it('loses no message: each is pending, given back, delivered, taken back or dismissed', () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('lists' as const), keep: fc.nat(7), running: fc.boolean() }),
      fc.record({ kind: fc.constantFrom('explain' as const, 'giveBack' as const), id: fc.nat(2) }),
      fc.record({ kind: fc.constantFrom('turnEnded' as const, 'lost' as const) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
        const waiting = new Waiting();
        const names = ['a', 'b', 'c'];
        const explained = new Set<string>();
        waiting.replace(names.map(message), null, true);
        for (const one of steps) {
          if (one.kind === 'lists') {
            // The agent never lists again what it has delivered.
            const left = names.filter((_, at) => ((one.keep >> at) & 1) === 1);
            const still = left.filter(
              (id) => !explained.has(id) && ids(waiting.pending).includes(id),
            );
            waiting.replace(still.map(message), null, one.running);
          } else if (one.kind === 'explain') {
            explained.add(names[one.id] ?? '');
            waiting.explain(names[one.id] ?? '');
          } else if (one.kind === 'giveBack') waiting.giveBack(names[one.id] ?? '');
          else waiting[one.kind]();
        }
        waiting.lost();
        const shown = ids(waiting.givenBack);
        for (const id of names) expect(shown.includes(id)).toBe(!explained.has(id));
      }),
    );
  });

  it('keeps what is attached when the text of a message is changed', () => {
    const link = { type: 'resource_link' as const, uri: 'file:///a', name: 'a' };
    expect(withText([{ type: 'text', text: 'old' }, link], 'new')).toEqual([
      { type: 'text', text: 'new' },
      link,
    ]);
  });
});
