import { afterEach, describe, expect, it } from 'vitest';
import {
  CodeLensRequest,
  createProtocolConnection,
  DidCloseTextDocumentNotification,
  DidOpenTextDocumentNotification,
  DocumentLinkRequest,
  DocumentSymbolRequest,
  ExitNotification,
  FoldingRangeRequest,
  HoverRequest,
  InitializedNotification,
  InitializeRequest,
  type ProtocolConnection,
  ShutdownRequest,
  TextDocumentContentRefreshRequest,
  TextDocumentContentRequest,
} from 'vscode-languageserver';
import type { Clock } from '../../../../src/base/clock.ts';
import { Deferred } from '../../../../src/base/deferred.ts';
import { Emitter } from '../../../../src/base/emitter.ts';
import type { JsonObject } from '../../../../src/base/json.ts';
import type { HistoryEvent, Stored } from '../../../../src/core/session/events.ts';
import { PushReader, SendWriter } from '../../../../src/core/transcript/message-pair.ts';
import { createTranscriptServer } from '../../../../src/core/transcript/server.ts';
import type { TranscriptChange } from '../../../../src/core/transcript/source.ts';
import {
  created,
  delta,
  records,
  SESSION,
  sampleHistory,
  turnEnded,
  turnStarted,
} from './history.ts';

const URI = `agent-session:/${SESSION}/Fix%20it.md`;
const ignore = (): void => undefined;
const SILENT = { debug: ignore, info: ignore, warn: ignore, error: ignore };

/** A clock whose sleeps end when the test says so. */
class ManualClock implements Clock {
  readonly sleeps: { ms: number; end: () => void }[] = [];

  now(): number {
    return 0;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      this.sleeps.push({ ms, end: resolve });
      signal?.addEventListener('abort', () => reject(new Error('aborted')));
    });
  }
}

/** A server over a history in memory, and a real protocol connection as its client. */
class Bench {
  readonly clock = new ManualClock();
  readonly changes = new Emitter<TranscriptChange>();
  readonly refreshed: string[] = [];
  reads = 0;
  #refresh = new Deferred<void>();
  history: Stored<HistoryEvent>[];
  readonly server;
  client: ProtocolConnection;
  #toClient = new PushReader();

  constructor(history: Stored<HistoryEvent>[]) {
    this.history = history;
    this.server = createTranscriptServer({
      send: (message) => this.#toClient.push(structuredClone({ jsonrpc: '2.0', ...message })),
      clock: this.clock,
      log: SILENT,
      source: {
        onDidChange: this.changes.event,
        read: async (sessionId, after, limit) => {
          this.reads += 1;
          if (sessionId !== SESSION) return null;
          return this.history.filter(({ seq }) => seq > after).slice(0, limit);
        },
      },
    });
    this.client = this.connect();
  }

  /** A client that starts anew, as after a reload of the window. */
  connect(): ProtocolConnection {
    this.#toClient = new PushReader();
    const client = createProtocolConnection(
      this.#toClient,
      new SendWriter((message: JsonObject) => this.server.receive(structuredClone(message))),
    );
    client.onRequest(TextDocumentContentRefreshRequest.type, ({ uri }) => {
      this.refreshed.push(uri);
      this.#refresh.resolve();
    });
    client.listen();
    this.client = client;
    return client;
  }

  async initialize() {
    const result = await this.client.sendRequest(InitializeRequest.type, {
      processId: null,
      rootUri: null,
      capabilities: {},
    });
    await this.client.sendNotification(InitializedNotification.type, {});
    return result;
  }

  async text(uri = URI): Promise<string> {
    return (await this.client.sendRequest(TextDocumentContentRequest.type, { uri })).text;
  }

  add(events: HistoryEvent[], turnEnd = false): void {
    this.history = [...this.history, ...records(events, this.history.length + 1)];
    this.changes.fire({ sessionId: SESSION, turnEnded: turnEnd });
  }

  async nextRefresh(): Promise<void> {
    await this.#refresh.promise;
    this.#refresh = new Deferred<void>();
  }

  dispose(): void {
    this.client.dispose();
    this.server.dispose();
  }
}

describe('the transcript server', () => {
  let bench: Bench;
  afterEach(() => bench.dispose());

  it('serves the document, its outline, folds, links, lenses and hovers', async () => {
    bench = new Bench(sampleHistory());
    const { capabilities } = await bench.initialize();
    expect(capabilities.workspace?.textDocumentContent).toEqual({ schemes: ['agent-session'] });
    const lines = (await bench.text()).split('\n');
    const textDocument = { uri: URI };
    const [turn] =
      (await bench.client.sendRequest(DocumentSymbolRequest.type, { textDocument })) ?? [];
    expect(turn).toMatchObject({
      name: 'Turn 1',
      children: [
        { name: 'Thought' },
        { name: 'write something' },
        { name: 'Approval' },
        { name: 'Agent' },
      ],
    });
    const folds = await bench.client.sendRequest(FoldingRangeRequest.type, { textDocument });
    expect(folds?.map(({ startLine }) => lines[startLine])).toEqual(['```json', '```diff']);
    const links = await bench.client.sendRequest(DocumentLinkRequest.type, { textDocument });
    expect(links?.map(({ target }) => target)).toContain('file:///work/project/a%20b.ts#L12');
    const lenses = await bench.client.sendRequest(CodeLensRequest.type, { textDocument });
    expect(lenses?.map(({ command }) => command?.title)).toEqual([
      'Open in Chat',
      'Show Changes',
      'Copy',
    ]);
    const line = lines.findIndex((each) => each.startsWith('### Agent'));
    const hover = await bench.client.sendRequest(HoverRequest.type, {
      textDocument,
      position: { line, character: 3 },
    });
    expect(JSON.stringify(hover?.contents)).toContain(
      '| #10 | `message_delta` | 2026-11-02T13:00:10.000Z | `hash-10` |',
    );
    const inText = { textDocument, position: { line: line + 2, character: 0 } };
    expect(await bench.client.sendRequest(HoverRequest.type, inText)).toBeNull();
  });

  it('opens no link that could do more than open', async () => {
    const link = (uri: string) => ({ type: 'resource_link', uri, name: uri }) as const;
    const content = ['command:boom', 'javascript:1', 'vscode://x', 'https://example.org/'].map(
      link,
    );
    bench = new Bench(records([created(), { ...turnStarted('go'), content } as HistoryEvent]));
    await bench.initialize();
    await bench.text();
    const links = await bench.client.sendRequest(DocumentLinkRequest.type, {
      textDocument: { uri: URI },
    });
    expect(links?.map(({ target }) => target)).toEqual([
      'file:///work/project',
      'https://example.org/',
    ]);
  });

  it('refreshes at most once a wait while running, and at once when the turn ends', async () => {
    bench = new Bench(records([created(), turnStarted('go')]));
    await bench.initialize();
    await bench.text();
    bench.add([delta('a')]);
    bench.add([delta('b', 1)]);
    expect(bench.clock.sleeps.map(({ ms }) => Math.floor(ms))).toEqual([250]);
    expect(bench.refreshed).toEqual([]);
    bench.clock.sleeps[0]?.end();
    await bench.nextRefresh();
    expect(await bench.text()).toContain('> ab');
    bench.add([delta('c', 2)]);
    bench.add([turnEnded()], true);
    await bench.nextRefresh();
    expect(bench.refreshed).toEqual([URI, URI]);
    expect(await bench.text()).toContain('**Turn 1 ended**');
  });

  it('reads only what is new', async () => {
    const many = Array.from({ length: 2_500 }, (_, index) => delta('x', index));
    bench = new Bench(records([created(), turnStarted('go'), ...many]));
    await bench.initialize();
    await bench.text();
    expect(bench.reads).toBe(3);
    bench.add([delta('y', 2_500)]);
    await bench.text();
    expect(bench.reads).toBe(4);
  });

  it('answers about the text that the client shows, not about a newer one', async () => {
    bench = new Bench(records([created(), turnStarted('one'), turnEnded()]));
    await bench.initialize();
    await bench.text();
    bench.add([turnStarted('two')]);
    const params = { textDocument: { uri: URI } };
    expect(await bench.client.sendRequest(DocumentSymbolRequest.type, params)).toHaveLength(1);
    await bench.text();
    expect(await bench.client.sendRequest(DocumentSymbolRequest.type, params)).toHaveLength(2);
  });

  it('tells a client that shows an old text to refresh it, and leaves a fresh one alone', async () => {
    bench = new Bench(sampleHistory());
    await bench.initialize();
    const open = async (text: string) =>
      bench.client.sendNotification(DidOpenTextDocumentNotification.type, {
        textDocument: { uri: URI, languageId: 'markdown', version: 1, text },
      });
    await open(await bench.text());
    await open('# Old');
    await bench.nextRefresh();
    expect(bench.refreshed).toEqual([URI]);
  });

  it('forgets a closed document', async () => {
    bench = new Bench(records([created(), turnStarted('go')]));
    await bench.initialize();
    await bench.text();
    await bench.client.sendNotification(DidCloseTextDocumentNotification.type, {
      textDocument: { uri: URI },
    });
    await bench.client.sendRequest(FoldingRangeRequest.type, {
      textDocument: { uri: 'agent-session:/x' },
    });
    bench.add([turnEnded()], true);
    expect(bench.refreshed).toEqual([]);
  });

  it('says so where there is no such session, whatever the address', async () => {
    bench = new Bench([]);
    await bench.initialize();
    for (const uri of ['agent-session:/other/x.md', 'agent-session:/', 'agent-session:/%/x.md'])
      expect(await bench.text(uri)).toContain('# No such session');
  });

  it('survives exit and serves a client that starts anew', async () => {
    bench = new Bench(sampleHistory());
    await bench.initialize();
    const before = await bench.text();
    await bench.client.sendRequest(ShutdownRequest.type);
    await bench.client.sendNotification(ExitNotification.type);
    bench.client.dispose();
    bench.connect();
    await bench.initialize();
    expect(await bench.text()).toBe(before);
  });
});
