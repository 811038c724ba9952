import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseMessage } from '../../../media/chat/bridge/parse-message.ts';
import { ASK, AUTH, CONVERSATION, PERMISSION, reset } from '../../ui/support/samples.ts';

test('every kind of row and gate passes, as the same object', () => {
  const message = reset({ items: CONVERSATION, gates: [PERMISSION, ASK, AUTH] });
  expect(parseMessage(message)).toBe(message);
});

test.each([
  [{ type: 'unknown' }],
  [{ type: 'toString' }],
  [{ type: 'upsert', items: [{ kind: 'assistant', id: 'a', text: 3, streaming: true }] }],
  [{ type: 'upsert', items: [{ kind: 'from_the_future', id: 'a' }] }],
  [{ type: 'append', id: 'a', field: 'html', offset: 0, text: '' }],
  [{ type: 'sent', requestId: 'one' }],
  [{ ...reset(), strings: { send: 1 } }],
  [null],
  ['reset'],
  [[]],
])('%j is refused', (message) => {
  expect(parseMessage(message)).toBeNull();
});

test('whatever comes, parsing does not throw', () => {
  fc.assert(
    fc.property(fc.anything({ withNullPrototype: true }), (value) => {
      expect(() => parseMessage(value)).not.toThrow();
    }),
  );
});
