import { describe, expect, test } from 'vitest';
import { Deferred } from '../../../../../src/base/deferred.ts';
import { Emitter } from '../../../../../src/base/emitter.ts';
import type { ExtensionClient } from '../../../../../src/core/acp/types.ts';
import type { Client } from '../../../../../src/core/host/api.ts';
import { EditorBridge } from '../../../../../src/core/host/compose/editor-bridge.ts';
import type { SessionId } from '../../../../../src/core/session/words.ts';
import type { EditorModel, EditorPart } from '../../../../../src/protocol/editor-models.ts';
import { PeerGone } from '../../../../../src/protocol/transport/rpc-types.ts';

const sessionId = 's' as SessionId;
const MODEL: EditorModel = {
  vendor: 'v',
  family: 'f',
  id: 'm',
  name: 'M',
  maxInputTokens: 0,
  images: false,
};
const ASK = { sessionId, model: MODEL };
const REQUEST = { modelId: 'm', system: '', messages: [], tools: [] };

/** A connected editor: tests say what it offers, what it answers, and when it goes. */
class Editor implements ExtensionClient {
  readonly identity = {} as Client;
  readonly asked: string[] = [];
  readonly answer = new Deferred<unknown>();
  readonly wasAsked = new Deferred<void>();
  models: readonly EditorModel[] = [MODEL];
  readonly #notified = new Emitter<{
    method: '_pilothouse/editor_models/part' | '_pilothouse/editor_models/changed';
    params: unknown;
  }>();
  readonly #gone = new AbortController();
  readonly onNotification = this.#notified.event;
  readonly gone = this.#gone.signal;

  notify(): void {
    // Nothing that it is told matters here.
  }

  async request(method: string, params: object): Promise<unknown> {
    if (method === '_pilothouse/editor_models/list') return { models: this.models };
    this.asked.push('requestId' in params ? String(params.requestId) : '');
    this.wasAsked.resolve();
    return await this.answer.promise;
  }

  say(text: string): void {
    const part: EditorPart = { type: 'text', text };
    const params = { requestId: this.asked.at(-1), part };
    this.#notified.fire({ method: '_pilothouse/editor_models/part', params });
  }

  changed(): void {
    this.#notified.fire({ method: '_pilothouse/editor_models/changed', params: {} });
  }

  leave(): void {
    this.#gone.abort();
    this.answer.reject(new PeerGone());
  }
}

function bridged(...editors: Editor[]) {
  let minted = 0;
  let acting: Client | undefined;
  const ids = { unique: () => `r${minted++}`, secret: () => '' };
  const bridge = new EditorBridge(ids, () => acting);
  for (const editor of editors) bridge.connect(editor);
  const said: string[] = [];
  const take = (part: EditorPart): void => {
    if (part.type === 'text') said.push(part.text);
  };
  return {
    bridge,
    said,
    act: (editor: Editor) => {
      acting = editor.identity;
    },
    generate: () => bridge.generate(ASK, REQUEST, take, new AbortController().signal),
  };
}

describe("a request to the editors' language models", () => {
  test("goes to the acting owner's editor, else to the newest", async () => {
    const [first, second] = [new Editor(), new Editor()];
    const { act, generate } = bridged(first, second);
    const newest = generate();
    await second.wasAsked.promise;
    second.answer.resolve({ finish: 'stop' });
    expect(await newest).toEqual({ finish: 'stop' });
    expect(first.asked).toEqual([]);
    act(first);
    const acting = generate();
    await first.wasAsked.promise;
    first.answer.resolve({ finish: 'length' });
    expect(await acting).toEqual({ finish: 'length' });
  });

  test('goes to an editor that offers the model, not to one that acts without it', async () => {
    const [able, without] = [new Editor(), new Editor()];
    without.models = [];
    const { act, generate } = bridged(able, without);
    act(without);
    able.answer.resolve({ finish: 'stop' });
    expect(await generate()).toEqual({ finish: 'stop' });
    expect(without.asked).toEqual([]);
  });

  test('goes to the next editor where one went before it said anything', async () => {
    const [first, second] = [new Editor(), new Editor()];
    const { generate, said } = bridged(first, second);
    const reply = generate();
    await second.wasAsked.promise;
    second.leave();
    await first.wasAsked.promise;
    first.say('hello');
    first.answer.resolve({ finish: 'stop' });
    expect(await reply).toEqual({ finish: 'stop' });
    expect(said).toEqual(['hello']);
  });

  test('is cut where the editor went after its first part, and asks no other', async () => {
    const [first, second] = [new Editor(), new Editor()];
    const { generate, said } = bridged(first, second);
    const reply = generate();
    await second.wasAsked.promise;
    second.say('half');
    second.leave();
    await expect(reply).rejects.toMatchObject({ code: 'editor_model.cut' });
    expect(first.asked).toEqual([]);
    expect(said).toEqual(['half']);
  });

  test('finds no editor once the last one went', async () => {
    const only = new Editor();
    const { generate } = bridged(only);
    const reply = generate();
    await only.wasAsked.promise;
    only.leave();
    await expect(reply).rejects.toMatchObject({ code: 'editor_model.no_editor' });
  });
});

describe('the list of models', () => {
  test('holds those of all editors once, and follows each of them', async () => {
    const [first, second] = [new Editor(), new Editor()];
    const other = { ...MODEL, id: 'n' };
    const { bridge } = bridged(first, second);
    let changes = 0;
    bridge.onDidChange(() => {
      changes += 1;
    });
    expect(await bridge.list()).toEqual([MODEL]);
    first.models = [MODEL, other];
    expect(await bridge.list()).toEqual([MODEL]);
    first.changed();
    expect(changes).toBe(1);
    expect(await bridge.list()).toEqual([MODEL, other]);
  });

  test('is empty without an editor, and tells when one comes and goes', async () => {
    const { bridge } = bridged();
    let changes = 0;
    bridge.onDidChange(() => {
      changes += 1;
    });
    expect(await bridge.list()).toEqual([]);
    const connection = bridge.connect(new Editor());
    expect(await bridge.list()).toEqual([MODEL]);
    connection.dispose();
    expect(await bridge.list()).toEqual([]);
    expect(changes).toBe(2);
  });
});
