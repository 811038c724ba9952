import { expect, it } from 'vitest';
import { forkedTitle } from '../../../../src/core/session/state/title.ts';

it('a fork is told from its parent, and from another fork', () => {
  expect(forkedTitle('Fix the door')).toBe('Fix the door (fork)');
  expect(forkedTitle('Fix the door (fork)')).toBe('Fix the door (fork 2)');
  expect(forkedTitle('Fix the door (fork 2)')).toBe('Fix the door (fork 3)');
  expect(forkedTitle('Fix the door', 'bold idea')).toBe('Fix the door (bold idea)');
});
