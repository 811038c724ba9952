import { describe, expect, it } from 'vitest';
import {
  checkEnvironmentPolicy,
  checkForkPolicy,
  environmentFor,
  narrows,
  parseEnvironmentPolicy,
} from '../../../../src/core/host/environment-policy.ts';
import { SessionEnvironments } from '../../../../src/core/host/session-environments.ts';
import type {
  EnvironmentGrant,
  EnvironmentPolicy,
  SessionId,
} from '../../../../src/core/session/words.ts';

const HOST = {
  PATH: '/bin',
  HOME: '/home/me',
  LC_ALL: 'C',
  SECRET: 'shh',
  TOKEN: 't0k',
  OPENAI_API_KEY: 'key',
  PILOTHOUSE_HOME: '/data',
  HARN_SERVE_API_KEY: 'door',
};

const grant = (from: string, to = from, program?: string): EnvironmentGrant => ({
  name: `${from} as ${to} for ${program ?? 'all'}`,
  source: { env: { var: from } },
  expose_as_env: to,
  ...(program === undefined ? {} : { for_command: program }),
});
const granted = (...grants: readonly EnvironmentGrant[]): EnvironmentPolicy => ({
  kind: 'granted',
  grants,
});
const names = (environment: NodeJS.ProcessEnv): string[] => Object.keys(environment).sort();

const MINIMUM = ['GIT_PAGER', 'GIT_TERMINAL_PROMPT', 'HOME', 'LC_ALL', 'PAGER', 'PATH', 'TERM'];

describe('environmentPolicy on the wire', () => {
  it('is inherited where it is missing', () => {
    expect(parseEnvironmentPolicy(undefined)).toEqual({ kind: 'inherited' });
  });

  it('is read where every part of it is known', () => {
    const policy = granted(grant('SECRET'), grant('TOKEN', 'GH_TOKEN', 'gh'));
    expect(parseEnvironmentPolicy(JSON.parse(JSON.stringify(policy)))).toEqual(policy);
    expect(parseEnvironmentPolicy({ kind: 'isolated', grants: [] })).toEqual({ kind: 'isolated' });
  });

  it.each([
    ['a kind that is not known', { kind: 'sealed' }],
    ['no kind', { grants: [] }],
    ['another type', 'isolated'],
    ['grants of a kind that has none', { kind: 'isolated', grants: [grant('SECRET')] }],
    ['a granted policy without grants', { kind: 'granted' }],
    ['a field that is not known', { kind: 'isolated', except: ['SECRET'] }],
    ['a field of a grant that is not known', granted({ ...grant('A'), until: 1 } as never)],
    ['a name that is none', granted(grant('A-B'))],
    ['a command that is no program', granted(grant('A', 'A', 'gh pr'))],
    [
      'a secret store',
      {
        kind: 'granted',
        grants: [
          { name: 'x', source: { secret_store: { account: 'a', key: 'k' } }, expose_as_env: 'X' },
        ],
      },
    ],
  ])('is rejected with %s', (_what, policy) => {
    expect(() => parseEnvironmentPolicy(policy)).toThrow(
      expect.objectContaining({ code: 'host.bad_environment' }),
    );
  });
});

describe('an environment policy on a host', () => {
  const check = (...grants: readonly EnvironmentGrant[]) => {
    checkEnvironmentPolicy(granted(...grants), HOST);
  };

  it('may name what is there', () => {
    check(grant('SECRET'), grant('TOKEN', 'GH_TOKEN', 'gh'), grant('HOME'));
  });

  it.each([
    ['a variable that is not there', [grant('ABSENT')]],
    ['no variable at all', [grant('__proto__', 'X')]],
    ["a provider's key", [grant('OPENAI_API_KEY', 'KEY')]],
    ["the host's own", [grant('PILOTHOUSE_HOME', 'X')]],
    ["the host's own key", [grant('HARN_SERVE_API_KEY', 'X')]],
    ['a name that changes what is run', [grant('SECRET', 'LD_PRELOAD')]],
    ['a name that finds programs', [grant('SECRET', 'PATH')]],
    ['a name that is ours', [grant('SECRET', 'AGENT_CORE_OWNER')]],
    ['a name twice', [grant('SECRET', 'X'), grant('TOKEN', 'X')]],
  ])('may not name %s', (_what, grants) => {
    expect(() => check(...grants)).toThrow(
      expect.objectContaining({ code: 'host.bad_environment' }),
    );
  });

  it('shows tools what it says and nothing else', () => {
    expect(names(environmentFor({ kind: 'inherited' }, HOST))).toEqual(
      [...MINIMUM, 'SECRET', 'TOKEN'].sort(),
    );
    expect(names(environmentFor({ kind: 'isolated' }, HOST))).toEqual(MINIMUM);
    const policy = granted(grant('SECRET', 'SHOWN'), grant('TOKEN', 'GH_TOKEN', 'gh'));
    expect(names(environmentFor(policy, HOST))).toEqual([...MINIMUM, 'SHOWN'].sort());
    expect(names(environmentFor(policy, HOST, 'git'))).toEqual([...MINIMUM, 'SHOWN'].sort());
    expect(environmentFor(policy, HOST, 'gh')).toMatchObject({ SHOWN: 'shh', GH_TOKEN: 't0k' });
    const unchecked = granted(grant('OPENAI_API_KEY', 'KEY'), grant('PILOTHOUSE_HOME', 'X'));
    expect(names(environmentFor(unchecked, HOST))).toEqual(MINIMUM);
  });
});

describe('a narrower environment', () => {
  const inherited: EnvironmentPolicy = { kind: 'inherited' };
  const isolated: EnvironmentPolicy = { kind: 'isolated' };
  const all = granted(grant('SECRET'), grant('TOKEN', 'TOKEN', 'gh'));

  it.each<[EnvironmentPolicy, EnvironmentPolicy, boolean]>([
    [inherited, inherited, true],
    [inherited, all, true],
    [inherited, isolated, true],
    [all, inherited, false],
    [all, all, true],
    [all, granted(), true],
    [all, isolated, true],
    [all, granted(grant('SECRET', 'SECRET', 'gh')), true],
    [all, granted(grant('TOKEN')), false],
    [all, granted(grant('TOKEN', 'TOKEN', 'git')), false],
    [all, granted(grant('SECRET', 'OTHER')), false],
    [all, granted(grant('OTHER')), false],
    [isolated, isolated, true],
    [isolated, granted(), true],
    [isolated, granted(grant('SECRET')), false],
    [isolated, inherited, false],
  ])('from %j to %j: %s', (parent, child, narrower) => {
    expect(narrows(parent, child)).toBe(narrower);
  });

  it('never shows what the wider one does not', () => {
    const policies = [inherited, isolated, all, granted(grant('SECRET', 'SECRET', 'gh'))];
    for (const parent of policies)
      for (const child of policies.filter((each) => narrows(parent, each)))
        for (const program of [null, 'gh', 'git'])
          expect(environmentFor(parent, HOST, program)).toMatchObject(
            environmentFor(child, HOST, program),
          );
  });

  it('is what a refused fork is told', () => {
    const environments = new SessionEnvironments(HOST);
    const ask = (parent: EnvironmentPolicy, child: EnvironmentPolicy) => () => {
      checkForkPolicy(parent, child, (policy) => environments.check(policy));
    };
    expect(ask(isolated, all)).toThrow(
      expect.objectContaining({
        refusal: 'environment_widened',
        data: {
          reason: 'environment_widened',
          code: 'environment_widened',
          parentPolicy: isolated,
          requestedPolicy: all,
        },
      }),
    );
    expect(ask(inherited, granted(grant('ABSENT')))).toThrow(
      expect.objectContaining({ refusal: 'environment_rejected' }),
    );
    expect(ask(inherited, { kind: 'granted' } as never)).toThrow(
      expect.objectContaining({ refusal: 'environment_rejected' }),
    );
    ask(inherited, all)();
  });
});

describe('the environment of a session', () => {
  it('is the one of the moment it was made, and the least there is once it is gone', () => {
    const host: NodeJS.ProcessEnv = { ...HOST };
    const environments = new SessionEnvironments(host);
    const id = 's' as SessionId;
    const opened = environments.open(id, { kind: 'inherited' });
    host['LATER'] = 'x';
    host['SECRET'] = 'changed';
    expect(environments.ofCommand(id, 'env')).toMatchObject({ SECRET: 'shh' });
    expect(environments.ofCommand(id, 'env')).not.toHaveProperty('LATER');
    opened.dispose();
    expect(names(environments.ofCommand(id, 'env'))).toEqual(MINIMUM);
  });
});
