import { describe, expect, it } from 'vitest';
import { Deferred } from '../../../../src/base/deferred.ts';
import {
  EditorModelError,
  type EditorModelErrorCode,
  type EditorModels,
  type EditorRequest,
} from '../../../../src/core/models/vscode-lm/editor-models.ts';
import { createEditorSource } from '../../../../src/core/models/vscode-lm/editor-source.ts';
import { type Model, ModelError } from '../../../../src/core/session/model.ts';
import type { EditorPart } from '../../../../src/protocol/editor-models.ts';
import { collect, ManualClock, rejection, request, session, tools, user } from './fakes.ts';
import { replyOf } from './rehearsal/drive.ts';

const MODELS = [
  {
    vendor: 'copilot',
    family: 'gpt',
    id: 'gpt-1',
    name: 'GPT',
    maxInputTokens: 8_000,
    images: false,
  },
  { vendor: 'copilot', family: 'sonnet', id: 's-2', name: 'S', maxInputTokens: 0, images: true },
];

type Generate = EditorModels['generate'];

function source(generate: Generate, clock = new ManualClock()) {
  const editor: EditorModels = {
    list: async () => MODELS,
    generate,
    onDidChange: () => ({ dispose: () => undefined }),
  };
  return createEditorSource({ editor, clock, deadlines: { firstTokenMs: 1_000, idleMs: 2_000 } });
}

async function model(
  generate: Generate,
  clock?: ManualClock,
  name = 'copilot/gpt-1',
): Promise<Model> {
  const found = await source(generate, clock).resolve(name, session);
  if (found === null) throw new TypeError('no model');
  return found;
}

const stuck: Generate = () => new Promise(() => undefined);

describe("the editor's models", () => {
  it('are listed and found by id and by family', async () => {
    const editor = source(stuck);
    expect(await editor.list()).toEqual([
      expect.objectContaining({
        id: 'vscode-lm/copilot/gpt-1',
        contextTokens: 8_000,
        images: false,
      }),
      expect.not.objectContaining({ contextTokens: 0 }),
    ]);
    expect((await editor.resolve('copilot/sonnet', session))?.info.id).toBe(
      'vscode-lm/copilot/s-2',
    );
    expect(await editor.resolve('copilot/none', session)).toBeNull();
  });

  it('get the request and stream the reply', async () => {
    const sent: EditorRequest[] = [];
    const parts: EditorPart[] = [
      { type: 'text', text: 'Hel' },
      { type: 'text', text: 'lo' },
      { type: 'tool_call', callId: 'c', name: 'read', input: { path: 'a' } },
    ];
    const one = await model(async (_ask, what, onPart) => {
      sent.push(what);
      for (const part of parts) onPart(part);
      return { finish: 'tool_calls' };
    });
    const image = { type: 'image', mimeType: 'image/png', data: 'aQ==' } as const;
    const messages = [
      {
        ...user('hi'),
        role: 'user',
        origin: 'prompt',
        messageId: 'm' as never,
        parts: [image],
      } as const,
    ];
    const events = await collect(one, request(messages, { tools: tools('read') }));
    expect(events.filter((event) => event.type === 'text')).toHaveLength(2);
    expect(replyOf(events)).toMatchObject({
      text: 'Hello',
      reason: 'tool_calls',
      calls: [{ toolCallId: 'c', name: 'read', input: { path: 'a' } }],
    });
    expect(sent).toEqual([
      {
        modelId: 'gpt-1',
        system: 'Be exact.',
        messages: [
          {
            role: 'user',
            parts: [{ type: 'text', text: expect.stringContaining('left out') }],
          },
        ],
        tools: [expect.objectContaining({ name: 'read' })],
      },
    ]);
  });

  it('are told results of tools by their calls', async () => {
    const sent: EditorRequest[] = [];
    const one = await model(async (_ask, what) => {
      sent.push(what);
      return { finish: 'stop' };
    });
    const call = { toolCallId: 'c' as never, name: 'read', input: {} };
    await collect(
      one,
      request([
        user('hi'),
        { role: 'assistant', messageId: 'a' as never, text: '', thought: 'hm', calls: [call] },
        { role: 'assistant', messageId: 'b' as never, text: '', thought: 'hm', calls: [] },
        {
          role: 'tool',
          results: [{ toolCallId: 'c' as never, name: 'read', status: 'denied', parts: [] }],
        },
      ]),
    );
    expect(sent[0]?.messages).toEqual([
      { role: 'user', parts: [{ type: 'text', text: 'hi' }] },
      { role: 'assistant', text: '', calls: [{ callId: 'c', name: 'read', input: {} }] },
      { role: 'tool', results: [{ callId: 'c', parts: [{ type: 'text', text: '(denied)' }] }] },
    ]);
  });

  it.each([
    ['editor_model.no_editor', 'model.unreachable'],
    ['editor_model.cut', 'model.stream_cut'],
    ['editor_model.no_permission', 'model.key_refused'],
    ['editor_model.blocked', 'model.rate_limited'],
    ['editor_model.not_found', 'model.unknown'],
    ['editor_model.failed', 'model.failed'],
  ] as const)('report %s as %s', async (code: EditorModelErrorCode, expected) => {
    const one = await model(() => Promise.reject(new EditorModelError(code, 'x')));
    expect(await rejection(collect(one, request([user('a')])))).toMatchObject({
      code: expected,
      source: 'vscode-lm',
    });
  });

  it('report an unforeseen failure after the parts that came', async () => {
    const one = await model((_ask, _what, onPart) => {
      onPart({ type: 'text', text: 'a' });
      return Promise.reject(new Error('boom'));
    });
    const stream = one.stream(request([user('a')]), new AbortController().signal);
    const reply = stream[Symbol.asyncIterator]();
    expect((await reply.next()).value).toEqual({ type: 'text', text: 'a' });
    expect(await rejection(reply.next())).toMatchObject({ code: 'model.failed' });
  });

  it('are stopped by an abort, also where the editor does not react', async () => {
    const abort = new AbortController();
    const asked = new Deferred<AbortSignal>();
    const one = await model((_ask, _what, _onPart, signal) => {
      asked.resolve(signal);
      return new Promise(() => undefined);
    });
    const failed = rejection(collect(one, request([user('a')]), abort.signal));
    const signal = await asked.promise;
    abort.abort();
    expect(await failed).toMatchObject({ code: 'model.cancelled' });
    expect(signal.aborted).toBe(true);
  });

  it('are given up on when they stay silent', async () => {
    const clock = new ManualClock();
    const one = await model(stuck, clock);
    const failed = rejection(collect(one, request([user('a')])));
    await new Promise(setImmediate);
    clock.advance(1_000);
    expect(await failed).toMatchObject({ code: 'model.timeout', retryable: true });
  });

  it('that went in the middle of an answer are a cut stream, which may be tried again', async () => {
    const one = await model(() =>
      Promise.reject(new EditorModelError('editor_model.cut', 'The editor went away')),
    );
    expect(await rejection(collect(one, request([user('a')])))).toMatchObject({
      code: 'model.stream_cut',
      retryable: true,
    });
  });

  describe('while no editor is there', () => {
    const absent = (): {
      editor: EditorModels;
      offer: (models: typeof MODELS) => void;
      readonly listeners: ReadonlySet<() => void>;
    } => {
      let offered: typeof MODELS = [];
      const listeners = new Set<() => void>();
      const editor: EditorModels = {
        list: async () => offered,
        generate: stuck,
        onDidChange: (listener) => {
          listeners.add(listener);
          return { dispose: () => listeners.delete(listener) };
        },
      };
      const offer = (models: typeof MODELS): void => {
        offered = models;
        for (const listener of listeners) listener();
      };
      return { editor, offer, listeners };
    };

    async function failed(editor: EditorModels): Promise<ModelError> {
      const one = createEditorSource({ editor, clock: new ManualClock() });
      const error = await rejection(Promise.resolve(one.resolve('copilot/sonnet', session)));
      if (!(error instanceof ModelError)) throw new TypeError('no model error');
      return error;
    }

    it('say that they wait for one, and are there when one offers the model', async () => {
      const { editor, offer, listeners } = absent();
      const error = await failed(editor);
      expect(error).toMatchObject({
        code: 'model.unreachable',
        arrival: { waitsFor: 'editor' },
        message: expect.stringContaining('Waiting for an editor with language models'),
      });
      let hasArrived = false;
      const arrived = error.arrival?.arrived(new AbortController().signal).then(() => {
        hasArrived = true;
      });
      await new Promise(setImmediate);
      offer(MODELS.slice(0, 1));
      await new Promise(setImmediate);
      expect(hasArrived).toBe(false);
      offer(MODELS);
      await arrived;
      expect(listeners.size).toBe(0);
    });

    it('wait no longer than they are asked to', async () => {
      const { editor, listeners } = absent();
      const { arrival } = await failed(editor);
      const stop = new AbortController();
      const waiting = rejection(Promise.resolve(arrival?.arrived(stop.signal)));
      await new Promise(setImmediate);
      stop.abort();
      expect(await waiting).toBe(stop.signal.reason);
      expect(listeners.size).toBe(0);
    });

    it('are found as unknown as soon as another model is offered', async () => {
      const { editor, offer } = absent();
      offer(MODELS.slice(0, 1));
      const one = createEditorSource({ editor, clock: new ManualClock() });
      expect(await one.resolve('copilot/sonnet', session)).toBeNull();
    });
  });
});
