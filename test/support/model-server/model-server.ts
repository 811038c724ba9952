import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Deferred } from '../../../src/base/deferred.ts';
import type { ReplyScenario, ReplyStep, Scenario, Wire } from './scenario.ts';
import { AnthropicWire } from './wire/anthropic.ts';
import { GoogleWire } from './wire/google.ts';
import { OpenAiChatWire } from './wire/openai-chat.ts';
import { OpenAiResponsesWire } from './wire/openai-responses.ts';

export type WireKind = 'openai-compatible' | 'openai' | 'anthropic' | 'google';

/** A request as it came. */
export type RecordedRequest = {
  readonly kind: WireKind;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
  /** Settles when the connection of this request is closed, by whichever side. */
  readonly closed: Promise<void>;
};

const BASES: Readonly<Record<WireKind, string>> = {
  'openai-compatible': '/compatible/v1',
  openai: '/openai/v1',
  anthropic: '/anthropic/v1',
  google: '/google/v1beta',
};

/**
 * A loopback server that speaks the streaming wire formats of the model providers. Each request takes the next
 * scenario, or what `answer` gives; without either it gets a 500 that says so.
 */
export class ModelServer {
  readonly requests: RecordedRequest[] = [];
  /** Asked when no scripted scenario is left. */
  answer: ((request: RecordedRequest) => Scenario) | null = null;
  readonly #server: Server;
  readonly #scenarios: Scenario[] = [];
  readonly #waiters: { count: number; done: Deferred<void> }[] = [];

  private constructor() {
    this.#server = createServer((request, response) => {
      this.#handle(request, response).catch((error: unknown) => {
        response.destroy(error instanceof Error ? error : new Error(String(error)));
      });
    });
  }

  static async start(): Promise<ModelServer> {
    const server = new ModelServer();
    await new Promise<void>((resolve) => {
      server.#server.listen(0, '127.0.0.1', resolve);
    });
    return server;
  }

  /** The base URL for a provider configuration of this kind. */
  baseUrl(kind: WireKind): string {
    const { port } = this.#server.address() as AddressInfo;
    return `http://127.0.0.1:${port}${BASES[kind]}`;
  }

  /** Adds what to do with the next requests, one each. */
  script(...scenarios: readonly Scenario[]): void {
    this.#scenarios.push(...scenarios);
  }

  /** Resolves once `count` requests have come. */
  async received(count: number): Promise<void> {
    if (this.requests.length >= count) return;
    const done = new Deferred<void>();
    this.#waiters.push({ count, done });
    await done.promise;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
  }

  async #handle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = await record(incoming, response);
    this.requests.push(request);
    for (const waiter of this.#waiters) {
      if (this.requests.length >= waiter.count) waiter.done.resolve();
    }
    const scenario = this.#scenarios.shift() ??
      this.answer?.(request) ?? {
        kind: 'error',
        status: 500,
        message: 'The test scripted no scenario for this request.',
      };
    await play(scenario, request.kind, response);
  }
}

async function record(
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<RecordedRequest> {
  const closed = new Deferred<void>();
  response.on('close', () => closed.resolve());
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const path = incoming.url ?? '';
  const kind = (Object.keys(BASES) as WireKind[]).find((one) => path.startsWith(BASES[one]));
  return {
    kind: kind ?? 'openai-compatible',
    path,
    headers: Object.fromEntries(
      Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]),
    ),
    body: JSON.parse(Buffer.concat(chunks).toString('utf8')) as Record<string, unknown>,
    closed: closed.promise,
  };
}

function wireOf(kind: WireKind, usage: ReplyScenario['usage']): Wire {
  switch (kind) {
    case 'openai-compatible':
      return new OpenAiChatWire();
    case 'openai':
      return new OpenAiResponsesWire();
    case 'anthropic':
      return new AnthropicWire(usage);
    case 'google':
      return new GoogleWire();
  }
}

async function play(scenario: Scenario, kind: WireKind, response: ServerResponse): Promise<void> {
  switch (scenario.kind) {
    case 'reply':
      await reply(scenario, wireOf(kind, scenario.usage), response);
      return;
    case 'error': {
      const body = wireOf(kind, undefined).errorBody(
        scenario.status,
        scenario.message ?? 'Scripted failure.',
        scenario.code,
      );
      response.writeHead(scenario.status, {
        'content-type': 'application/json',
        ...scenario.headers,
      });
      response.end(scenario.body ?? JSON.stringify(body));
      return;
    }
    case 'silence':
      return;
    case 'redirect':
      response.writeHead(307, { location: scenario.location });
      response.end();
      return;
  }
}

async function reply(scenario: ReplyScenario, wire: Wire, response: ServerResponse): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
  response.flushHeaders();
  for (const frame of wire.begin()) response.write(frame);
  for (const step of scenario.steps) {
    if (!(await doStep(step, wire, response))) return;
  }
  for (const frame of wire.finish(scenario)) response.write(frame);
  response.end();
}

/** False when the stream is over. */
async function doStep(step: ReplyStep, wire: Wire, response: ServerResponse): Promise<boolean> {
  switch (step.type) {
    case 'hold':
      await step.until;
      return !response.destroyed;
    case 'malformed':
      for (const frame of wire.malformed()) response.write(frame);
      return true;
    case 'error':
      for (const frame of wire.streamError(step.status, step.message)) response.write(frame);
      response.end();
      return false;
    case 'cut':
      // What was written must be on its way before the connection breaks.
      await new Promise<void>((resolve) => {
        response.write(': cut\n\n', () => resolve());
      });
      response.destroy();
      return false;
    case 'end':
      response.end();
      return false;
    default:
      for (const frame of wire.content(step)) response.write(frame);
      return true;
  }
}
