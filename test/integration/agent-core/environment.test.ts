import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { answering, startAgentCore, tempFolder } from '../../support/agent-core/agent-core.ts';
import { stdioServer } from '../../support/mcp-server/rig.ts';

describe('the environment over the wire', () => {
  const start = () =>
    answering(
      startAgentCore(tempFolder('home'), { env: { VISIBLE: 'seen', OTHER: 'hidden' } }),
      'allow_once',
    );

  it('shows a command what the policy grants', async () => {
    const folder = tempFolder('work');
    const client = start();
    await client.initialize({ _meta: { harn: {} } });
    const environmentPolicy = {
      kind: 'granted',
      grants: [{ name: 'one', source: { env: { var: 'VISIBLE' } }, expose_as_env: 'SHOWN' }],
    };
    const { sessionId } = await client.call('session/new', {
      cwd: folder,
      mcpServers: [],
      environmentPolicy,
    });
    await client.prompt(String(sessionId), 'run env > seen.txt\nfinish with done');
    const seen = readFileSync(join(folder, 'seen.txt'), 'utf8').split('\n');
    expect(seen).toContain('SHOWN=seen');
    expect(seen.filter((line) => /^(VISIBLE|OTHER)=/.test(line))).toEqual([]);
    await expect(
      client.call('session/fork', { sessionId, environmentPolicy: { kind: 'inherited' } }),
    ).rejects.toMatchObject({ data: { code: 'environment_widened' } });
  });

  it('shows a stdio server what the policy grants, and what its own settings say', async () => {
    const client = start();
    await client.initialize({ _meta: { harn: {} } });
    const grant = (from: string, program?: string) => ({
      name: from,
      source: { env: { var: from } },
      expose_as_env: `${from}_SHOWN`,
      ...(program === undefined ? {} : { for_command: program }),
    });
    const { sessionId } = await client.call('session/new', {
      cwd: tempFolder('work'),
      mcpServers: [stdioServer('x', [], { GIVEN: 'yes' })],
      environmentPolicy: {
        kind: 'granted',
        grants: [grant('VISIBLE', process.execPath), grant('OTHER', 'another-program')],
      },
    });
    const names = ['GIVEN', 'VISIBLE_SHOWN', 'OTHER_SHOWN', 'VISIBLE', 'OTHER'];
    const read = names.map((name) => `call mcp__x__env with {"name":"${name}"}`).join('\n');
    const said = (): string[] =>
      client.updates.flatMap(({ update }) => {
        const { status, content } = update as Record<string, unknown>;
        return status === 'completed' ? [JSON.stringify(content)] : [];
      });
    // A server may need longer to start than a turn waits for it.
    while (said().length < names.length) await client.prompt(String(sessionId), read);
    expect(said().map((text) => /"text":"([^"]*)"/.exec(text)?.[1])).toEqual([
      'yes',
      'seen',
      'not set',
      'not set',
      'not set',
    ]);
  });

  it.each([
    {
      kind: 'granted',
      grants: [{ name: 'n', source: { env: { var: 'NOT_THERE' } }, expose_as_env: 'X' }],
    },
    { kind: 'granted' },
    { kind: 'sealed' },
    {
      kind: 'granted',
      grants: [
        { name: 'n', source: { secret_store: { account: 'a', key: 'k' } }, expose_as_env: 'X' },
      ],
    },
  ])('makes no session under a policy that it can not keep: %j', async (environmentPolicy) => {
    const client = start();
    await client.initialize({ _meta: { harn: {} } });
    const asked = { cwd: tempFolder('work'), mcpServers: [], environmentPolicy };
    await expect(client.call('session/new', asked)).rejects.toMatchObject({ code: -32602 });
    expect((await client.call('session/list', {}))['sessions']).toEqual([]);
  });
});
