import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Access, PolicyRule } from '../../../../../src/core/session/tool.ts';
import { MODES, type Mode, type SessionId } from '../../../../../src/core/session/words.ts';
import { PolicyFixture } from './policy-fixture.ts';

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

describe('the modes', () => {
  it.each<[string, () => Access, readonly string[]]>([
    // In the order of MODES: ask, architect, code, shadow.
    [
      'a read inside',
      () => ({ kind: 'read', path: inside('a.txt') }),
      ['allow', 'allow', 'allow', 'allow'],
    ],
    [
      'a read of secrets',
      () => ({ kind: 'read', path: inside('.env') }),
      ['ask', 'ask', 'ask', 'ask'],
    ],
    ['a read outside', () => ({ kind: 'read', path: '/etc/passwd' }), ['ask', 'ask', 'ask', 'ask']],
    [
      'a write inside',
      () => ({ kind: 'write', path: inside('a.txt') }),
      ['ask', 'deny', 'allow', 'propose'],
    ],
    [
      'a write of settings',
      () => ({ kind: 'write', path: inside('.vscode/tasks.json') }),
      ['ask', 'deny', 'ask', 'propose'],
    ],
    [
      'a write outside',
      () => ({ kind: 'write', path: '/etc/passwd' }),
      ['ask', 'deny', 'ask', 'propose'],
    ],
    ['a command', () => fixture.command('npm test'), ['ask', 'deny', 'allow', 'propose']],
    [
      'a command with the network',
      () => fixture.command('curl x'),
      ['ask', 'deny', 'ask', 'propose'],
    ],
    [
      'a fetch',
      () => ({ kind: 'fetch', url: 'https://a.test/' }),
      ['ask', 'ask', 'ask', 'propose'],
    ],
    [
      'an external tool',
      () => ({ kind: 'external', server: 's', tool: 't' }),
      ['ask', 'deny', 'ask', 'propose'],
    ],
    ['the session', () => ({ kind: 'session' }), ['allow', 'allow', 'allow', 'allow']],
  ])('decide about %s', async (_name, access, expected) => {
    const decisions = await Promise.all(MODES.map((mode) => decide(mode, [access()])));
    expect(decisions.map(({ decision }) => decision)).toEqual(expected);
  });

  it('need every access of a call to pass', async () => {
    const read: Access = { kind: 'read', path: inside('a.txt') };
    const write: Access = { kind: 'write', path: inside('a.txt') };
    expect((await decide('ask', [read, write])).decision).toBe('ask');
    expect((await decide('architect', [read, write])).decision).toBe('deny');
  });

  it('ask about a tool that does not say what it touches', async () => {
    expect((await decide('code', [])).decision).toBe('ask');
    expect((await decide('architect', [])).decision).toBe('deny');
  });

  it('let architect be asked for an external tool that says it only reads', async () => {
    expect(
      (await decide('architect', [{ kind: 'external', server: 's', tool: 't' }], 't', true))
        .decision,
    ).toBe('ask');
  });
});

describe('rules for paths, URLs and external tools', () => {
  it('are globs, absolute, at home or in the working folder', async () => {
    userRules(
      { effect: 'allow', tool: 'write', kind: 'write', pattern: 'src/**' },
      { effect: 'deny', tool: '*', kind: 'read', pattern: '~/work/hidden/*' },
    );
    const write = (name: string, tool = 'write') =>
      decide('ask', [{ kind: 'write', path: inside(name) }], tool);
    expect((await write('src/a/b.ts')).decision).toBe('allow');
    expect((await write('src/.hidden')).decision).toBe('allow');
    expect((await write('src/a/b.ts', 'edit')).decision).toBe('ask');
    expect((await write('srcs/a')).decision).toBe('ask');
    expect((await write('src/.git/config')).decision).toBe('deny');
    expect((await decide('ask', [{ kind: 'read', path: inside('hidden/x') }])).decision).toBe(
      'deny',
    );
  });

  it('open a file of secrets only by its whole name', async () => {
    const read = () => decide('ask', [{ kind: 'read', path: inside('.env') }]);
    userRules({ effect: 'allow', tool: '*', kind: 'read', pattern: '**' });
    expect((await read()).decision).toBe('ask');
    userRules({ effect: 'allow', tool: '*', kind: 'read', pattern: inside('.env') });
    expect((await read()).decision).toBe('allow');
  });

  it('compare hosts whole', async () => {
    userRules(
      { effect: 'allow', tool: '*', kind: 'fetch', pattern: 'https://a.test/docs/*' },
      { effect: 'allow', tool: '*', kind: 'fetch', pattern: 'https://*.b.test/*' },
    );
    const fetched = async (url: string) =>
      (await decide('code', [{ kind: 'fetch', url }])).decision;
    expect(await fetched('https://a.test/docs/x?y')).toBe('allow');
    expect(await fetched('https://a.test/other')).toBe('ask');
    expect(await fetched('https://a.test.evil/docs/x')).toBe('ask');
    expect(await fetched('http://a.test/docs/x')).toBe('ask');
    expect(await fetched('https://a.test:8443/docs/x')).toBe('ask');
    expect(await fetched('https://x.b.test/')).toBe('allow');
    expect(await fetched('https://evilb.test/')).toBe('ask');
  });

  it('name a server and a tool', async () => {
    userRules(
      { effect: 'allow', tool: '*', kind: 'external', pattern: 's/*' },
      { effect: 'deny', tool: '*', kind: 'external', pattern: 's/drop' },
    );
    const used = async (server: string, tool: string) =>
      (await decide('ask', [{ kind: 'external', server, tool }])).decision;
    expect([await used('s', 'a'), await used('s', 'drop'), await used('s2', 'a')]).toEqual([
      'allow',
      'deny',
      'ask',
    ]);
  });
});

describe('a remembered answer', () => {
  it.each([
    'npm test',
    "echo 'a b' '*' \"it's\" > out.txt",
    'make && npm run x',
    'git push origin',
    'sudo make',
    'rm -rf build',
  ])('makes %s not be asked again, in its scope only', async (text) => {
    const decision = await decide('ask', command(text));
    if (decision.decision !== 'ask') throw new Error('it was not asked');
    expect(decision.remember.map(({ scope }) => scope)).toEqual(['session', 'workspace', 'user']);
    const [session] = decision.remember;
    if (session === undefined) throw new Error('nothing to remember');
    await fixture.policy.remember(fixture.sessionId, fixture.workspace, session, 'allow');
    expect(await run(text)).toBe('allow');
    const other = await fixture.policy.decide({
      sessionId: 'other' as SessionId,
      workspace: fixture.workspace,
      mode: 'ask',
      tool: 'run',
      readOnly: false,
      accesses: command(text),
    });
    expect(other.decision).toBe('ask');
    expect(await run(`${text} more`)).toBe('ask');
  });

  it.each([
    '$X',
    'ls | bash',
    'rm $X',
    'ls | xargs rm',
    'eval "$X"',
    'ls "unterminated',
    'ls *.ts',
  ])('can not be had for %s, which may be something else next time', async (text) => {
    expect(await decide('ask', command(text))).toMatchObject({ decision: 'ask', remember: [] });
  });

  it('of a write can be for the whole workspace, but not for its settings', async () => {
    const decision = await decide('ask', [{ kind: 'write', path: inside('a [1].txt') }], 'write');
    if (decision.decision !== 'ask') throw new Error('it was not asked');
    const [broad] = decision.remember;
    if (broad === undefined) throw new Error('nothing to remember');
    expect(broad).toMatchObject({
      scope: 'session',
      label: 'Always allow changing files of the folder, in this session',
    });
    await fixture.policy.remember(fixture.sessionId, fixture.workspace, broad, 'allow');
    expect((await decide('ask', [{ kind: 'write', path: inside('other') }])).decision).toBe(
      'allow',
    );
    expect((await decide('ask', [{ kind: 'write', path: inside('.vscode/x') }])).decision).toBe(
      'ask',
    );
    expect((await decide('ask', [{ kind: 'read', path: inside('.env') }])).decision).toBe('ask');
  });

  it('names the path exactly, whatever characters it has', async () => {
    const file = inside('a*[1]{x}.txt');
    const decision = await decide('ask', [{ kind: 'write', path: file }]);
    const exact =
      decision.decision === 'ask'
        ? decision.remember.find(({ scope }) => scope === 'workspace')
        : undefined;
    if (exact === undefined) throw new Error('nothing to remember');
    await fixture.policy.remember(fixture.sessionId, fixture.workspace, exact, 'allow');
    expect((await decide('ask', [{ kind: 'write', path: file }])).decision).toBe('allow');
    expect((await decide('ask', [{ kind: 'write', path: inside('aZ1x.txt') }])).decision).toBe(
      'ask',
    );
  });

  it('can be a no, and beats every yes', async () => {
    const decision = await decide('ask', command('npm test'));
    const user = decision.decision === 'ask' ? decision.remember.at(-1) : undefined;
    if (user === undefined) throw new Error('nothing to remember');
    await fixture.policy.remember(fixture.sessionId, fixture.workspace, user, 'deny');
    await fixture.policy.remember(fixture.sessionId, fixture.workspace, user, 'allow');
    expect(await run('npm test')).toBe('deny');
    expect(await fixture.policy.listRules(fixture.sessionId, fixture.workspace)).toHaveLength(2);
    await fixture.policy.resetRules('user', fixture.sessionId, fixture.workspace);
    expect(await run('npm test')).toBe('ask');
  });

  it('of one workspace is not one of another', async () => {
    const decision = await decide('ask', command('npm test'));
    const option = decision.decision === 'ask' ? decision.remember[1] : undefined;
    if (option === undefined) throw new Error('nothing to remember');
    await fixture.policy.remember(fixture.sessionId, fixture.workspace, option, 'allow');
    const other = { cwd: inside('src'), roots: [inside('src')] };
    const elsewhere = await fixture.policy.decide({
      sessionId: fixture.sessionId,
      workspace: other,
      mode: 'ask',
      tool: 'run',
      readOnly: false,
      accesses: command('npm test'),
    });
    expect([await run('npm test'), elsewhere.decision]).toEqual(['allow', 'ask']);
  });
});
