import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ModelMessage } from '../../../../../src/core/session/model.ts';
import { ModelServer } from '../../../../support/model-server/model-server.ts';
import { collect, request, tools, user } from '../fakes.ts';
import { replyOf } from '../rehearsal/drive.ts';
import { KEY, KINDS, MODEL, modelOf, said } from './setup.ts';

let server: ModelServer;
beforeAll(async () => {
  server = await ModelServer.start();
});
afterAll(() => server.close());

const prompt = request([user('Do it')], { tools: tools('read', 'write'), thoughtLevel: 'medium' });

function toolResults(calls: readonly { toolCallId: string; name: string }[]): ModelMessage {
  return {
    role: 'tool',
    results: calls.map((call, index) => ({
      toolCallId: call.toolCallId as never,
      name: call.name,
      status: index === 0 ? 'completed' : 'failed',
      parts: [{ type: 'text', text: `result ${index}` }],
    })),
  };
}

/** The list of messages on the wire, whatever it is called there. */
function wireMessages(body: Readonly<Record<string, unknown>>): unknown[] {
  return (body['messages'] ?? body['input'] ?? body['contents']) as unknown[];
}

describe.each(KINDS)('%s', (kind) => {
  it('streams text piece by piece and ends with counts and cost', async () => {
    const price = { inputPerMillion: 2, outputPerMillion: 10, cachedInputPerMillion: 0.5 };
    const model = await modelOf(server, kind, {
      config: { models: [{ name: MODEL[kind], price }] },
    });
    server.script({
      kind: 'reply',
      steps: [{ type: 'text', text: 'Grüße, 世界 🚀 from here' }],
      usage: { input: 1_000, output: 200, cached: 400, thought: 50 },
    });
    const events = await collect(model, prompt);
    expect(replyOf(events)).toMatchObject({ text: 'Grüße, 世界 🚀 from here', reason: 'stop' });
    expect(events.filter((event) => event.type === 'text').length).toBeGreaterThan(2);
    const last = events.at(-1);
    expect(last).toMatchObject({
      type: 'finish',
      usage: {
        inputTokens: 1_000,
        outputTokens: 200,
        cachedInputTokens: 400,
        ...(kind === 'anthropic' ? {} : { thoughtTokens: 50 }),
      },
    });
    const cost = last?.type === 'finish' ? last.usage.costUsd : undefined;
    expect(cost).toBeCloseTo((600 * 2 + 400 * 0.5 + 200 * 10) / 1e6, 10);
  });

  it('sends the key, the tools and the system prompt, and asks once', async () => {
    const before = server.requests.length;
    server.script({ kind: 'reply', steps: [{ type: 'text', text: 'ok' }] });
    await collect(
      await modelOf(server, kind, { config: { headers: { 'x-team': 'blue' } } }),
      prompt,
    );
    expect(server.requests.length - before).toBe(1);
    const sent = server.requests.at(-1);
    expect(sent?.kind).toBe(kind);
    expect(Object.values(sent?.headers ?? {}).some((value) => value.includes(KEY))).toBe(true);
    expect(sent?.path).not.toContain(KEY);
    expect(sent?.headers['x-team']).toBe('blue');
    const text = JSON.stringify(sent?.body);
    for (const part of ['Be exact.', 'Do it', 'The read tool', '"write"']) {
      expect(text).toContain(part);
    }
  });

  it('gives parallel tool calls with their arguments, after the text', async () => {
    server.script({
      kind: 'reply',
      steps: [
        { type: 'text', text: 'Working' },
        { type: 'call', id: 'call_a', name: 'read', input: { path: 'a "b"\n' } },
        { type: 'call', id: 'call_b', name: 'write', input: { path: 'b', text: '{}' } },
      ],
    });
    const reply = replyOf(await collect(await modelOf(server, kind), prompt));
    expect(reply).toMatchObject({ text: 'Working', reason: 'tool_calls' });
    expect(reply.calls.map(({ name, input }) => ({ name, input }))).toEqual([
      { name: 'read', input: { path: 'a "b"\n' } },
      { name: 'write', input: { path: 'b', text: '{}' } },
    ]);
    expect(new Set(reply.calls.map((call) => call.toolCallId)).size).toBe(2);
  });

  it('streams reasoning apart from the text, and sends it back as it came', async () => {
    const model = await modelOf(server, kind);
    server.script({
      kind: 'reply',
      steps: [
        { type: 'thought', text: 'I should read it first', signature: 'c2lnbmF0dXJl' },
        { type: 'text', text: 'Reading' },
        { type: 'call', id: 'call_a', name: 'read', input: {}, signature: 'Y2FsbA==' },
      ],
    });
    const events = await collect(model, prompt);
    const reply = replyOf(events);
    expect(reply).toMatchObject({ thought: 'I should read it first', text: 'Reading' });
    const finish = events.at(-1);
    const providerState = finish?.type === 'finish' ? finish.providerState : undefined;
    expect(providerState).toBeDefined();
    expect(JSON.stringify(providerState)).not.toContain('I should read');

    server.script({ kind: 'reply', steps: [{ type: 'text', text: 'Done' }] });
    const next = [
      ...prompt.messages,
      said({ ...reply, providerState }, 1),
      toolResults(reply.calls),
    ];
    await collect(model, { ...prompt, messages: next });
    const sent = JSON.stringify(server.requests.at(-1)?.body);
    // An endpoint without signatures gets the reasoning's text back.
    const back = kind === 'openai-compatible' ? 'I should read it first' : 'c2lnbmF0dXJl';
    if (kind !== 'google') expect(sent).toContain(back);
    if (kind === 'google') expect(sent).toContain('Y2FsbA==');

    const other = await modelOf(server, kind, { model: `${MODEL[kind]}-other` });
    server.script({ kind: 'reply', steps: [{ type: 'text', text: 'Done' }] });
    await collect(other, { ...prompt, messages: next });
    const foreign = JSON.stringify(server.requests.at(-1)?.body);
    expect(foreign).toContain('Reading');
    for (const own of ['c2lnbmF0dXJl', 'Y2FsbA==', 'I should read']) {
      expect(foreign).not.toContain(own);
    }
  });

  it('begins every later request with the earlier one', async () => {
    const model = await modelOf(server, kind);
    const messages: ModelMessage[] = [...prompt.messages];
    const bodies: Readonly<Record<string, unknown>>[] = [];
    for (let round = 1; round <= 3; round += 1) {
      server.script({
        kind: 'reply',
        steps: [
          { type: 'thought', text: `Thought ${round}`, signature: `c2ln${round}A==` },
          { type: 'text', text: `Text ${round}` },
          { type: 'call', id: `call_${round}`, name: 'read', input: { round } },
          { type: 'call', id: `call_${round}b`, name: 'write', input: { round } },
        ],
      });
      const events = await collect(model, { ...prompt, messages: [...messages] });
      bodies.push(server.requests.at(-1)?.body ?? {});
      const reply = replyOf(events);
      const finish = events.at(-1);
      const providerState = finish?.type === 'finish' ? finish.providerState : undefined;
      messages.push(
        said({ ...reply, providerState }, round),
        toolResults(reply.calls),
        ...(round === 2 ? [user('also this', 'steer')] : []),
      );
    }
    for (const [index, body] of bodies.entries()) {
      const later = bodies[index + 1];
      if (later === undefined) continue;
      const list = wireMessages(body);
      expect(wireMessages(later).slice(0, list.length)).toEqual(list);
      expect(wireMessages(later).length).toBeGreaterThan(list.length);
      const rest = (one: Readonly<Record<string, unknown>>) => ({
        ...one,
        messages: null,
        input: null,
        contents: null,
      });
      expect(rest(later)).toEqual(rest(body));
    }
  });

  it.each([
    ['length', 'length'],
    ['refusal', 'refusal'],
    ['pause', kind === 'anthropic' ? 'pause' : 'stop'],
  ] as const)('says that a reply ended by %s', async (finish, reason) => {
    server.script({ kind: 'reply', steps: [{ type: 'text', text: 'Part' }], finish });
    expect(replyOf(await collect(await modelOf(server, kind), prompt)).reason).toBe(reason);
  });

  it('names arguments that do not parse and does not fail', async () => {
    if (kind === 'google') return;
    server.script({
      kind: 'reply',
      steps: [{ type: 'call', id: 'call_a', name: 'read', rawInput: '{"path": "a' }],
    });
    const reply = replyOf(await collect(await modelOf(server, kind), prompt));
    expect(reply.calls).toEqual([
      expect.objectContaining({
        name: 'read',
        input: {},
        inputError: 'The arguments are not valid JSON.',
      }),
    ]);
  });

  it('gives calls ids that the conversation has not seen', async () => {
    const model = await modelOf(server, kind);
    const scenario = {
      kind: 'reply',
      steps: [{ type: 'call', id: 'call_0', name: 'read', input: {} }],
    } as const;
    server.script(scenario, scenario);
    const first = replyOf(await collect(model, prompt));
    const messages = [...prompt.messages, said(first, 1), toolResults(first.calls)];
    const second = replyOf(await collect(model, { ...prompt, messages }));
    expect(second.calls[0]?.toolCallId).not.toBe(first.calls[0]?.toolCallId);
  });

  it('shows images where the model takes them and names them where not', async () => {
    const image = { type: 'image', mimeType: 'image/png', data: 'aW1hZ2U=' } as const;
    const shown = request(
      [{ ...user('x'), role: 'user', origin: 'prompt', messageId: 'm' as never, parts: [image] }],
      {},
    );
    for (const images of [true, false]) {
      server.script({ kind: 'reply', steps: [{ type: 'text', text: 'ok' }] });
      const model = await modelOf(server, kind, {
        config: { models: [{ name: MODEL[kind], images }] },
      });
      await collect(model, shown);
      const sent = JSON.stringify(server.requests.at(-1)?.body);
      expect(sent.includes('aW1hZ2U=')).toBe(images);
      expect(sent.includes('left out')).toBe(!images);
    }
  });
});
