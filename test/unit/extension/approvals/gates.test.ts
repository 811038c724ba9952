import { describe, expect, it } from 'vitest';
import { formFields } from '../../../../src/extension/approvals/form-fields.ts';
import {
  allowOption,
  chatGate,
  type Gate,
  rejectOption,
} from '../../../../src/extension/approvals/gate.ts';
import { serveGates } from '../../../../src/extension/approvals/gate-requests.ts';
import { type GateChange, GateStore } from '../../../../src/extension/approvals/gate-store.ts';
import { ClientCalls } from '../../../../src/extension/core/client-requests.ts';

function gate(gateId: string, sessionId = 's'): Gate {
  return {
    gateId,
    sessionId,
    openedAt: 0,
    question: {
      kind: 'permission',
      toolCallId: 't',
      title: 'Run ls',
      toolKind: 'execute',
      reason: '',
      details: [],
      diffs: [],
      options: [
        { optionId: 'always', name: 'Always', kind: 'allow_always' },
        { optionId: 'once', name: 'Once', kind: 'allow_once' },
        { optionId: 'no', name: 'No', kind: 'reject_once' },
      ],
    },
  };
}

const never = new AbortController().signal;
const selected = (optionId: string) => ({ kind: 'selected', optionId }) as const;

describe('open questions', () => {
  it('take the first answer and ignore every later one', async () => {
    const store = new GateStore();
    const changes: GateChange[] = [];
    store.onDidChange((change) => changes.push(change));
    const answer = store.ask(gate('g'), never);
    expect(store.answer('g', selected('once'))).toBe(true);
    expect(store.answer('g', selected('no'))).toBe(false);
    expect(await answer).toEqual(selected('once'));
    expect(changes.map(({ kind }) => kind)).toEqual(['opened', 'closed']);
  });

  it('are several at once, none lost', async () => {
    const store = new GateStore();
    const answers = ['a', 'b', 'c'].map((id) => store.ask(gate(id), never));
    expect(store.all().map(({ gateId }) => gateId)).toEqual(['a', 'b', 'c']);
    store.answer('b', selected('once'));
    expect(store.all().map(({ gateId }) => gateId)).toEqual(['a', 'c']);
    store.answer('c', selected('no'));
    store.answer('a', selected('always'));
    expect(await Promise.all(answers)).toEqual([
      selected('always'),
      selected('once'),
      selected('no'),
    ]);
  });

  it('stay one question when they are asked again while open (A33)', async () => {
    const store = new GateStore();
    const first = store.ask(gate('g'), never);
    const second = store.ask(gate('g'), never);
    expect(store.all()).toHaveLength(1);
    store.answer('g', selected('once'));
    expect(await first).toEqual(await second);
  });

  it('are withdrawn by the agent', async () => {
    const store = new GateStore();
    const abort = new AbortController();
    const answer = store.ask(gate('g'), abort.signal);
    abort.abort();
    expect(await answer).toEqual({ kind: 'cancelled' });
    expect(store.all()).toEqual([]);
    expect(await store.ask(gate('g'), abort.signal)).toEqual({ kind: 'cancelled' });
  });

  it('of one session are cancelled by its Stop, those of others are not (A05)', () => {
    const store = new GateStore();
    void store.ask(gate('a', 's1'), never);
    void store.ask(gate('b', 's2'), never);
    store.cancelSession('s1');
    expect(store.all().map(({ gateId }) => gateId)).toEqual(['b']);
  });

  it('prefer the mildest answer', () => {
    expect(allowOption(gate('g'))?.optionId).toBe('once');
    expect(rejectOption(gate('g'))?.optionId).toBe('no');
    expect(chatGate(gate('g'))).toMatchObject({ kind: 'permission', gateId: 'g', title: 'Run ls' });
  });
});

describe('requests of the agent', () => {
  function serve() {
    const calls = new ClientCalls();
    const gates = new GateStore();
    serveGates(calls, gates, { now: () => 1, newId: () => 'new' });
    return { calls, gates };
  }

  it('become questions and their answers replies', async () => {
    const { calls, gates } = serve();
    const reply = calls.request(
      'session/request_permission',
      {
        sessionId: 's',
        toolCall: { toolCallId: 't', title: 'Write a', kind: 'edit', rawInput: { path: 'a' } },
        options: [{ optionId: 'x', name: 'X', kind: 'allow_once' }],
        _meta: { pilothouse: { gateId: 'g7', reason: 'ask mode', details: ['a', 'b'] } },
      },
      never,
    );
    expect(gates.all()[0]).toMatchObject({
      gateId: 'g7',
      question: { reason: 'ask mode', details: ['a', 'b'], toolKind: 'edit' },
    });
    gates.answer('g7', selected('x'));
    expect(await reply).toEqual({ outcome: { outcome: 'selected', optionId: 'x' } });
  });

  it('of a sign-in are answered done or cancelled', async () => {
    const { calls, gates } = serve();
    const key = { target: 'openai', targetKind: 'model', message: 'Key, please' };
    const ask = (gateId: string, loop = {}) =>
      calls.request('_pilothouse/auth', { sessionId: 's', gateId, ...key, ...loop }, never);
    const [done, given] = [ask('a', { loopId: 'child' }), ask('b')];
    expect(gates.all().map(({ loopId }) => loopId)).toEqual(['child', undefined]);
    const waits = calls.request(
      '_pilothouse/auth',
      { sessionId: 's', gateId: 'c', ...key, waitsFor: 'editor' },
      never,
    );
    expect(gates.all()[2]).toMatchObject({ question: { kind: 'auth', waitsFor: 'editor' } });
    gates.answer('a', { kind: 'accepted', content: {} });
    gates.cancelAll();
    expect(await done).toEqual({ outcome: 'done' });
    expect(await given).toEqual({ outcome: 'cancelled' });
    expect(await waits).toEqual({ outcome: 'cancelled' });
  });

  it('with bad params are refused with the field that is wrong', async () => {
    const { calls } = serve();
    await expect(
      calls.request('_pilothouse/auth', { sessionId: 's' }, never),
    ).rejects.toMatchObject({
      rpcCode: -32602,
      message: expect.stringContaining('gateId') as string,
    });
    await expect(calls.request('terminal/create', {}, never)).rejects.toMatchObject({
      rpcCode: -32601,
    });
  });
});

describe('the fields of a form', () => {
  const fields = formFields({
    type: 'object',
    required: ['name'],
    properties: {
      name: { type: 'string', title: 'Name', minLength: 2, pattern: '^[a-z]+$' },
      count: { type: 'integer', minimum: 1, maximum: 5 },
      colour: { type: 'string', oneOf: [{ const: 'r', title: 'Red' }] },
      tags: { type: 'array', items: { type: 'string', enum: ['a', 'b'] } },
      sure: { type: 'boolean' },
    },
  });
  const byName = (name: string) => fields.find((field) => field.name === name);

  it('are asked by the input that fits', () => {
    expect(fields.map(({ input }) => input.kind)).toEqual([
      'text',
      'number',
      'one',
      'many',
      'yes_no',
    ]);
    expect(byName('colour')?.input).toMatchObject({ choices: [{ value: 'r', label: 'Red' }] });
  });

  it('say what is wrong with a text', () => {
    expect(byName('name')?.problem('')).not.toBeNull();
    expect(byName('name')?.problem('a')).not.toBeNull();
    expect(byName('name')?.problem('AB')).not.toBeNull();
    expect(byName('name')?.problem('ab')).toBeNull();
    expect(byName('count')?.problem('')).toBeNull();
    expect(byName('count')?.problem('1.5')).not.toBeNull();
    expect(byName('count')?.problem('9')).not.toBeNull();
    expect(byName('count')?.parse('3')).toBe(3);
  });

  it('are none for a schema that has none', () => {
    expect(formFields({})).toEqual([]);
    expect(formFields({ properties: 7 })).toEqual([]);
  });
});
