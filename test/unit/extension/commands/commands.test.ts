import { describe, expect, it } from 'vitest';
import { targetOf } from '../../../../src/extension/commands/picks/arguments.ts';
import { folderChoice } from '../../../../src/extension/commands/picks/folder-choice.ts';

const one = { name: 'one', path: '/one' };
const two = { name: 'two', path: '/two' };

describe('the folder of a new session', () => {
  it('is asked for where there are several, that of the active editor first (A40)', () => {
    expect(folderChoice([one, two], '/two')).toEqual({
      kind: 'pick',
      roots: [two, one],
      suggested: two,
    });
    expect(folderChoice([one, two], null)).toMatchObject({ kind: 'pick', suggested: null });
  });

  it('is the only one, or none', () => {
    expect(folderChoice([one], '/two')).toEqual({ kind: 'one', root: one });
    expect(folderChoice([], null)).toEqual({ kind: 'no_folder' });
  });
});

describe('the target of a command', () => {
  it('is a row of the tree, a question, or what another command names', () => {
    expect(targetOf({ kind: 'session', view: { row: { sessionId: 's' } } })).toEqual({
      sessionId: 's',
    });
    expect(targetOf({ kind: 'gate', gate: { gateId: 'g', sessionId: 's' } })).toEqual({
      gateId: 'g',
      sessionId: 's',
    });
    expect(targetOf({ sessionId: 's' })).toEqual({ sessionId: 's' });
    for (const nothing of [undefined, null, 'x', {}, { sessionId: 7 }])
      expect(targetOf(nothing)).toEqual({});
  });
});
