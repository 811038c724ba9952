import { beforeEach, describe, expect, it, vi } from 'vitest';
import { Deferred } from '../../../../src/base/deferred.ts';
import type { Disposable } from '../../../../src/base/disposables.ts';
import { ClientCalls } from '../../../../src/extension/core/client-requests.ts';
import { registerEditorModels } from '../../../../src/extension/models/editor-models.ts';
import type { CancellationTokenSource } from './fake-vscode.ts';
import * as fake from './fake-vscode.ts';

vi.mock('vscode', async () => import('./fake-vscode.ts'));

type Reply = (
  messages: unknown,
  options: unknown,
  token: CancellationTokenSource['token'],
) => unknown;

const REQUEST = { requestId: 'r1', modelId: 'm1', system: 'be brief', messages: [], tools: [] };

function model(reply: Reply, id = 'm1'): object {
  return {
    vendor: 'v',
    family: 'f',
    id,
    name: 'Model',
    maxInputTokens: 1000,
    sendRequest: async (...args: Parameters<Reply>) => ({ stream: reply(...args) }),
  };
}

async function* stream(...parts: unknown[]) {
  yield* parts;
}

describe('the bridge to the editor’s models', () => {
  let calls: ClientCalls;
  let sent: [string, unknown][];
  let bridge: Disposable;

  beforeEach(() => {
    calls = new ClientCalls();
    sent = [];
    fake.lm.models = [];
    fake.lm.listeners.length = 0;
    bridge = registerEditorModels({
      calls,
      connection: () => ({ notify: async (method, params) => void sent.push([method, params]) }),
      connected: () => ['own'],
      log: () => undefined,
    });
  });

  const generate = async (params: object = REQUEST, signal = new AbortController().signal) =>
    calls.request('_pilothouse/editor_models/generate', params, signal);

  it('lists what the editor has', async () => {
    fake.lm.models = [
      model(stream),
      { ...model(stream, 'm2'), capabilities: { supportsImageToText: true } },
    ];
    const signal = new AbortController().signal;
    expect(await calls.request('_pilothouse/editor_models/list', {}, signal)).toEqual({
      models: [
        { vendor: 'v', family: 'f', id: 'm1', name: 'Model', maxInputTokens: 1000, images: false },
        { vendor: 'v', family: 'f', id: 'm2', name: 'Model', maxInputTokens: 1000, images: true },
      ],
    });
  });

  it('streams text and tool calls in order, then says how it ended', async () => {
    fake.lm.models = [
      model(() =>
        stream(
          new fake.LanguageModelTextPart('one'),
          { unknown: 'part' },
          new fake.LanguageModelTextPart(''),
          new fake.LanguageModelToolCallPart('c1', 'read', { path: 'a' }),
        ),
      ),
    ];
    expect(await generate()).toEqual({ finish: 'tool_calls' });
    expect(sent).toEqual([
      ['_pilothouse/editor_models/part', { requestId: 'r1', part: { type: 'text', text: 'one' } }],
      [
        '_pilothouse/editor_models/part',
        {
          requestId: 'r1',
          part: { type: 'tool_call', callId: 'c1', name: 'read', input: { path: 'a' } },
        },
      ],
    ]);
  });

  it('hands over the system prompt, images, calls and their results, and the tools', async () => {
    const seen: unknown[] = [];
    fake.lm.models = [
      model((messages, options) => {
        seen.push(messages, options);
        return stream(new fake.LanguageModelTextPart('ok'));
      }),
    ];
    const tool = { name: 'read', description: 'Reads', inputSchema: { type: 'object' } };
    const messages = [
      {
        role: 'user',
        parts: [
          { type: 'text', text: 'look' },
          { type: 'image', mimeType: 'image/png', data: 'AQI=' },
        ],
      },
      {
        role: 'assistant',
        text: '',
        calls: [{ callId: 'c1', name: 'read', input: { path: 'a' } }],
      },
      { role: 'tool', results: [{ callId: 'c1', parts: [{ type: 'text', text: 'text of a' }] }] },
    ];
    expect(await generate({ ...REQUEST, messages, tools: [tool] })).toEqual({ finish: 'stop' });
    expect(seen[0]).toEqual([
      { role: 'user', content: 'be brief' },
      {
        role: 'user',
        content: [
          new fake.LanguageModelTextPart('look'),
          new fake.LanguageModelDataPart(Buffer.from([1, 2]), 'image/png'),
        ],
      },
      {
        role: 'assistant',
        content: [new fake.LanguageModelToolCallPart('c1', 'read', { path: 'a' })],
      },
      {
        role: 'user',
        content: [
          new fake.LanguageModelToolResultPart('c1', [new fake.LanguageModelTextPart('text of a')]),
        ],
      },
    ]);
    expect(seen[1]).toMatchObject({
      tools: [tool],
      justification: expect.stringContaining('Pilothouse'),
    });
  });

  it.each([
    ['Blocked', 'editor_model.blocked'],
    ['NoPermissions', 'editor_model.no_permission'],
    ['NotFound', 'editor_model.not_found'],
    ['Whatever', 'editor_model.failed'],
  ])('says by a code why the editor refused: %s', async (code, expected) => {
    fake.lm.models = [
      model(() => {
        throw new fake.LanguageModelError(code, 'no');
      }),
    ];
    await expect(generate()).rejects.toMatchObject({ data: { code: expected } });
  });

  it('says that a model is gone, and that params are wrong', async () => {
    await expect(generate()).rejects.toMatchObject({ data: { code: 'editor_model.not_found' } });
    await expect(generate({ requestId: 1 })).rejects.toMatchObject({ rpcCode: -32602 });
  });

  it('cancels the request in the editor, and a cut stream is no complete reply', async () => {
    const begun = new Deferred<void>();
    fake.lm.models = [
      model((_, __, token) =>
        (async function* () {
          const end = new Deferred<void>();
          token.onCancellationRequested(() => end.resolve());
          yield new fake.LanguageModelTextPart('one');
          begun.resolve();
          await end.promise;
        })(),
      ),
    ];
    const abort = new AbortController();
    const reply = generate(REQUEST, abort.signal);
    await begun.promise;
    abort.abort();
    await expect(reply).rejects.toBeDefined();
    expect(sent).toHaveLength(1);
  });

  it('tells the agent when the editor’s models change, until it is disposed', () => {
    for (const listener of [...fake.lm.listeners]) listener();
    expect(sent).toEqual([['_pilothouse/editor_models/changed', {}]]);
    bridge.dispose();
    expect(fake.lm.listeners).toEqual([]);
  });
});
