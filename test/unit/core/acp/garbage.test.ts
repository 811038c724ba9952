import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import type { Clock } from '../../../../src/base/clock.ts';
import {
  connectFake,
  type FakeConnection,
  REAL_CLOCK,
} from '../../../support/fake-host/connect-fake.ts';

const open: FakeConnection[] = [];
const connect = (...args: Parameters<typeof connectFake>): FakeConnection => {
  const connection = connectFake(...args);
  open.push(connection);
  return connection;
};

/** A clock whose time stands still, so that a limit per second is exact. */
const FROZEN: Clock = { ...REAL_CLOCK, now: () => 1000 };

afterEach(async () => {
  for (const { client, server } of open.splice(0)) {
    client.endInput();
    await server.done;
  }
});

/** Everything received, once the connection has answered a request that was sent last. */
async function answersAfter(connection: FakeConnection): Promise<unknown[]> {
  await connection.client.request('initialize', { protocolVersion: 1 }, 'last');
  return connection.client.frames
    .map(({ message }) => message)
    .filter((message) => message?.['id'] !== 'last');
}

const error = (code: number, id: unknown = null): unknown =>
  expect.objectContaining({ id, error: expect.objectContaining({ code }) });

describe('garbage on the wire', () => {
  test('a log line before a request is answered as unparsable, the request as always', async () => {
    const connection = connect();
    connection.client.sendRaw('[agent] starting\n');
    expect(await answersAfter(connection)).toEqual([error(-32700)]);
  });

  test('scalars, arrays and objects that are no message are invalid requests', async () => {
    const connection = connect();
    connection.client.sendRaw(
      '42\n"hello"\nnull\n[]\n[{"jsonrpc":"2.0","id":1,"method":"initialize"}]\n{"foo":"bar"}\n{"id":0,"level":"info"}\n',
    );
    expect(await answersAfter(connection)).toEqual(Array(7).fill(error(-32600)));
  });

  test('a frame of several lines is refused line by line and leaves nothing behind', async () => {
    const connection = connect();
    connection.client.sendRaw(
      `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize' }, null, 2)}\n`,
    );
    const answers = await answersAfter(connection);
    expect(answers.length).toBeGreaterThan(1);
    for (const answer of answers) expect(answer).toEqual(error(-32700));
  });

  test('at most ten unusable lines a second are answered, and one more answer says so', async () => {
    const connection = connect({ clock: FROZEN });
    connection.client.sendRaw('junk\n'.repeat(500));
    const answers = await answersAfter(connection);
    expect(answers).toHaveLength(11);
    expect(JSON.stringify(answers.at(-1))).toContain('Too many unusable lines');
  });

  test('an error that answers nothing is never answered', async () => {
    const connection = connect();
    connection.client.send({
      jsonrpc: '2.0',
      id: null,
      error: { code: -32700, message: 'Parse error' },
    });
    connection.client.send({ jsonrpc: '2.0', id: 77, result: {} });
    expect(await answersAfter(connection)).toEqual([]);
    expect(
      connection.logged.filter(({ message }) => message.startsWith('Ignored an answer')),
    ).toHaveLength(2);
  });

  test('CRLF, a byte order mark, blank lines and U+2028 change nothing', async () => {
    const connection = connect();
    const { client } = connection;
    await client.initialize();
    const sessionId = await client.newSession('/tmp');
    const line = (id: number, text: string): string =>
      JSON.stringify({
        jsonrpc: '2.0',
        id,
        method: 'session/prompt',
        params: { sessionId, prompt: [{ type: 'text', text }] },
      });
    client.sendRaw(`\ufeff${line(100, 'a\u2028b\u2029c')}\r\n\r\n\n${line(101, 'd')}\r\n`);
    await client.waitFor(({ message }) => message?.['id'] === 101);
    const texts = connection.host.sessions.get(sessionId)?.prompts.map(({ content }) => content[0]);
    expect(texts).toEqual([
      { type: 'text', text: 'a\u2028b\u2029c' },
      { type: 'text', text: 'd' },
    ]);
  });

  test('a message cut inside its characters arrives whole', async () => {
    const connection = connect();
    const { client } = connection;
    await client.initialize();
    const sessionId = await client.newSession('/tmp');
    const params = { sessionId, prompt: [{ type: 'text', text: '日本語🙂' }] };
    const bytes = Buffer.from(
      `${JSON.stringify({ jsonrpc: '2.0', id: 5, method: 'session/prompt', params })}\n`,
    );
    for (const byte of bytes) client.sendRaw(Uint8Array.of(byte));
    await client.waitFor(({ message }) => message?.['id'] === 5);
    expect(connection.host.sessions.get(sessionId)?.prompts[0]?.content).toEqual(params.prompt);
  });

  test('a last message without a newline is answered before the end', async () => {
    const connection = connect();
    connection.client.sendRaw(
      '{"jsonrpc":"2.0","id":9,"method":"initialize","params":{"protocolVersion":1}}',
    );
    connection.client.endInput();
    const frame = await connection.client.waitFor(({ message }) => message?.['id'] === 9);
    expect(frame.message).toHaveProperty('result.protocolVersion', 1);
  });

  test('a line of more than 64 MiB is refused, and the next one is answered', async () => {
    const connection = connect();
    const piece = Buffer.alloc(1024 * 1024, 'x');
    connection.client.sendRaw('{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"pad":"');
    for (let sent = 0; sent < 65; sent += 1) connection.client.sendRaw(piece);
    connection.client.sendRaw('"}}\n');
    expect(await answersAfter(connection)).toEqual([error(-32700)]);
  });

  test('the ids "1" and 1 in flight together are both answered as they came, and null too', async () => {
    const connection = connect();
    const { client } = connection;
    await client.initialize();
    const ids = ['1', 1, null, '1', 2.5, -3, ''];
    for (const id of ids) client.send({ jsonrpc: '2.0', id, method: 'session/list', params: {} });
    await answersAfter(connection);
    const answered = client.frames
      .filter(({ message }) => Object.hasOwn(message ?? {}, 'result'))
      .map(({ message }) => message?.['id']);
    expect(answered).toEqual([2, ...ids, 'last']);
  });

  test('an id of 64 bits comes back digit by digit', async () => {
    const connection = connect();
    const { client } = connection;
    await client.initialize();
    client.sendRaw(
      '{"jsonrpc":"2.0","params":{"id":1},"id":9223372036854775807,"method":"session/list"}\n',
    );
    client.sendRaw('{"jsonrpc":"2.0","id":-9007199254740993,"method":"nope"}\n');
    await client.request('session/list');
    const texts = client.frames.map(({ text }) => text).join('\n');
    expect(texts).toContain('"id":9223372036854775807,');
    expect(texts).toContain('"id":-9007199254740993,');
  });

  test('an unknown request is named, an unknown notification is met with silence', async () => {
    const connection = connect();
    const { client } = connection;
    await client.initialize();
    for (const method of [
      'nope',
      '_custom/x',
      'constructor',
      '__proto__',
      'toString',
      '$/unknown',
      'session/injects',
    ])
      await expect(client.request(method), method).rejects.toMatchObject({
        code: -32601,
        message: `Method not found: ${method}`,
        data: { method },
      });
    const before = client.frames.length;
    for (const method of [
      'nope',
      '_custom/x',
      '__proto__',
      '$/progress',
      '$/setTrace',
      '$/cancelRequest',
      'session/cancel',
    ])
      client.notify(method, { token: 1, id: 1 });
    client.send({ jsonrpc: '2.0', method: '$/progress' });
    client.send({ jsonrpc: '2.0', method: '$/cancel_request' });
    await client.request('session/list');
    expect(client.frames).toHaveLength(before + 1);
  });

  test('bad params name their field in the message and in the data', async () => {
    const connection = connect();
    const { client } = connection;
    await client.initialize();
    const rows: [string, unknown, string][] = [
      ['session/new', { mcpServers: [] }, '/cwd'],
      ['session/new', { cwd: 7, mcpServers: [] }, '/cwd'],
      ['session/new', { cwd: 'relative/dir', mcpServers: [] }, '/cwd'],
      ['session/new', { cwd: '/tmp' }, '/mcpServers'],
      [
        'session/new',
        { cwd: '/tmp', mcpServers: [], additionalDirectories: ['/a', 'b'] },
        '/additionalDirectories/1',
      ],
      ['session/new', { cwd: '/missing', mcpServers: [] }, '/cwd'],
      ['session/prompt', { sessionId: 's' }, '/prompt'],
      ['session/prompt', { sessionId: 's', prompt: [] }, '/prompt'],
      [
        'session/prompt',
        { sessionId: 's', prompt: [{ type: 'text', text: 'a' }, { type: 'text' }] },
        '/prompt/1/text',
      ],
      ['session/prompt', { sessionId: 's', prompt: [{ type: 'video' }] }, '/prompt/0/type'],
      ['session/prompt', { sessionId: 3, prompt: [] }, '/sessionId'],
      ['session/set_config_option', { sessionId: 's', value: 'x' }, '/configId'],
      [
        'session/load',
        { sessionId: 's', cwd: '/tmp', mcpServers: [{ name: 'x' }] },
        '/mcpServers/0/command',
      ],
      [
        'session/load',
        {
          sessionId: 's',
          cwd: '/tmp',
          mcpServers: [{ type: 'http', name: 'x', url: 'u', headers: [{ name: 'n' }] }],
        },
        '/mcpServers/0/headers/0/value',
      ],
      ['session/cancel', {}, '/sessionId'],
      ['session/list', { cursor: 4 }, '/cursor'],
      ['initialize', {}, '/protocolVersion'],
      ['initialize', { protocolVersion: 'one' }, '/protocolVersion'],
      ['_pilothouse/history/page', { sessionId: 's', limit: 0 }, '/limit'],
    ];
    for (const [method, params, path] of rows) {
      const failure = expect(client.request(method, params as object), `${method} ${path}`).rejects;
      await failure.toMatchObject({
        code: -32602,
        data: { path },
        message: expect.stringContaining(path),
      });
    }
    for (const params of [[], [1], 'text', null].slice(0, 2))
      await expect(client.request('session/prompt', params as object)).rejects.toMatchObject({
        code: -32602,
      });
  });

  test('names of the prototype in params pollute nothing', async () => {
    const connection = connect();
    const { client } = connection;
    await client.initialize();
    client.sendRaw(
      '{"jsonrpc":"2.0","id":50,"method":"session/new","params":{"__proto__":{"cwd":"/tmp"},"mcpServers":[],"constructor":{"prototype":{"polluted":1}}}}\n',
    );
    const frame = await client.waitFor(({ message }) => message?.['id'] === 50);
    expect(frame.message).toHaveProperty('error.code', -32602);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  test('deep nesting is refused and the connection goes on', async () => {
    const connection = connect();
    connection.client.sendRaw(
      `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"_meta":${'{"a":'.repeat(200_000)}1${'}'.repeat(200_000)}}}\n`,
    );
    expect(await answersAfter(connection)).toEqual([error(-32600)]);
  });

  test('optional members that do not fit are taken as absent, as the schema says', async () => {
    const connection = connect();
    const result = await connection.client.call('initialize', {
      protocolVersion: 1,
      clientCapabilities: 'none',
      clientInfo: 7,
      _meta: 'x',
    });
    expect(result['protocolVersion']).toBe(1);
    const session = await connection.client.call('session/new', {
      cwd: '/tmp',
      mcpServers: null,
      additionalDirectories: null,
      _meta: 5,
    });
    expect(session).toHaveProperty('sessionId');
  });

  test('no bytes end the connection', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), async (bytes) => {
        const connection = connect();
        connection.client.sendRaw(bytes);
        connection.client.sendRaw('\n');
        await answersAfter(connection);
        expect(connection.logged.filter(({ level }) => level === 'error')).toEqual([]);
      }),
      { numRuns: 50 },
    );
  });

  test('no message of the right shape ends the connection', async () => {
    const connection = connect();
    const { client } = connection;
    await client.initialize();
    const sessionId = await client.newSession('/tmp');
    const methods = [
      'initialize',
      'authenticate',
      'logout',
      'session/new',
      'session/load',
      'session/resume',
      'session/list',
      'session/close',
      'session/set_mode',
      'session/set_config_option',
      'session/cancel',
      '_pilothouse/history/page',
      '_pilothouse/gates/list',
      '$/cancel_request',
    ];
    const params = fc.oneof(
      fc.jsonValue(),
      fc.record(
        {
          sessionId: fc.constantFrom(sessionId, 'x'),
          cwd: fc.string(),
          modeId: fc.string(),
          mcpServers: fc.jsonValue(),
          requestId: fc.jsonValue(),
        },
        { requiredKeys: [] },
      ),
    );
    let id = 1000;
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...methods),
        params,
        fc.boolean(),
        async (method, value, isRequest) => {
          id += 1;
          client.send({ jsonrpc: '2.0', ...(isRequest ? { id } : {}), method, params: value });
          if (isRequest) await client.waitFor(({ message }) => message?.['id'] === id);
        },
      ),
      { numRuns: 300 },
    );
    await expect(client.request('session/list')).resolves.toHaveProperty('sessions');
  });
});
