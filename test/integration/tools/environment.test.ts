import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { SessionEnvironments } from '../../../src/core/host/session-environments.ts';
import type { EnvironmentPolicy } from '../../../src/core/session/words.ts';
import { ToolBench } from '../../support/tools/tool-bench.ts';

const HOST = { ...process.env, VISIBLE: 'seen', OPENAI_API_KEY: 'key', PILOTHOUSE_X: 'ours' };

let bench: ToolBench;
beforeEach(async () => {
  bench = await ToolBench.create();
  onTestFinished(() => bench.dispose());
});

/** Begins to keep a policy for the session of the bench. */
function keep(policy: EnvironmentPolicy): void {
  const environments = new SessionEnvironments(HOST);
  environments.check(policy);
  environments.open(bench.sessionId, policy);
  bench.environments = environments;
}

const grant = (program?: string): EnvironmentPolicy => ({
  kind: 'granted',
  grants: [
    {
      name: 'one',
      source: { env: { var: 'VISIBLE' } },
      expose_as_env: 'SHOWN',
      ...(program === undefined ? {} : { for_command: program }),
    },
  ],
});

/** The variables that a real command prints. */
async function printed(command = 'env'): Promise<Map<string, string>> {
  const text = await bench.text('run', { command });
  const pairs = text.split('\n').map((line): [string, string] => {
    const [name = '', ...value] = line.split('=');
    return [name, value.join('=')];
  });
  return new Map(pairs);
}

/** What a shell sets by itself, and the mark by which our children are known. */
const OWN = new Set(['AGENT_CORE_OWNER', 'PWD', 'SHLVL', 'OLDPWD', '_']);
const MINIMUM =
  /^(PATH|HOME|USER|LOGNAME|SHELL|TMPDIR|TZ|LANG|LANGUAGE|LC_[A-Z]+|TERM|PAGER|GIT_PAGER|GIT_TERMINAL_PROMPT)$/;

describe('a real command', () => {
  it('sees what the host has under an inherited policy, but not what is secret', async () => {
    keep({ kind: 'inherited' });
    const seen = await printed();
    expect(seen.get('VISIBLE')).toBe('seen');
    expect(seen.has('OPENAI_API_KEY')).toBe(false);
    expect(seen.has('PILOTHOUSE_X')).toBe(false);
  });

  it('sees only what a shell needs under an isolated policy, and still works', async () => {
    keep({ kind: 'isolated' });
    const seen = await printed();
    const more = [...seen.keys()].filter((name) => !MINIMUM.test(name) && !OWN.has(name));
    expect(more).toEqual([]);
    expect(seen.get('PATH')).toBe(process.env['PATH']);
  });

  it('sees a grant under its new name, and not the variable it comes from', async () => {
    keep(grant());
    const seen = await printed('env; true');
    expect(seen.get('SHOWN')).toBe('seen');
    expect(seen.has('VISIBLE')).toBe(false);
  });

  it('sees a grant for one program only if it runs nothing but that program', async () => {
    keep(grant('env'));
    expect((await printed('env')).get('SHOWN')).toBe('seen');
    expect((await printed('printenv')).has('SHOWN')).toBe(false);
    expect((await printed('env; printenv')).has('SHOWN')).toBe(false);
    expect((await printed('printenv | cat')).has('SHOWN')).toBe(false);
  });

  it('sees the same in the background', async () => {
    keep(grant());
    const { processId } = await bench.processes.start('env; sleep 0', bench.cwd);
    const done = new Promise<void>((resolve) => {
      bench.processes.onDidEnd(() => resolve());
    });
    await done;
    const { text = '' } = bench.processes.output(processId, 0, 100_000) ?? {};
    expect(text).toContain('SHOWN=seen');
    expect(text).not.toContain('VISIBLE=');
  });
});
