import { describe, expect, it } from 'vitest';
import { aimOf, unknownCommand } from '../../../../src/extension/participant/aim.ts';

describe('the session that a control of a chat is for', () => {
  it.each([
    ['its own, while that runs', 'own', ['other', 'own'], { sessionId: 'own', instead: false }],
    ['its own, while nothing runs', 'own', [], { sessionId: 'own', instead: false }],
    ['the one that runs instead', 'own', ['other'], { sessionId: 'other', instead: true }],
    ['the one that runs', null, ['other'], { sessionId: 'other', instead: false }],
  ] as const)('is %s', (_, own, busy, aim) => {
    expect(aimOf(own, busy)).toEqual({ kind: 'session', ...aim });
  });

  it('is asked for where several others run, and is none where there is nothing', () => {
    expect(aimOf('own', ['a', 'b'])).toEqual({ kind: 'ask' });
    expect(aimOf(null, ['a', 'b'])).toEqual({ kind: 'ask' });
    expect(aimOf(null, [])).toEqual({ kind: 'none' });
  });
});

describe('a slash command that nobody knows', () => {
  it('is told from those of the session, from paths and from plain text', () => {
    expect(unknownCommand('/steeer do it', ['compact'])).toBe('steeer');
    expect(unknownCommand('/foo', [])).toBe('foo');
    for (const fine of ['/compact now', '/tmp/file is there', '/ alone', 'a /foo', '//x', ''])
      expect(unknownCommand(fine, ['compact'])).toBeNull();
  });
});
