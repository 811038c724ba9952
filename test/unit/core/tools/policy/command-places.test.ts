import { mkdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { PolicyRule } from '../../../../../src/core/session/tool.ts';
import { commandRule, PolicyFixture } from './policy-fixture.ts';

let fixture: PolicyFixture;
beforeAll(async () => {
  fixture = await PolicyFixture.create();
});
afterAll(() => fixture.dispose());
beforeEach(() => fixture.reset());

const everything: PolicyRule = { effect: 'allow', tool: '*', kind: '*', pattern: '*' };

describe('what a process shows below /proc', () => {
  it.each([
    'grep -az OPENAI /proc/$PPID/environ',
    'cat /proc/$PPID/environ',
    `cat "/proc/\${PPID}/environ"`,
    'cat /proc/*/environ',
    'cat /proc/[0-9]*/env*',
    'cat /proc/$PPID/env""iron',
    'cat /proc/self/environ',
    'cat /proc/thread-self/environ',
    'cat /proc/1/task/1/environ',
    'cat /proc/$P/task/$T/environ',
    'cat //proc/./self/environ',
    'cat /tmp/../proc/self/environ',
    'cd /proc && cat self/environ',
    'cd /proc; cat */environ',
    'cat /pr*/self/environ',
    'cat /*/self/environ',
    'cat /proc/1/mem',
    'cat /proc/$PPID/maps',
    'cat /proc/self/root/etc/passwd',
    'cat /proc/$PPID/root/etc/passwd',
    'ls /proc/$PPID/fd',
    'cat /proc/$PPID/fd/3',
    'cat /proc/$PPID/cwd/x',
    'cat < /proc/self/environ',
    'cat < /proc/$PPID/environ',
    'X=/proc/$PPID/environ; cat $X',
    'for f in /proc/[0-9]*/environ; do cat $f; done',
    'dd if=/proc/$PPID/environ',
    'grep --file=/proc/self/environ x',
    'ls | xargs -I{} cat /proc/{}/environ',
  ])('is denied: %s', async (text) => {
    fixture.userRules(everything);
    expect(await fixture.run(text)).toBe('deny');
    expect(await fixture.run(text, 'code')).toBe('deny');
  });

  it.each([
    'cat /proc/$PPID/cmdline',
    'cat /proc/$PPID/$x',
    'cat /proc/1/status',
    'cat /proc/net/tcp',
    'ls /proc',
    'P=/proc/$PPID; cat $P/environ',
    'P=/pr; Q=oc; cat $P$Q/self/environ',
    'echo 1 > /proc/sys/kernel/x',
  ])('is asked about where it may be less: %s', async (text) => {
    fixture.userRules(commandRule('allow', '*'));
    expect(await fixture.run(text)).toBe('ask');
    expect(await fixture.run(text, 'code')).toBe('ask');
  });

  it('does not stand in the way of what tells of the machine only', async () => {
    for (const text of ['cat /proc/cpuinfo', 'grep x /proc/meminfo', 'head -1 < /proc/version'])
      expect(await fixture.run(text, 'code')).toBe('allow');
  });

  it('is denied to the tools that read files', async () => {
    const read = (file: string) => fixture.decide('code', [{ kind: 'read', path: file }]);
    expect((await read('/proc/1/environ')).decision).toBe('deny');
    expect((await read('/proc/1/status')).decision).toBe('ask');
  });
});

describe('a remembered command', () => {
  it.each([
    'cd /tmp/evil && ./build.sh',
    'cd src && ./build.sh',
    'pushd src; ./build.sh',
    'pushd src; popd; ./build.sh',
    'cd src; true | ./build.sh',
    'cd src; bash -c ./build.sh',
    'env -C src ./build.sh',
    'cd /tmp && make',
    'cd ~ && make',
    '(cd /tmp/evil; make)',
    'cd .. && make',
  ])('is bound to the folder it was allowed in: %s', async (text) => {
    fixture.userRules(commandRule('allow', './build.sh'), commandRule('allow', 'make'));
    expect(await fixture.run(text)).toBe('ask');
  });

  it('is allowed in that folder, and by its name alone also below it', async () => {
    fixture.userRules(commandRule('allow', './build.sh'), commandRule('allow', 'make'));
    expect(await fixture.run('./build.sh && make')).toBe('allow');
    expect(await fixture.run('cd src && make')).toBe('allow');
    const away = { kind: 'execute', command: './build.sh', cwd: fixture.inside('src') } as const;
    expect((await fixture.decide('ask', [away])).decision).toBe('ask');
  });
});

describe('a word that is only known in part', () => {
  it.each([
    'a=data; cat $HOME/$a/X',
    'a=data; cat ~/$a/X',
    'a=data; cat "$HOME/$a/X"',
    'cat ../$a/X',
    'cat ../d*/X',
    'cat src/$a/../../X',
    'cat src/*/../../X',
    'cat "$PWD/../$a"',
    'cat ~other/x',
    'cat --file=$HOME/$a',
    'cd src; cd ..; cat $PWD/x',
    'cat l*/config',
    'cat @(a|b)/X',
  ])('is asked about where it may lead to what is protected: %s', async (text) => {
    fixture.userRules(commandRule('allow', '*'));
    expect(await fixture.run(text)).toBe('ask');
    expect(await fixture.run(text, 'code')).toBe('ask');
  });

  it('is asked about where the data folder is in the workspace itself', async () => {
    const own = await PolicyFixture.create('work/.pdata');
    try {
      for (const text of ['cat .p*/X', 'cat .*/X', 'cat ./$a/X', 'cat $PWD/$a/X'])
        expect([text, await own.run(text, 'code')]).toEqual([text, 'ask']);
      expect(await own.run('cat .pdata/X', 'code')).toBe('deny');
      for (const text of ['cat src/*.ts', 'ls *.md', 'cat src/$a'])
        expect([text, await own.run(text, 'code')]).toEqual([text, 'allow']);
    } finally {
      await own.dispose();
    }
    const plain = await PolicyFixture.create('work/pdata');
    try {
      for (const text of ['cat p?ata/X', 'cat */X', 'cat p[d]ata/X', 'ls *'])
        expect([text, await plain.run(text, 'code')]).toEqual([text, 'ask']);
    } finally {
      await plain.dispose();
    }
  });

  it('is asked about where a wildcard matches a link out of the workspace', async () => {
    await mkdir(fixture.inside('sub'));
    await writeFile(path.join(fixture.home, 'note'), 'x');
    await symlink(path.join(fixture.home, 'note'), fixture.inside('sub/away'));
    await symlink(fixture.inside('a.txt'), fixture.inside('sub/here'));
    expect(await fixture.run('cat sub/a*', 'code')).toBe('ask');
    expect(await fixture.run('cat sub/h*', 'code')).toBe('allow');
  });

  it.each([
    'cat src/*.ts',
    'ls *.md',
    'cat src/$a',
    'echo "see src/foo $x"',
    'echo "$x"',
    'ls $X',
    'git commit -m "fix: $x"',
    'sed -n "/$x/p" a.txt',
    'git log --format="%h $x"',
    'wc -l src/**/*.ts',
    'for f in src/*.ts; do wc -l "$f"; done',
    'git show HEAD~1',
  ])('stays as it was for daily use: %s', async (text) => {
    expect(await fixture.run(text, 'code')).toBe('allow');
  });
});
