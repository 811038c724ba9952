import 'vscode-jsonrpc/node';
import { PassThrough } from 'node:stream';
import { afterEach, describe, expect, test } from 'vitest';
import { createRpcPeer } from '../../../../src/protocol/transport/rpc-peer.ts';
import type { RpcPeer } from '../../../../src/protocol/transport/rpc-types.ts';
import { createStreamPort } from '../../../../src/protocol/transport/stream-port.ts';

/** A client's peer whose agent is a script of raw lines. */
type Client = {
  readonly peer: RpcPeer;
  readonly agent: PassThrough;
  readonly sent: () => Record<string, unknown>[];
  readonly updates: unknown[];
  readonly logged: string[];
};

const open: Client[] = [];

function connect(): Client {
  const agent = new PassThrough();
  const toAgent = new PassThrough();
  const updates: unknown[] = [];
  const logged: string[] = [];
  const note = (message: string): void => void logged.push(message);
  const peer: RpcPeer = createRpcPeer(
    createStreamPort(agent, toAgent),
    {
      request: async () => ({ result: {} }),
      notification: (_method, params) => void updates.push(params),
      ended: () => peer.close(),
    },
    { now: () => 0, log: { warn: note, error: note }, answersGarbage: false },
  );
  peer.start();
  const sent = (): Record<string, unknown>[] => {
    const text = (toAgent.read() as Buffer | null)?.toString('utf8') ?? '';
    return text
      .split('\n')
      .flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Record<string, unknown>]));
  };
  const client = { peer, agent, sent, updates, logged };
  open.push(client);
  return client;
}

afterEach(async () => {
  for (const { peer, agent } of open.splice(0)) {
    agent.end();
    peer.close();
    await peer.done;
  }
});

const answer = (id: unknown): string =>
  `${JSON.stringify({ jsonrpc: '2.0', id, result: { stopReason: 'end_turn' } })}\n`;
const update = (text: string): string =>
  `${JSON.stringify({ jsonrpc: '2.0', method: 'session/update', params: { text } })}\n`;

/** Every row of what was measured on public clients: what the agent writes before or instead of its answer. */
const SURVIVED: readonly [string, string | Uint8Array[]][] = [
  ['a log line, then the reply', `[agent] starting\n${answer(0)}`],
  ['a log line glued to nothing inside the stream', `${update('a')}warning: x\n${answer(0)}`],
  ['a number line', `42\n${answer(0)}`],
  ['a string line', `"hello"\n${answer(0)}`],
  ['a log object with the id of the request', `{"id":0,"level":"info"}\n${answer(0)}`],
  ['the last frame without its newline', answer(0).trimEnd()],
  ['a control sequence glued to the frame', `\u001b[?25l${answer(0)}`],
  ['the id as a string', answer('0')],
  ['CRLF', answer(0).replace('\n', '\r\n')],
  ['a byte order mark', `\ufeff${answer(0)}`],
  ['an answer to something never asked', answer(17) + answer(0)],
  [
    'an unknown kind of update',
    `${JSON.stringify({ jsonrpc: '2.0', method: 'session/update', params: { update: { sessionUpdate: 'hologram' } } })}\n${answer(0)}`,
  ],
  [
    'notifications without the underscore',
    `{"jsonrpc":"2.0","method":"qwen/notify/x"}\n${answer(0)}`,
  ],
  [
    'an error without an id',
    `{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"x"}}\n${answer(0)}`,
  ],
  ['every byte by itself', [...Buffer.from(answer(0))].map((byte) => Uint8Array.of(byte))],
];

describe("a client's side of the transport", () => {
  test.each(SURVIVED)('gets its reply through %s', async (_name, bytes) => {
    const { peer, agent } = connect();
    const reply = peer.request('session/prompt', { sessionId: 's' });
    if (typeof bytes === 'string') agent.write(bytes);
    else for (const chunk of bytes) agent.write(chunk);
    agent.end();
    expect(await reply).toEqual({ stopReason: 'end_turn' });
  });

  test('a reply over several lines is lost, and the request ends with the connection at the latest', async () => {
    const { peer, agent, logged } = connect();
    const reply = expect(peer.request('session/prompt', { sessionId: 's' })).rejects.toMatchObject({
      code: 'rpc.gone',
    });
    agent.write(`${JSON.stringify(JSON.parse(answer(0)), null, 2)}\n`);
    agent.end();
    await reply;
    expect(logged.length).toBeGreaterThan(0);
  });

  test('the end of the stream in the middle of a turn rejects what waits and refuses what comes later', async () => {
    const { peer, agent } = connect();
    const reply = expect(peer.request('session/prompt', { sessionId: 's' })).rejects.toMatchObject({
      code: 'rpc.gone',
    });
    agent.write(update('half'));
    agent.end();
    await reply;
    await expect(peer.request('session/list', {})).rejects.toMatchObject({ code: 'rpc.gone' });
  });

  test('U+2028 and characters cut in two arrive intact, as one update', async () => {
    const { peer, agent, updates } = connect();
    for (const byte of Buffer.from(update('a\u2028b日本語🙂'))) agent.write(Uint8Array.of(byte));
    const reply = peer.request('x', {});
    agent.write(answer(0));
    await reply;
    expect(updates).toEqual([{ text: 'a\u2028b日本語🙂' }]);
  });

  test('garbage is logged and never answered', async () => {
    const { peer, agent, sent, logged } = connect();
    agent.write('junk\n[]\n{"id":0,"level":"info"}\n');
    const reply = peer.request('x', {});
    agent.write(answer(0));
    await reply;
    expect(sent()).toEqual([{ jsonrpc: '2.0', id: 0, method: 'x', params: {} }]);
    expect(logged).toHaveLength(3);
  });

  test('an aborted request rejects at once, says so to the peer, and its late answer is ignored', async () => {
    const { peer, agent, sent } = connect();
    const abort = new AbortController();
    const reply = expect(peer.request('slow', {}, abort.signal)).rejects.toMatchObject({
      code: 'requestCancelled',
    });
    abort.abort();
    await reply;
    agent.write(answer(0));
    const next = peer.request('next', {});
    agent.write(answer(1));
    expect(await next).toEqual({ stopReason: 'end_turn' });
    expect(sent().map(({ method, params }) => [method, params])).toEqual([
      ['slow', {}],
      ['$/cancel_request', { requestId: 0 }],
      ['next', {}],
    ]);
  });

  test('an error answer keeps its code and data', async () => {
    const { peer, agent } = connect();
    const reply = expect(peer.request('x', {})).rejects.toMatchObject({
      code: 'rpc.refused',
      rpcCode: -32002,
      message: 'gone',
      details: { sessionId: 's' },
    });
    agent.write(
      '{"jsonrpc":"2.0","id":0,"error":{"code":-32002,"message":"gone","data":{"sessionId":"s"}}}\n',
    );
    await reply;
  });
});
