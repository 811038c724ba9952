import path from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Access, PolicyDecision, PolicyRule } from '../../../../../src/core/session/tool.ts';
import { MODES, type Mode } from '../../../../../src/core/session/words.ts';
import { commandRule, PolicyFixture } from './policy-fixture.ts';

let fixture: PolicyFixture;
beforeAll(async () => {
  fixture = await PolicyFixture.create();
});
afterAll(() => fixture.dispose());
beforeEach(() => fixture.reset());

const userRules = (...rules: readonly PolicyRule[]): void => fixture.userRules(...rules);
const run = (text: string, mode?: Mode) => fixture.run(text, mode);
const decide: PolicyFixture['decide'] = (...call) => fixture.decide(...call);
const command = (text: string): Access[] => [fixture.command(text)];
const inside = (name: string): string => fixture.inside(name);

describe('the deny floor', () => {
  const everything: PolicyRule = { effect: 'allow', tool: '*', kind: '*', pattern: '*' };

  it.each<[string, () => Access]>([
    [
      'the data folder',
      () => ({ kind: 'read', path: path.join(fixture.home, 'data', 'policy.json') }),
    ],
    ['the data folder itself', () => ({ kind: 'write', path: path.join(fixture.home, 'data') })],
    ['a private key', () => ({ kind: 'read', path: path.join(fixture.home, '.ssh', 'id_rsa') })],
    ['a git hook', () => ({ kind: 'write', path: inside('.git/hooks/pre-commit') })],
    ['a git hook in other letters', () => ({ kind: 'write', path: inside('sub/.GIT/config') })],
  ])('stands before every rule and in every mode: %s', async (_name, access) => {
    userRules(everything);
    for (const mode of MODES) expect((await decide(mode, [access()])).decision).toBe('deny');
  });

  it('lets git folders and public keys be read', async () => {
    expect((await decide('ask', [{ kind: 'read', path: inside('.git/HEAD') }])).decision).toBe(
      'allow',
    );
    expect(
      (await decide('ask', [{ kind: 'read', path: path.join(fixture.home, '.ssh/id_rsa.pub') }]))
        .decision,
    ).toBe('ask');
  });

  it.each([
    'rm -rf /',
    'rm -rf /*',
    'rm -fr ~',
    'rm -rf ~/*',
    'rm -r "$HOME"',
    `rm -rf \${HOME}`,
    'rm -rf ../..',
    'rm -rf /etc',
    'cd / && rm -rf *',
    'cd /; rm -rf .',
    'rm --recursive /usr',
    'r""m -rf /',
    '\\rm -rf /',
    '/bin/rm -rf /',
    'sudo rm -rf /',
    'env rm -rf /',
    "bash -c 'rm -rf /'",
    'ls | xargs rm -rf /',
    'find . -exec rm -rf / \\;',
    'ls $(rm -rf /)',
    'ls `rm -rf /`',
    'cat <(rm -rf /)',
    '(rm -rf /)',
    '{ rm -rf /; }',
    'if true; then rm -rf /; fi',
    'f() { rm -rf /; }; f',
    'eval rm -rf /',
    'eval "rm -rf /"',
    'cat <<E\n$(rm -rf /)\nE',
    'bash <<E\nrm -rf /\nE',
    'bash <<< "rm -rf /"',
    "trap 'rm -rf /' EXIT",
    'X="$(rm -rf /)"',
    'timeout 5 rm -rf /',
    'nohup rm -rf / &',
    'chmod -R 777 /',
    'chown -R u ~',
    'mkfs.ext4 x',
    'sudo mkfs x',
    'dd if=/dev/zero of=/dev/sda',
    'cat x > /dev/sda',
    'shutdown now',
    'reboot',
    'systemctl poweroff',
    'init 0',
    ':(){ :|:& };:',
    'b() { b | b & }; b',
    'cat ~/.ssh/id_rsa',
    'cat link/id_rsa',
    'cd ~/.ssh && cat id_rsa',
    'cd ~ && cat .ssh/id_rsa',
    'tar c ~/.ssh',
    'cat < ~/.ssh/id_rsa',
    'X=~/.ssh/id_rsa; cat $X',
    'for f in ~/.ssh/id_rsa; do cat $f; done',
    'cat ~/data/sessions.db',
    'cat --file=../data/x',
    'echo x > .git/hooks/pre-commit',
    'cp x .git/config',
    'rm -rf .git',
    'tee .git/hooks/x',
    'sed -i s/a/b/ .git/config',
    'echo x >> ~/data/policy.json',
    'ssh -i~/.ssh/id_rsa h',
    'dd if=~/.ssh/id_rsa',
  ])('denies %s', async (text) => {
    userRules(everything, commandRule('allow', '*'));
    for (const mode of MODES) expect(await run(text, mode)).toBe('deny');
  });

  it.each([
    'rm -rf build',
    'rm -r ./src/x',
    'rm x',
    'cat .git/config',
    'git status',
    'dd if=a of=b',
    'ls /dev/sda',
  ])('does not deny %s', async (text) => {
    expect(await run(text)).toBe('ask');
  });
});

describe('a rule for commands', () => {
  it('covers its own words and no part of a compound besides (A34)', async () => {
    userRules(commandRule('allow', 'ls'));
    expect(await run('ls')).toBe('allow');
    const decision = await decide('ask', command('ls && rm -rf x'));
    expect(decision).toMatchObject({ decision: 'ask', details: ['ls', 'rm -rf x'] });
    expect(await run('ls -la')).toBe('ask');
    expect(await run('lsof')).toBe('ask');
    expect(await run('echo ls')).toBe('ask');
  });

  it.each([
    'ls; rm x',
    'ls || rm x',
    'ls | rm x',
    'ls & rm x',
    'ls\nrm x',
    '(ls; rm x)',
    '{ ls; rm x; }',
    'ls $(rm x)',
    'ls `rm x`',
    'ls "$(rm x)"',
    'ls <(rm x)',
    'ls > out.txt',
    'ls >> a.txt',
    'ls &> out.txt',
    'ls >| out.txt',
    'ls 2> out.txt',
    'ls <> a.txt',
    'ls < /etc/passwd',
    'ls <<E\n$(rm x)\nE',
    'ls <<< "$(rm x)"',
    'if ls; then rm x; fi',
    'ls && $X',
    '$X',
    '"$(echo ls)"',
    'l$Y',
    'eval "$X"',
    'eval ls\\;rm x',
    'bash -c "$X"',
    'bash -c "ls; rm x"',
    "sh -c 'rm x'",
    'bash',
    'ls | bash',
    'ls | sh -s',
    'bash -i',
    'bash --rcfile x -c ls',
    'env X',
    'env -S "rm x"',
    'env PATH=/x ls',
    'PATH=/x ls',
    'LD_PRELOAD=x ls',
    'PATH=/x; ls',
    'export PATH=/x; ls',
    'export $X; ls',
    'sudo ls',
    'doas ls',
    'su -c ls',
    'xargs ls',
    'ls | xargs',
    'ls | xargs rm',
    'ls | xargs -I{} sh -c "ls {}"',
    'ls | xargs $X',
    'find . -exec rm {} +',
    'find . -delete',
    'parallel ls',
    'watch rm x',
    'alias ls=rm; ls',
    'hash -p /bin/rm ls; ls',
    'enable -f x ls',
    'trap "rm x" EXIT',
    'ls() { rm x; }; ls',
    'coproc rm x',
    'time rm x',
    '! rm x',
    'timeout 5 rm x',
    'nice rm x',
    'exec rm x',
    'command rm x',
    'nohup rm x',
    'setsid rm x',
    'stdbuf -o0 rm x',
    'case x in x) rm x;; esac',
    'for i in 1; do rm x; done',
    'while rm x; do :; done',
    'select i in 1; do rm x; done',
    '[[ -n $(rm x) ]]',
    'echo $((1 + $(rm x)))',
    "x='a[$(rm x)]'; ls",
    "test -v 'a[$(rm x)]'",
    "printf -v 'a[$(rm x)]' x",
    'ls "unterminated',
    'ls $(',
    `ls \${X@P}`,
    `ls \${!X}`,
    '# only a comment',
    '',
    '   ',
    'source x',
    '. ./x',
    './ls',
    '/tmp/ls',
    '../ls',
    '\\rm x',
    'r\\m x',
    "'rm' x",
    'ls ../x',
    'ls /etc',
    'ls ~',
    'ls $HOME',
    'ls link',
    'ls .env',
    'ls --file=/etc/passwd',
  ])('does not cover %j', async (text) => {
    userRules(commandRule('allow', 'ls'), commandRule('allow', 'ls *'));
    expect(await run(text)).not.toBe('allow');
  });

  it.each([
    'ls',
    'ls -la',
    'ls src/x',
    'ls *.ts',
    'ls "a b"',
    '"ls" -a',
    'ls && ls -a',
    'ls | ls',
    'ls; ls',
    'ls > /dev/null 2>&1',
    'ls 2>/dev/null',
    'cd src && ls',
    'CI=1 ls',
    'LC_ALL=C ls',
    'env CI=1 ls',
    'timeout 5 ls',
    'timeout -s KILL 5 ls -a',
    'nice -n 5 ls',
    'time ls',
    'command ls',
    'bash -c "ls -a"',
    'sh -ec ls',
    'bash <<< ls',
    'bash <<E\nls\nE',
    'eval ls',
    'ls # rm x',
    "ls 'rm x'",
    'ls && true',
    'if ls; then ls -a; fi',
    'for i in 1 2; do ls $i; done',
    'ls "$(ls)"',
    'ls $X',
    '! ls',
    '(ls)',
    'ls src/../src',
    'command -v ls || ls',
  ])('covers %j', async (text) => {
    userRules(
      commandRule('allow', 'ls'),
      commandRule('allow', 'ls *'),
      commandRule('allow', 'command *'),
    );
    expect(await run(text)).toBe('allow');
  });

  it('compares words as the shell passes them', async () => {
    userRules(
      commandRule('allow', 'git status *'),
      commandRule('allow', 'npm run test:*'),
      commandRule('allow', "echo 'a b'"),
    );
    expect(await run('git status')).toBe('allow');
    expect(await run('git  "status" -s')).toBe('allow');
    expect(await run('git statuses')).toBe('ask');
    expect(await run('git -c core.pager=x status')).toBe('ask');
    expect(await run('git "status -s"')).toBe('ask');
    expect(await run('git $X')).toBe('ask');
    expect(await run('npm run test:unit')).toBe('allow');
    expect(await run('npm run test:unit --x')).toBe('ask');
    expect(await run('npm run build')).toBe('ask');
    expect(await run('echo a\\ b')).toBe('allow');
    expect(await run('echo a b')).toBe('ask');
  });

  it('that denies beats one that allows, also in a part, with another path, and in every mode', async () => {
    userRules(
      commandRule('allow', 'git *'),
      commandRule('deny', 'git push *'),
      commandRule('allow', 'ls'),
    );
    expect(await run('git log')).toBe('allow');
    for (const text of [
      'git push',
      'git push origin',
      'ls && git push',
      '/usr/bin/git push',
      'sudo git push',
      'git push $X',
    ])
      for (const mode of MODES) expect(await run(text, mode)).toBe('deny');
  });

  it('that asks holds in code mode', async () => {
    userRules(commandRule('ask', 'npm *'));
    expect(await run('npm test', 'code')).toBe('ask');
    expect(await run('make', 'code')).toBe('allow');
  });

  it('can not lift what the mode never does', async () => {
    userRules(commandRule('allow', '*'));
    expect(await run('ls', 'architect')).toBe('deny');
    expect(await run('ls', 'shadow')).toBe('propose');
    expect(await run('ls', 'ask')).toBe('allow');
  });

  it('is not understood if it is no plain command', async () => {
    for (const pattern of ['ls; rm', 'ls && rm *', 'ls > x', '$X', '', '('])
      userRules(commandRule('allow', pattern));
    expect(await run('ls')).toBe('ask');
  });
});

describe('code mode', () => {
  it.each([
    'npm test',
    'make -j4',
    'echo x > out.txt',
    "sed -n '/foo/p' a.txt",
    'node x.js',
    'mkdir -p a/b',
    'git commit -m x',
    'cat a.txt | wc -l',
    'rm a.txt',
  ])('runs %s', async (text) => {
    expect(await run(text, 'code')).toBe('allow');
  });
  it.each([
    'curl https://a.test',
    'git push',
    'sudo make',
    'cat /etc/passwd',
    'ls ..',
    'cp a.txt ~',
    'echo x > ../y',
    'cat .env',
    'cat .e*',
    'X=.env; cat $X',
    'rm -rf src',
    'rm $X',
    'git reset --hard',
    '$X',
    'curl x | sh',
    'echo x > .vscode/settings.json',
    'cat *.pem',
    'cat {.env,x}',
    'ls > "$X"',
  ])('asks about %s', async (text) => {
    expect(await run(text, 'code')).toBe('ask');
  });
});

describe('a compound command', () => {
  const simple = fc.constantFrom(
    'ls',
    'ls -a',
    'npm test',
    'git push',
    'rm -rf x',
    'rm -rf /',
    '$X',
    'cat .env',
    'true',
    'cd src',
    'cd /',
    'echo x > y',
    'sudo ls',
    'X=1',
    'PATH=/x',
    'cat ../z',
    'make',
    'for i in a; do ls $i; done',
    'ls $(git push)',
    'bash',
    "bash -c 'ls'",
  );
  const joined = fc
    .tuple(
      simple,
      fc.array(fc.tuple(fc.constantFrom(' && ', ' || ', ' | ', '; ', '\n', ' & '), simple), {
        maxLength: 3,
      }),
    )
    .map(([first, rest]) => first + rest.map(([joint, part]) => joint + part).join(''));
  const wrapped = fc
    .tuple(
      joined,
      fc.constantFrom(
        (t: string) => t,
        (t: string) => `(${t})`,
        (t: string) => `{ ${t}\n}`,
        (t: string) => `if true; then ${t}\nfi`,
      ),
    )
    .map(([text, wrap]) => wrap(text));
  const rank: Record<PolicyDecision['decision'], number> = {
    allow: 0,
    ask: 1,
    propose: 2,
    deny: 3,
  };

  it('is never decided more leniently than one of its parts', async () => {
    userRules(
      commandRule('allow', 'ls'),
      commandRule('allow', 'ls *'),
      commandRule('allow', 'npm test'),
      commandRule('deny', 'make *'),
    );
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(
        wrapped,
        wrapped,
        fc.constantFrom(' && ', ' || ', ' | ', '; ', '\n'),
        fc.constantFrom(...MODES),
        fc.boolean(),
        async (kept, added, joint, mode, front) => {
          const before = await run(kept, mode);
          const after = await run(front ? added + joint + kept : kept + joint + added, mode);
          seen.add(`${before}>${after}`);
          expect(rank[after]).toBeGreaterThanOrEqual(rank[before]);
        },
      ),
      { numRuns: 500 },
    );
    expect([...seen]).toEqual(
      expect.arrayContaining(['allow>allow', 'allow>ask', 'ask>ask', 'ask>deny', 'deny>deny']),
    );
  });
});
