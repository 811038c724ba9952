import { describe, expect, it } from 'vitest';
import { onlyProgramOf } from '../../../../../src/core/tools/run/only-program.ts';

describe('the only program of a command', () => {
  it.each([
    ['gh', 'gh'],
    ['  gh pr list  ', 'gh'],
    ['/usr/bin/gh pr view 1', '/usr/bin/gh'],
    ['gh pr create --title \'a; b | c $(d)\nnext\' --body "e & f; g"', 'gh'],
    ['gh pr list > out.txt 2>&1', 'gh'],
    ['gh pr list\\;env', 'gh'],
  ])('of %j is %s', (command, program) => {
    expect(onlyProgramOf(command)).toBe(program);
  });

  it.each([
    'gh; env',
    'gh\nenv',
    'gh & env',
    'gh && env',
    'gh | tee',
    'gh |& tee',
    'gh $(env)',
    'gh `env`',
    'gh "$(env)"',
    'gh "`env`"',
    'gh "\\$(env)$(env)"',
    "gh 'a' 'b\nc' ; env",
    "gh '",
    'gh "',
    'gh <(env)',
    'gh > >(env)',
    '(gh)',
    '{ gh; }',
    'X=1 gh',
    '$X gh',
    "'gh' list",
    'gh <<E\n$(env)\nE',
    '',
    `gh ${'x'.repeat(5000)}`,
  ])('of %j is not known', (command) => {
    expect(onlyProgramOf(command)).toBeNull();
  });
});
