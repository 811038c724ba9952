import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Deferred } from '../../../../../src/base/deferred.ts';
import { ModelError, type ModelEvent } from '../../../../../src/core/session/model.ts';
import { ModelServer } from '../../../../support/model-server/model-server.ts';
import type { Scenario } from '../../../../support/model-server/scenario.ts';
import { collect, ManualClock, rejection, request, user } from '../fakes.ts';
import { KEY, KINDS, modelOf } from './setup.ts';

let server: ModelServer;
beforeAll(async () => {
  server = await ModelServer.start();
});
afterAll(() => server.close());

const prompt = request([user('Do it')]);
const start = { type: 'text', text: 'Beginning' } as const;

function everything(error: unknown): string {
  const seen: string[] = [];
  let current: unknown = error;
  while (current instanceof Error) {
    seen.push(current.message, current.stack ?? '', JSON.stringify(current));
    current = current.cause;
  }
  return seen.join('\n');
}

const FAILURES: readonly (readonly [string, Scenario, object])[] = [
  [
    '401',
    { kind: 'error', status: 401, message: `Bad key ${KEY}` },
    {
      code: 'model.key_refused',
      status: 401,
      retryable: false,
    },
  ],
  ['403', { kind: 'error', status: 403 }, { code: 'model.key_refused', status: 403 }],
  [
    '404',
    { kind: 'error', status: 404 },
    { code: 'model.bad_request', status: 404, retryable: false },
  ],
  [
    '400 that repeats the key',
    { kind: 'error', status: 400, message: `No ${KEY} here` },
    {
      code: 'model.bad_request',
      status: 400,
      retryable: false,
    },
  ],
  ['413', { kind: 'error', status: 413 }, { code: 'model.context_exceeded', retryable: false }],
  [
    '429 in seconds',
    { kind: 'error', status: 429, headers: { 'retry-after': '7' } },
    {
      code: 'model.rate_limited',
      status: 429,
      retryable: true,
      retryAfterMs: 7_000,
    },
  ],
  [
    '429 in milliseconds',
    {
      kind: 'error',
      status: 429,
      headers: { 'retry-after-ms': '1500', 'retry-after': '2' },
    },
    { code: 'model.rate_limited', retryAfterMs: 1_500 },
  ],
  [
    '429 without a time',
    { kind: 'error', status: 429 },
    {
      code: 'model.rate_limited',
      retryable: true,
      retryAfterMs: undefined,
    },
  ],
  ['500', { kind: 'error', status: 500 }, { code: 'model.failed', status: 500, retryable: true }],
  [
    '500 that is not JSON',
    { kind: 'error', status: 502, body: '<html>bad gateway</html>' },
    {
      code: 'model.failed',
      status: 502,
      retryable: true,
    },
  ],
  ['503', { kind: 'error', status: 503 }, { code: 'model.overloaded', retryable: true }],
  ['529', { kind: 'error', status: 529 }, { code: 'model.overloaded', retryable: true }],
  [
    'a redirect',
    { kind: 'redirect', location: 'http://127.0.0.1:1/elsewhere' },
    {
      code: 'model.unreachable',
      retryable: true,
    },
  ],
  [
    'a stream cut before its first token',
    { kind: 'reply', steps: [{ type: 'cut' }] },
    {
      code: 'model.stream_cut',
      retryable: true,
    },
  ],
  [
    'a stream cut in the middle',
    { kind: 'reply', steps: [start, { type: 'cut' }] },
    {
      code: 'model.stream_cut',
      retryable: true,
    },
  ],
  [
    'a stream that just ends',
    { kind: 'reply', steps: [start, { type: 'end' }] },
    {
      code: 'model.stream_cut',
      retryable: true,
    },
  ],
  [
    'a stream that ends after a call',
    {
      kind: 'reply',
      steps: [{ type: 'call', id: 'a', name: 'read', input: {} }, { type: 'end' }],
    },
    { code: 'model.stream_cut', retryable: true },
  ],
  [
    'an empty stream',
    { kind: 'reply', steps: [{ type: 'end' }] },
    {
      code: 'model.stream_cut',
      retryable: true,
    },
  ],
  [
    'a malformed frame',
    { kind: 'reply', steps: [start, { type: 'malformed' }] },
    {
      code: 'model.failed',
      retryable: true,
    },
  ],
  [
    'a malformed first frame',
    { kind: 'reply', steps: [{ type: 'malformed' }] },
    {
      code: 'model.failed',
      retryable: true,
    },
  ],
  [
    'an error in the stream',
    {
      kind: 'reply',
      steps: [start, { type: 'error', status: 429, message: 'slow down' }],
    },
    { code: 'model.rate_limited', retryable: true },
  ],
  [
    'an error first in the stream',
    {
      kind: 'reply',
      steps: [{ type: 'error', status: 429, message: 'slow down' }],
    },
    { code: 'model.rate_limited', retryable: true },
  ],
];

describe.each(KINDS)('%s', (kind) => {
  it.each(FAILURES)('reports %s', async (_name, scenario, expected) => {
    const before = server.requests.length;
    server.script(scenario);
    const events: ModelEvent[] = [];
    const model = await modelOf(server, kind);
    const error = await rejection(
      (async () => {
        for await (const event of model.stream(prompt, new AbortController().signal)) {
          events.push(event);
        }
      })(),
    );
    expect(error).toBeInstanceOf(ModelError);
    expect(error).toMatchObject({ source: 'test', ...expected });
    expect(events.some((event) => event.type === 'finish' || event.type === 'tool_call')).toBe(
      false,
    );
    expect(server.requests.length - before).toBe(1);
    expect(everything(error)).not.toContain(KEY);
    expect(everything(error)).not.toContain(KEY.slice(0, 12));
  });

  it('reports an HTTP date of Retry-After as a time from now', async () => {
    const clock = new ManualClock();
    clock.advance(Date.parse('2026-01-01T00:00:00Z'));
    server.script({
      kind: 'error',
      status: 429,
      headers: { 'retry-after': 'Thu, 01 Jan 2026 00:00:30 GMT' },
    });
    const model = await modelOf(server, kind, { clock });
    const error = await rejection(collect(model, prompt));
    expect(error).toMatchObject({ code: 'model.rate_limited', retryAfterMs: 30_000 });
  });

  it('says what the provider said about a bad request', async () => {
    server.script({ kind: 'error', status: 400, message: 'unknown parameter: foo' });
    const error = await rejection(collect(await modelOf(server, kind), prompt));
    expect(error).toMatchObject({ message: expect.stringContaining('unknown parameter: foo') });
  });

  it('does not touch the network without a key', async () => {
    const before = server.requests.length;
    const model = await modelOf(server, kind, { key: null });
    expect(model.info).toMatchObject({
      available: false,
      unavailableReason: expect.stringContaining('PILOTHOUSE_KEY_TEST'),
    });
    expect(await rejection(collect(model, prompt))).toMatchObject({
      code: 'model.key_missing',
      source: 'test',
      retryable: false,
    });
    expect(server.requests.length).toBe(before);
  });

  it('works without a key where none is needed', async () => {
    server.script({ kind: 'reply', steps: [start] });
    const model = await modelOf(server, kind, { key: null, config: { requiresKey: false } });
    expect(model.info.available).toBe(true);
    expect((await collect(model, prompt)).at(-1)).toMatchObject({ type: 'finish' });
  });

  it('reports a server that is not there', async () => {
    const gone = await ModelServer.start();
    const baseUrl = gone.baseUrl(kind);
    await gone.close();
    const error = await rejection(
      collect(await modelOf(server, kind, { config: { baseUrl } }), prompt),
    );
    expect(error).toMatchObject({
      code: 'model.unreachable',
      retryable: true,
      message: expect.stringContaining('ECONNREFUSED'),
    });
  });

  it.each([
    ['an answer that never comes', { kind: 'silence' }],
    [
      'a first token that never comes',
      {
        kind: 'reply',
        steps: [{ type: 'hold', until: new Promise(() => undefined) }],
      },
    ],
  ] as const)('gives up on %s', async (_name, scenario) => {
    const clock = new ManualClock();
    server.script(scenario);
    const model = await modelOf(server, kind, { clock, deadlines: { firstTokenMs: 5_000 } });
    const count = server.requests.length + 1;
    const failed = rejection(collect(model, prompt));
    await server.received(count);
    clock.advance(4_999);
    await new Promise(setImmediate);
    expect(clock.sleeping).toBe(1);
    clock.advance(1);
    expect(await failed).toMatchObject({ code: 'model.timeout', retryable: true });
    await server.requests.at(-1)?.closed;
  });

  it('gives up on a stream that stalls, but not while its reader is busy', async () => {
    const clock = new ManualClock();
    const resume = new Deferred<void>();
    server.script({
      kind: 'reply',
      steps: [
        { type: 'text', text: 'abcde' },
        { type: 'hold', until: resume.promise },
        { type: 'text', text: 'fghij' },
        { type: 'hold', until: new Promise(() => undefined) },
      ],
    });
    const model = await modelOf(server, kind, { clock, deadlines: { idleMs: 1_000 } });
    const reply = model.stream(prompt, new AbortController().signal)[Symbol.asyncIterator]();
    expect((await reply.next()).value).toMatchObject({ type: 'text' });
    clock.advance(50_000);
    await new Promise(setImmediate);
    resume.resolve();
    expect((await reply.next()).value).toMatchObject({ type: 'text', text: 'fghij' });
    const failed = rejection(reply.next());
    await new Promise(setImmediate);
    clock.advance(200_000);
    await new Promise(setImmediate);
    clock.advance(200_000);
    expect(await failed).toMatchObject({ code: 'model.timeout' });
  });

  it.each([
    ['before the answer', { kind: 'silence' }, false],
    [
      'before the first token',
      {
        kind: 'reply',
        steps: [{ type: 'hold', until: new Promise(() => undefined) }],
      },
      false,
    ],
    [
      'in the middle',
      {
        kind: 'reply',
        steps: [start, { type: 'hold', until: new Promise(() => undefined) }],
      },
      true,
    ],
  ] as const)(
    'stops when aborted %s, and closes the connection',
    async (_name, scenario, begins) => {
      const abort = new AbortController();
      server.script(scenario);
      const model = await modelOf(server, kind);
      const count = server.requests.length + 1;
      const begun = new Deferred<void>();
      const failed = rejection(
        (async () => {
          for await (const event of model.stream(prompt, abort.signal)) {
            expect(event.type).toBe('text');
            begun.resolve();
          }
        })(),
      );
      await (begins ? begun.promise : server.received(count));
      abort.abort(new Error('the person pressed stop'));
      expect(await failed).toMatchObject({ code: 'model.cancelled', source: 'test' });
      await server.requests.at(-1)?.closed;
    },
  );

  it('sends nothing when it was aborted before', async () => {
    const before = server.requests.length;
    const failed = rejection(collect(await modelOf(server, kind), prompt, AbortSignal.abort()));
    expect(await failed).toMatchObject({ code: 'model.cancelled' });
    expect(server.requests.length).toBe(before);
  });

  it('closes the connection when its reader stops reading', async () => {
    server.script({
      kind: 'reply',
      steps: [start, { type: 'hold', until: new Promise(() => undefined) }],
    });
    const model = await modelOf(server, kind);
    for await (const event of model.stream(prompt, new AbortController().signal)) {
      expect(event.type).toBe('text');
      break;
    }
    await server.requests.at(-1)?.closed;
  });
});

describe('names in an error body', () => {
  it.each([
    ['openai-compatible', 400, 'context_length_exceeded', 'model.context_exceeded'],
    ['openai', 400, 'context_length_exceeded', 'model.context_exceeded'],
    ['google', 400, 'API_KEY_INVALID', 'model.key_refused'],
    ['openai', 429, 'insufficient_quota', 'model.rate_limited'],
    ['anthropic', 400, 'billing_error', 'model.rate_limited'],
  ] as const)('%s %i %s', async (kind, status, code, expected) => {
    server.script({ kind: 'error', status, code });
    const error = await rejection(collect(await modelOf(server, kind), prompt));
    expect(error).toMatchObject({ code: expected, retryable: false });
  });
});
