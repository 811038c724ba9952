import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { AcpTestClient } from '../../support/acp-client/client.ts';
import { answering, startAgentCore, tempFolder } from '../../support/agent-core/agent-core.ts';
import { ModelServer, type WireKind } from '../../support/model-server/model-server.ts';

const KINDS: readonly WireKind[] = ['openai-compatible', 'openai', 'anthropic', 'google'];

async function connected(
  kind: WireKind,
  key: string | null = 'test-key',
): Promise<{ client: AcpTestClient; server: ModelServer; sessionId: string; folder: string }> {
  const server = await ModelServer.start();
  onTestFinished(() => server.close());
  const folder = tempFolder('work');
  const client = answering(startAgentCore(tempFolder('home')), 'allow_once');
  await client.initialize({ _meta: { pilothouse: { version: 1 } } });
  const provider = {
    id: 'acme',
    kind,
    baseUrl: server.baseUrl(kind),
    models: [{ name: 'one', contextTokens: 1000 }],
    requiresKey: true,
  };
  expect(
    await client.call('_pilothouse/models/configure', {
      providers: [provider],
      defaultModel: 'acme/one',
    }),
  ).toEqual({ problems: [] });
  if (key !== null) await client.call('_pilothouse/secrets/set', { source: 'acme', key });
  const sessionId = await client.newSession(folder);
  return { client, server, sessionId, folder };
}

describe.each(KINDS)('a session on a %s endpoint', (kind) => {
  it('streams text, runs parallel tool calls and reports usage', async () => {
    const { client, server, sessionId, folder } = await connected(kind);
    server.script(
      {
        kind: 'reply',
        steps: [
          { type: 'text', text: 'I will write two files.' },
          { type: 'call', id: 'a', name: 'write', input: { path: 'a.txt', text: 'A' } },
          { type: 'call', id: 'b', name: 'write', input: { path: 'b.txt', text: 'B' } },
        ],
      },
      {
        kind: 'reply',
        steps: [{ type: 'text', text: ' Done.' }],
        usage: { input: 700, output: 30 },
      },
    );
    expect((await client.prompt(sessionId, 'write them'))['stopReason']).toBe('end_turn');
    expect(client.textOf(sessionId)).toBe('I will write two files. Done.');
    expect(['a.txt', 'b.txt'].map((name) => readFileSync(join(folder, name), 'utf8'))).toEqual([
      'A',
      'B',
    ]);
    const usage = client.updates
      .filter(({ update }) => update.sessionUpdate === 'usage_update')
      .at(-1);
    expect(usage?.update).toMatchObject({ used: 730, size: 1000 });
  });

  it('tries again after 429 and 500, and says why when it gives up', async () => {
    const { client, server, sessionId } = await connected(kind);
    server.script(
      { kind: 'error', status: 429, headers: { 'retry-after': '0' } },
      { kind: 'error', status: 500, headers: { 'retry-after': '0' } },
      { kind: 'reply', steps: [{ type: 'text', text: 'third time' }] },
      { kind: 'error', status: 400, message: 'no such parameter' },
    );
    expect((await client.prompt(sessionId, 'go'))['stopReason']).toBe('end_turn');
    expect(client.textOf(sessionId)).toBe('third time');
    await expect(client.prompt(sessionId, 'again')).rejects.toMatchObject({
      code: -32603,
      data: { terminal: { kind: 'provider_error', owner: 'provider' } },
    });
  });

  it('asks for a missing key and for a refused one, and goes on after the sign-in', async () => {
    const { client, server, sessionId } = await connected(kind, null);
    const asked: unknown[] = [];
    client.onRequest('_pilothouse/auth', async (params) => {
      asked.push(params['target']);
      await client.call('_pilothouse/secrets/set', { source: 'acme', key: `key-${asked.length}` });
      return { outcome: 'done' };
    });
    server.script(
      { kind: 'error', status: 401 },
      { kind: 'reply', steps: [{ type: 'text', text: 'signed in' }] },
    );
    expect((await client.prompt(sessionId, 'go'))['stopReason']).toBe('end_turn');
    expect(client.textOf(sessionId)).toBe('signed in');
    expect(asked).toEqual(['acme', 'acme']);
    expect(server.requests).toHaveLength(2);
  });

  it('stops in the middle of a stream and closes the connection to the provider', async () => {
    const { client, server, sessionId } = await connected(kind);
    server.script({
      kind: 'reply',
      steps: [
        { type: 'text', text: 'started' },
        { type: 'hold', until: new Promise(() => undefined) },
        { type: 'text', text: 'never' },
      ],
    });
    const outcome = client.prompt(sessionId, 'go');
    await client.waitForUpdate(({ update }) => update.sessionUpdate === 'agent_message_chunk');
    client.notify('session/cancel', { sessionId });
    expect((await outcome)['stopReason']).toBe('cancelled');
    await server.requests[0]?.closed;
    expect(client.textOf(sessionId)).not.toContain('never');
  });
});

describe('the list of models', () => {
  it('is told to open sessions when a provider is added, and the new one can be chosen', async () => {
    const client = startAgentCore(tempFolder('home'));
    await client.initialize({ _meta: { pilothouse: { version: 1 } } });
    const sessionId = await client.newSession(tempFolder('work'));
    const provider = {
      id: 'late',
      kind: 'openai-compatible',
      baseUrl: 'http://127.0.0.1:9',
      models: [{ name: 'm' }],
    };
    await client.call('_pilothouse/models/configure', { providers: [provider] });
    const told = await client.waitForUpdate(
      ({ update }) => update.sessionUpdate === 'config_option_update',
    );
    expect(JSON.stringify(told.update)).toContain('late/m');
    await client.call('session/set_config_option', {
      sessionId,
      configId: 'model',
      value: 'late/m',
    });
  });
});
