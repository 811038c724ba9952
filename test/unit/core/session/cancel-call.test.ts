import { describe, expect, it } from 'vitest';
import { Deferred } from '../../../../src/base/deferred.ts';
import type { ToolCallId } from '../../../../src/core/session/words.ts';
import { aSession, aTool, OWNER, ok, pathOf } from '../../../support/engine/a-session.ts';
import { calls, ScriptedModel, says } from '../../../support/engine/scripted-model.ts';

const id = (name: string): ToolCallId => name as ToolCallId;
const WHY = { reason: 'it takes too long', remind: false, actor: OWNER } as const;

/** A tool that ends when its signal aborts, and says so; `other` calls just run. */
function slow(ran: string[] = []) {
  const started = new Deferred<void>();
  const gone = new Deferred<void>();
  const tool = aTool('work', async (context, input) => {
    ran.push(pathOf(input));
    if (pathOf(input) !== 'slow') return ok(`did ${pathOf(input)}`);
    context.output('half done');
    started.resolve();
    await new Promise<void>((resolve) =>
      context.signal.addEventListener('abort', () => resolve(), { once: true }),
    );
    gone.resolve();
    return ok('never told');
  });
  return { tool, started, gone, ran };
}

const results = (t: Awaited<ReturnType<typeof aSession>>) =>
  t.history().flatMap((event) => (event.type === 'tool_ended' ? [event.result] : []));

describe('cancelling one tool call', () => {
  it('ends it through its signal and the turn goes on with the others', async () => {
    const { tool, started, gone, ran } = slow();
    const model = new ScriptedModel(
      calls(['work', { path: 'slow' }], ['work', { path: 'next' }]),
      says('done'),
    );
    const t = await aSession({ model, tools: [tool] });
    const outcome = t.prompt('go');
    await started.promise;
    expect(t.session.entries.cancelToolCall(id('1.0'), WHY)).toEqual({
      status: 'cancelled',
      tool: 'work',
    });
    await gone.promise;
    expect((await outcome).terminal.kind).toBe('natural');
    expect(ran).toEqual(['slow', 'next']);
    expect(results(t).map(({ status }) => status)).toEqual(['cancelled', 'completed']);
    expect(results(t)[0]?.parts).toEqual([
      { type: 'text', text: 'half done\n[the user cancelled this call]' },
    ]);
    expect(model.requests).toHaveLength(2);
  });

  it('tells who subscribes while it runs what it has said, and no more once it has a result', async () => {
    const { tool, started } = slow();
    const model = new ScriptedModel(calls(['work', { path: 'slow' }]), says('done'));
    const t = await aSession({ model, tools: [tool] });
    const outputs = () => {
      const { snapshot, subscription } = t.session.subscribe(() => undefined);
      subscription.dispose();
      return snapshot.outputs;
    };
    const outcome = t.prompt('go');
    expect(outputs()).toEqual([]);
    await started.promise;
    expect(outputs()).toEqual([{ toolCallId: '1.0', content: [], text: 'half done' }]);
    t.session.entries.cancelToolCall(id('1.0'), WHY);
    await outcome;
    expect(outputs()).toEqual([]);
  });

  it('leaves behind a call that ignores its signal, after a moment', async () => {
    const started = new Deferred<void>();
    const deaf = aTool('work', async () => {
      started.resolve();
      await new Promise(() => undefined);
      return ok('');
    });
    const t = await aSession({
      model: new ScriptedModel(calls(['work', {}]), says('done')),
      tools: [deaf],
    });
    const outcome = t.prompt('go');
    await started.promise;
    t.session.entries.cancelToolCall(id('1.0'), WHY);
    await t.clock.whenSleeping();
    t.clock.advance(1_000);
    expect((await outcome).terminal.kind).toBe('natural');
    expect(results(t)).toMatchObject([{ status: 'cancelled' }]);
  });

  it('answers the second time that it was done, and names nothing for an unknown call', async () => {
    const { tool, started } = slow();
    const t = await aSession({
      model: new ScriptedModel(calls(['work', { path: 'slow' }]), says('done')),
      tools: [tool],
    });
    const outcome = t.prompt('go');
    await started.promise;
    t.session.entries.cancelToolCall(id('1.0'), WHY);
    const again = { status: 'already_cancelled', tool: 'work' };
    expect(t.session.entries.cancelToolCall(id('1.0'), WHY)).toEqual(again);
    await outcome;
    expect(t.session.entries.cancelToolCall(id('1.0'), WHY)).toEqual(again);
    expect(t.session.entries.cancelToolCall(id('9.9'), WHY)).toEqual({
      status: 'not_found',
      tool: null,
    });
  });

  it('finds no call that has ended by itself', async () => {
    const t = await aSession({
      model: new ScriptedModel(calls(['work', {}]), says('done')),
      tools: [aTool('work', () => ok(''))],
    });
    await t.prompt('go');
    expect(t.session.entries.cancelToolCall(id('1.0'), WHY).status).toBe('not_found');
  });

  it('withdraws the question of a call that waits for an answer; the others keep theirs', async () => {
    const ran: string[] = [];
    const t = await aSession({
      model: new ScriptedModel(calls(['work', { path: '1' }], ['work', { path: '2' }]), says('ok')),
      tools: [
        aTool('work', (_context, input) => {
          ran.push(pathOf(input));
          return ok('');
        }),
      ],
      decide: () => ({ decision: 'ask', reason: 'writes', details: [], remember: [] }),
    });
    const outcome = t.prompt('go');
    const second = await t.next('gate_opened', 2);
    t.session.entries.cancelToolCall(id('1.0'), WHY);
    expect((await t.next('gate_resolved')).answer).toEqual({
      kind: 'cancelled',
      reason: 'call_cancelled',
    });
    expect(t.session.openGates.map(({ gateId }) => gateId)).toEqual([second.gateId]);
    void t.answer(second.gateId, { kind: 'selected', optionId: 'allow_once' });
    expect((await outcome).terminal.kind).toBe('natural');
    expect(ran).toEqual(['2']);
    expect(results(t).map(({ status }) => status)).toEqual(['cancelled', 'completed']);
  });

  it('keeps a call from running that is not dispatched yet', async () => {
    const { tool, started, ran } = slow();
    const t = await aSession({
      model: new ScriptedModel(
        calls(['work', { path: 'slow' }], ['work', { path: 'b' }], ['work', { path: 'c' }]),
        says('done'),
      ),
      tools: [tool],
    });
    const outcome = t.prompt('go');
    await started.promise;
    t.session.entries.cancelToolCall(id('1.1'), WHY);
    t.session.entries.cancelToolCall(id('1.0'), WHY);
    await outcome;
    expect(ran).toEqual(['slow', 'c']);
    expect(results(t).map(({ status }) => status)).toEqual(['cancelled', 'cancelled', 'completed']);
    expect(t.types().filter((type) => type === 'tool_started')).toHaveLength(2);
  });

  it('tells the model why at the next seam, if it is to be told', async () => {
    const { tool, started } = slow();
    const model = new ScriptedModel(calls(['work', { path: 'slow' }]), says('done'));
    const t = await aSession({ model, tools: [tool] });
    const outcome = t.prompt('go');
    await started.promise;
    t.session.entries.cancelToolCall(id('1.0'), { ...WHY, remind: true });
    await outcome;
    expect((await t.next('directives_issued')).directives).toMatchObject([
      { authority: 'advisory', source: 'reminder', key: 'call_cancelled/1.0' },
    ]);
    const last = JSON.stringify(model.requests[1]?.messages.at(-1));
    expect(last).toContain('it takes too long');
  });

  it('does not tell the model why unless asked to', async () => {
    const { tool, started } = slow();
    const model = new ScriptedModel(calls(['work', { path: 'slow' }]), says('done'));
    const t = await aSession({ model, tools: [tool] });
    const outcome = t.prompt('go');
    await started.promise;
    t.session.entries.cancelToolCall(id('1.0'), WHY);
    await outcome;
    expect(JSON.stringify(model.requests[1]?.messages)).not.toContain('it takes too long');
  });

  it('gives way to Stop', async () => {
    const { tool, started } = slow();
    const t = await aSession({
      model: new ScriptedModel(calls(['work', { path: 'slow' }])),
      tools: [tool],
    });
    const outcome = t.prompt('go');
    await started.promise;
    t.session.entries.cancelToolCall(id('1.0'), WHY);
    t.session.cancelBefore(2, { kind: 'cancelled', by: 'test' });
    expect((await outcome).terminal.kind).toBe('user_cancelled');
    expect(results(t)).toMatchObject([{ status: 'cancelled' }]);
  });
});
