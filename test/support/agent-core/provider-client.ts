import { onTestFinished } from 'vitest';
import { unescapeXml } from '../../../src/base/xml-text.ts';
import type { AcpTestClient } from '../acp-client/client.ts';
import { ModelServer, type RecordedRequest, type WireKind } from '../model-server/model-server.ts';
import type { ReplyStep, Scenario } from '../model-server/scenario.ts';
import { answering, startAgentCore, tempFolder } from './agent-core.ts';
import { type ControlClient, controlsOf, KNOWS_CONTROL } from './control-client.ts';

/** A client of the built process whose sessions use a loopback provider. */
export type ProviderClient = ControlClient & {
  readonly server: ModelServer;
  readonly home: string;
  /** The requests of the agent itself: neither looks of a judge nor summaries. */
  readonly agentRequests: () => readonly RecordedRequest[];
  /** The looks of the judge. */
  readonly looks: () => readonly RecordedRequest[];
  readonly setOption: (configId: string, value: string) => Promise<unknown>;
};

type WireMessage = { readonly role: string; readonly content?: unknown };

/** Starts agent-core on a loopback provider, with one session in code mode. */
export async function providerClient(
  options: { kind?: WireKind; contextTokens?: number; mode?: string } = {},
): Promise<ProviderClient> {
  const kind = options.kind ?? 'openai-compatible';
  const server = await ModelServer.start();
  onTestFinished(() => server.close());
  const home = tempFolder('home');
  const folder = tempFolder('work');
  const client = answering(startAgentCore(home), 'allow_once');
  await client.initialize(KNOWS_CONTROL);
  await useProvider(client, server, kind, options.contextTokens ?? 100_000);
  const sessionId = await client.newSession(folder);
  await client.call('session/set_mode', { sessionId, modeId: options.mode ?? 'code' });
  return {
    server,
    home,
    folder,
    sessionId,
    ...controlsOf(client, sessionId),
    agentRequests: () => server.requests.filter((request) => !isLook(request) && hasTools(request)),
    looks: () => server.requests.filter(isLook),
    setOption: (configId, value) =>
      client.call('session/set_config_option', { sessionId, configId, value }),
  };
}

/** Makes a loopback provider the model of new sessions. */
export async function useProvider(
  client: AcpTestClient,
  server: ModelServer,
  kind: WireKind = 'openai-compatible',
  contextTokens = 100_000,
): Promise<void> {
  const baseUrl = server.baseUrl(kind);
  const provider = { id: 'acme', kind, baseUrl, models: [{ name: 'one', contextTokens }] };
  await client.call('_pilothouse/models/configure', {
    providers: [provider],
    defaultModel: 'acme/one',
  });
  await client.call('_pilothouse/secrets/set', { source: 'acme', key: 'test-key' });
}

export function says(text: string): Scenario {
  return { kind: 'reply', steps: [{ type: 'text', text }] };
}

/** One reply with these calls, which get the ids `<prefix>0`, `<prefix>1`, … */
export function callsTools(
  prefix: string,
  ...calls: readonly [string, object][]
): Extract<Scenario, { kind: 'reply' }> {
  const steps = calls.map(
    ([name, input], index): ReplyStep => ({ type: 'call', id: `${prefix}${index}`, name, input }),
  );
  return { kind: 'reply', steps };
}

/** The messages of a request in the wire format of OpenAI chat completions. */
export function messagesOf({ body }: RecordedRequest): readonly WireMessage[] {
  return body['messages'] as readonly WireMessage[];
}

export function textOfMessage({ content }: WireMessage): string {
  if (typeof content === 'string') return content;
  const parts: readonly { text?: string }[] = Array.isArray(content) ? content : [];
  return parts.map(({ text }) => text ?? '').join('\n');
}

/** Everything that a request says, for a search in it. */
export function wholeText(request: RecordedRequest | undefined): string {
  return JSON.stringify(request?.body);
}

/** The text of the user messages of a request. */
export function userTexts(request: RecordedRequest | undefined): string[] {
  if (request === undefined) return [];
  return messagesOf(request)
    .filter(({ role }) => role === 'user')
    .map(textOfMessage);
}

export type ReadDirective = {
  readonly authority: string;
  readonly source: string;
  readonly text: string;
  readonly nonce: string;
};

/** The directives of a request in the order in which the model reads them, whatever their nonce. */
export function directivesOf(request: RecordedRequest | undefined): ReadDirective[] {
  return userTexts(request).flatMap((text) => {
    const nonce = /^<context-directives nonce="([^"]*)">/.exec(text)?.[1];
    if (nonce === undefined) return [];
    const found = text.matchAll(
      /<directive authority="(\w+)" source="(\w+)"[^>]*>\n([\s\S]*?)\n<\/directive>/g,
    );
    return [...found].map(([, authority = '', source = '', inner = '']) => ({
      authority,
      source,
      text: unescapeXml(inner.replace(/^<supersedes>[\s\S]*?<\/supersedes>\n/, '')),
      nonce,
    }));
  });
}

/** The last thing that an agent would obey: the newest directive of the highest authority, else the newest message. */
export function obeyed(request: RecordedRequest): string {
  const directives = directivesOf(request);
  for (const authority of ['contract', 'corrective', 'advisory']) {
    const newest = directives.findLast((one) => one.authority === authority);
    if (newest !== undefined) return newest.text;
  }
  return userTexts(request).findLast((text) => !text.startsWith('<context-directives')) ?? '';
}

/** Why `later` does not begin with `earlier`, byte by byte; null if it does. */
export function prefixFault(earlier: RecordedRequest, later: RecordedRequest): string | null {
  const { messages: before, ...restBefore } = earlier.body;
  const { messages: after, ...restAfter } = later.body;
  if (JSON.stringify(restBefore) !== JSON.stringify(restAfter)) return 'something but the messages';
  const begin = JSON.stringify(before).slice(0, -1);
  if (JSON.stringify(after).startsWith(`${begin},`)) return null;
  const [one, other] = [before as object[], after as object[]];
  const at = one.findIndex(
    (message, index) => JSON.stringify(message) !== JSON.stringify(other[index]),
  );
  return `message ${at}: ${JSON.stringify(one[at])} became ${JSON.stringify(other[at])}`;
}

/** The text of the newest message of the agent, as it was streamed. */
export function lastAnswer({ client, sessionId }: ControlClient): string {
  type Chunk = { messageId?: string; content: { text?: string } };
  const chunks = client.updates
    .filter((entry) => entry.sessionId === sessionId)
    .filter(({ update }) => update.sessionUpdate === 'agent_message_chunk')
    .map(({ update }) => update as Chunk);
  const last = chunks.at(-1)?.messageId;
  return chunks
    .filter(({ messageId }) => messageId === last)
    .map(({ content }) => content.text ?? '')
    .join('');
}

function isLook(request: RecordedRequest): boolean {
  return systemOf(request).startsWith('You verify whether');
}

function hasTools({ body }: RecordedRequest): boolean {
  return Array.isArray(body['tools']) && body['tools'].length > 0;
}

function systemOf(request: RecordedRequest): string {
  const [first] = messagesOf(request) ?? [];
  return first?.role === 'system' ? textOfMessage(first) : '';
}
