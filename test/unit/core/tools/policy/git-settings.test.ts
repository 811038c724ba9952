import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { commandRule, PolicyFixture } from './policy-fixture.ts';

let fixture: PolicyFixture;
beforeAll(async () => {
  fixture = await PolicyFixture.create();
});
afterAll(() => fixture.dispose());
beforeEach(() => fixture.reset());

describe('a git command that can make git run a program', () => {
  it.each([
    'git config core.pager evil',
    'git config --global alias.st "!evil"',
    'git config set core.hooksPath x',
    'git config --add core.fsmonitor evil',
    'git config -e',
    'git config --unset x',
    'git config $X',
    '/usr/bin/git config core.pager evil',
    'git-config core.pager evil',
    'git -c core.pager=evil log',
    'git -p -c core.fsmonitor=evil status',
    'git --config-env=core.pager=X log',
    'git --exec-path=evil status',
    'git --git-dir=evil status',
    'git --git-dir evil status',
    'git -C src config core.pager evil',
    'git remote add x ext::evil',
    'git remote set-url origin x',
    'git submodule update --init',
    'git submodule add x',
    'git submodule foreach evil',
    'git bisect run evil',
    'git hook run x',
    'git rebase --exec evil HEAD~1',
    'git rebase -x evil HEAD~1',
    'git grep -Oevil x',
    'git grep --open-files-in-pager=evil x',
    'git difftool -x evil',
    'git fetch --upload-pack=evil',
    'git fetch --upload-p evil',
    'git init --template=evil',
    'git credential fill',
    'git filter-branch --tree-filter evil',
    'git $X',
    'git $X core.pager evil',
    'timeout 5 git config core.pager evil',
    'true && git config core.pager evil',
  ])('is asked about, and no broad rule allows it: %s', async (text) => {
    expect(await fixture.run(text, 'code')).toBe('ask');
    fixture.userRules(commandRule('allow', 'git *'), commandRule('allow', '*'));
    expect(await fixture.run(text)).toBe('ask');
    expect(await fixture.run(text, 'code')).toBe('ask');
  });

  it('is allowed by a rule that names it whole', async () => {
    fixture.userRules(commandRule('allow', 'git config user.name x'));
    expect(await fixture.run('git config user.name x')).toBe('allow');
    expect(await fixture.run('git config user.name y')).toBe('ask');
  });

  it('of another folder is not what a broad rule was meant for', async () => {
    fixture.userRules(commandRule('allow', 'git *'));
    expect(await fixture.run('git -C src status')).toBe('ask');
    expect(await fixture.run('git -C src status', 'code')).toBe('allow');
  });

  it.each([
    'git status',
    'git log --oneline -5',
    'git diff -- src',
    'git add -A',
    'git commit -m "config remote add"',
    'git checkout -b config',
    'git rebase main',
    'git stash',
    'git remote -v',
    'git remote get-url origin',
    'git submodule status',
    'git config user.name',
    'git config --get core.pager',
    'git config --global --list',
    'git worktree list',
    'git grep -n x',
    'git bisect good',
    'git --no-pager log',
    'git init',
  ])('is no daily one: %s', async (text) => {
    expect(await fixture.run(text, 'code')).toBe('allow');
    fixture.userRules(commandRule('allow', 'git *'));
    expect(await fixture.run(text)).toBe('allow');
  });
});
