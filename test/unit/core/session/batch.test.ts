import { describe, expect, it } from 'vitest';
import { Deferred } from '../../../../src/base/deferred.ts';
import type { PolicyDecision } from '../../../../src/core/session/tool.ts';
import type { ToolCallId } from '../../../../src/core/session/words.ts';
import { aSession, aTool, ok, pathOf } from '../../../support/engine/a-session.ts';
import { calls, type Reply, ScriptedModel, says } from '../../../support/engine/scripted-model.ts';

const ASK: PolicyDecision = {
  decision: 'ask',
  reason: 'it writes',
  details: [],
  remember: [{ scope: 'session', label: 'Allow in this session', rules: [] }],
};

describe('a batch', () => {
  it('runs effects in call order, one after another', async () => {
    let running = 0;
    const order: string[] = [];
    const model = new ScriptedModel(
      calls(['w', { path: '1' }], ['w', { path: '2' }]),
      says('done'),
    );
    const tool = aTool('w', async (_context, input) => {
      running += 1;
      expect(running).toBe(1);
      order.push(pathOf(input));
      await Promise.resolve();
      running -= 1;
      return ok('');
    });
    const t = await aSession({ model, tools: [tool] });
    await t.prompt('go');
    expect(order).toEqual(['1', '2']);
    const tools = t
      .history()
      .flatMap((event) => ('toolCallId' in event ? [`${event.type} ${event.toolCallId}`] : []));
    expect(tools).toEqual([
      'tool_proposed 1.0',
      'tool_proposed 1.1',
      'tool_started 1.0',
      'tool_ended 1.0',
      'tool_started 1.1',
      'tool_ended 1.1',
    ]);
  });

  it('runs neighbouring read-only calls side by side', async () => {
    const both = new Deferred<void>();
    let running = 0;
    const tool = aTool(
      'r',
      async () => {
        running += 1;
        if (running === 2) both.resolve();
        await both.promise;
        return ok('');
      },
      { readOnly: true },
    );
    const t = await aSession({
      model: new ScriptedModel(calls(['r', {}], ['r', {}]), says('done')),
      tools: [tool],
    });
    expect((await t.prompt('go')).terminal.kind).toBe('natural');
  });

  it('asks all its questions at once and runs only what was allowed', async () => {
    const ran: string[] = [];
    const model = new ScriptedModel(
      calls(['w', { path: '1' }], ['w', { path: '2' }]),
      says('done'),
    );
    const tool = aTool('w', (_context, input) => {
      ran.push(pathOf(input));
      return ok('');
    });
    const t = await aSession({ model, tools: [tool], decide: () => ASK });
    const outcome = t.prompt('go');
    const second = await t.next('gate_opened', 2);
    const first = await t.next('gate_opened', 1);
    expect(t.session.openGates).toHaveLength(2);
    expect(ran).toEqual([]);
    void t.answer(second.gateId, { kind: 'selected', optionId: 'allow_once' });
    void t.answer(first.gateId, {
      kind: 'selected',
      optionId: 'reject_once',
      note: 'not that file',
    });
    await outcome;
    expect(ran).toEqual(['2']);
    expect(model.requests[1]?.messages.at(-1)).toMatchObject({
      role: 'tool',
      results: [
        {
          status: 'denied',
          parts: [{ type: 'text', text: expect.stringContaining('not that file') }],
        },
        { status: 'completed' },
      ],
    });
  });

  it('takes the first answer to a question and refuses the second', async () => {
    const t = await aSession({
      model: new ScriptedModel(calls(['w', {}]), says('done')),
      tools: [aTool('w', () => ok(''))],
      decide: () => ASK,
    });
    const outcome = t.prompt('go');
    const { gateId } = await t.next('gate_opened');
    expect(await t.answer(gateId, { kind: 'selected', optionId: 'allow_once' })).toBe(true);
    expect(await t.answer(gateId, { kind: 'selected', optionId: 'reject_once' })).toBe(false);
    await outcome;
    expect(t.types().filter((type) => type === 'gate_resolved')).toHaveLength(1);
  });

  it('treats an answer that names no option as a rejection', async () => {
    let ran = false;
    const tool = aTool('w', () => {
      ran = true;
      return ok('');
    });
    const t = await aSession({
      model: new ScriptedModel(calls(['w', {}]), says('done')),
      tools: [tool],
      decide: () => ASK,
    });
    const outcome = t.prompt('go');
    const { gateId } = await t.next('gate_opened');
    void t.answer(gateId, { kind: 'selected', optionId: 'made up' });
    await outcome;
    expect(ran).toBe(false);
  });

  it('tells the model about unknown tools, bad arguments, denials and tools that throw', async () => {
    const model = new ScriptedModel(
      calls(['nope', {}], ['denied', {}], ['throws', {}]),
      says('done'),
    );
    const throws = aTool('throws', () => {
      throw new Error('boom');
    });
    const t = await aSession({
      model,
      tools: [aTool('denied', () => ok('')), throws],
      decide: ({ tool }) =>
        tool === 'denied'
          ? { decision: 'deny', reason: 'read-only mode' }
          : { decision: 'allow', reason: '' },
    });
    await t.prompt('go');
    const results = t
      .history()
      .flatMap((event) =>
        event.type === 'tool_ended' ? [[event.result.status, event.result.parts]] : [],
      );
    expect(results).toEqual([
      [
        'failed',
        [{ type: 'text', text: 'There is no tool named "nope". Available: denied, throws' }],
      ],
      ['denied', [{ type: 'text', text: 'Not allowed: read-only mode' }]],
      ['failed', [{ type: 'text', text: 'boom' }]],
    ]);
  });

  it('runs no call whose arguments are no JSON, and says what is wrong with them', async () => {
    const ran: string[] = [];
    const tool = aTool('w', (_context, input) => {
      ran.push(pathOf(input));
      return ok('x');
    });
    const broken: Reply = async function* () {
      const call = { toolCallId: 'bad' as ToolCallId, name: 'w', input: {} };
      yield { type: 'tool_call', call: { ...call, inputError: 'Unexpected end of JSON input' } };
      yield {
        type: 'tool_call',
        call: { ...call, toolCallId: 'good' as ToolCallId, input: { path: 'a' } },
      };
      yield { type: 'finish', reason: 'tool_calls', usage: { inputTokens: 1, outputTokens: 1 } };
    };
    const t = await aSession({ model: new ScriptedModel(broken, says('done')), tools: [tool] });
    expect((await t.prompt('go')).terminal.kind).toBe('natural');
    expect(ran).toEqual(['a']);
    expect(
      t.history().flatMap((event) => (event.type === 'tool_ended' ? [event.result] : [])),
    ).toMatchObject([
      {
        toolCallId: 'bad',
        status: 'failed',
        parts: [{ text: 'The arguments of w are not valid JSON: Unexpected end of JSON input' }],
      },
      { toolCallId: 'good', status: 'completed' },
    ]);
    expect(t.types().filter((type) => type === 'tool_started')).toHaveLength(1);
  });

  it('prepares a call again after an earlier one changed the world', async () => {
    let exists = false;
    const make = aTool('make', () => {
      exists = true;
      return ok('');
    });
    const plain = aTool('use', () => ok('used'));
    const use = {
      ...plain,
      prepare: async (...args: Parameters<typeof plain.prepare>) =>
        exists ? plain.prepare(...args) : { error: 'no such file' },
    };
    const t = await aSession({
      model: new ScriptedModel(calls(['make', {}], ['use', {}]), says('done')),
      tools: [make, use],
    });
    await t.prompt('go');
    expect(
      t.history().flatMap((event) => (event.type === 'tool_ended' ? [event.result.status] : [])),
    ).toEqual(['completed', 'completed']);
  });

  it('shows a proposal without running it', async () => {
    let ran = false;
    const tool = aTool('w', () => {
      ran = true;
      return ok('');
    });
    const t = await aSession({
      model: new ScriptedModel(calls(['w', {}]), says('done')),
      tools: [tool],
      decide: () => ({ decision: 'propose', reason: 'shadow mode' }),
    });
    await t.prompt('go');
    expect(ran).toBe(false);
    expect(t.types()).not.toContain('tool_started');
  });
});

describe('a lasting answer', () => {
  it('stores the option that was chosen, also where two have one scope', async () => {
    const rule = (pattern: string) =>
      ({ effect: 'allow', tool: '*', kind: 'write', pattern }) as const;
    const wide = { scope: 'session', label: 'wide', rules: [rule('/w/**')] } as const;
    const narrow = { scope: 'session', label: 'narrow', rules: [rule('/w/a')] } as const;
    const t = await aSession({
      model: new ScriptedModel(calls(['w', {}]), says('done')),
      tools: [aTool('w', () => ok(''))],
      decide: () => ({ decision: 'ask', reason: '', details: [], remember: [wide, narrow] }),
    });
    const outcome = t.prompt('go');
    const { gateId, request } = await t.next('gate_opened');
    if (request.kind !== 'permission') throw new Error('not a permission');
    const ids = request.options.map(({ optionId }) => optionId);
    expect(new Set(ids).size).toBe(ids.length);
    const chosen = request.options.find(({ name }) => name === 'narrow')?.optionId ?? '';
    void t.answer(gateId, { kind: 'selected', optionId: chosen });
    await outcome;
    expect(t.remembered).toEqual([narrow]);
  });
});
