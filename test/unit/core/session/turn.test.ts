import { describe, expect, it } from 'vitest';
import { Deferred } from '../../../../src/base/deferred.ts';
import { ModelError } from '../../../../src/core/session/model.ts';
import { aSession, aTool, ok } from '../../../support/engine/a-session.ts';
import {
  calls,
  fails,
  ScriptedModel,
  says,
  streamsForever,
} from '../../../support/engine/scripted-model.ts';

describe('a turn', () => {
  it('streams a reply, journals it and ends naturally', async () => {
    const t = await aSession({ model: new ScriptedModel(says('Hel', 'lo')) });
    const outcome = await t.prompt('Hi there');
    expect(outcome).toMatchObject({
      stopReason: 'end_turn',
      terminal: { kind: 'natural', owner: 'agent' },
      usage: { inputTokens: 10, outputTokens: 5 },
    });
    expect(t.types()).toEqual([
      'turn_started',
      'title_changed',
      'message_delta',
      'model_replied',
      'usage_changed',
      'turn_ended',
    ]);
    expect(t.session.title).toBe('Hi there');
    const chunks = t.signals.flatMap((s) =>
      s.stream === 'ephemeral' && s.event.type === 'message_chunk' ? [s.event] : [],
    );
    expect(chunks.map(({ text, offset }) => [text, offset])).toEqual([
      ['Hel', 0],
      ['lo', 3],
    ]);
  });

  it('sends every request with the messages of the one before as its beginning', async () => {
    const model = new ScriptedModel(calls(['touch', { path: 'a' }]), says('done'), says('again'));
    const t = await aSession({ model, tools: [aTool('touch', () => ok('touched'))] });
    await t.prompt('one');
    await t.prompt('two');
    const [first, second, third] = model.requests.map(({ messages }) => messages);
    expect(second?.slice(0, first?.length)).toEqual(first);
    expect(third?.slice(0, second?.length)).toEqual(second);
    expect(third?.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
      'user',
    ]);
  });

  it('goes on after a pause without new input', async () => {
    const model = new ScriptedModel(async function* () {
      yield { type: 'text', text: 'part one' };
      yield { type: 'finish', reason: 'pause', usage: { inputTokens: 0, outputTokens: 0 } };
    }, says('part two'));
    const t = await aSession({ model });
    expect((await t.prompt('go')).stopReason).toBe('end_turn');
    expect(model.requests[1]?.messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
  });

  it('retries a failure before the first token, after the time the provider asks for', async () => {
    const busy = new ModelError('model.rate_limited', 'slow down', {
      source: 'scripted',
      retryable: true,
      retryAfterMs: 7_000,
    });
    const t = await aSession({ model: new ScriptedModel(fails(busy), says('ok')) });
    const outcome = t.prompt('go');
    expect(await t.next('model_failed')).toMatchObject({ attempt: 1, retryInMs: 7_000 });
    await t.clock.whenSleeping();
    t.clock.advance(6_999);
    expect(t.types()).not.toContain('model_replied');
    t.clock.advance(1);
    expect((await outcome).terminal.kind).toBe('natural');
  });

  it('does not retry once text was shown, and keeps that text', async () => {
    const cut = new ModelError('model.stream_cut', 'cut', { source: 'scripted', retryable: true });
    const model = new ScriptedModel(fails(cut, { type: 'text', text: 'half' }), says('never'));
    const t = await aSession({ model });
    expect((await t.prompt('go')).terminal).toMatchObject({
      kind: 'provider_error',
      owner: 'provider',
      reason: 'cut',
    });
    expect(model.requests).toHaveLength(1);
    expect(t.history().find(({ type }) => type === 'message_delta')).toMatchObject({
      text: 'half',
    });
  });

  it('opens an auth gate for a missing key and goes on after the sign-in', async () => {
    const missing = new ModelError('model.key_missing', 'no key', { source: 'openai' });
    const t = await aSession({ model: new ScriptedModel(fails(missing), says('ok')) });
    const outcome = t.prompt('go');
    const gate = await t.next('gate_opened');
    expect(gate.request).toMatchObject({ kind: 'auth', target: 'openai', targetKind: 'model' });
    void t.answer(gate.gateId, { kind: 'accepted', content: {} });
    expect((await outcome).terminal.kind).toBe('natural');
  });

  describe('whose model only an editor reaches, while none is there,', () => {
    const away = (arrived: (signal: AbortSignal) => Promise<void>): ModelError =>
      new ModelError('model.unreachable', 'Waiting for an editor', {
        source: 'vscode-lm',
        arrival: { waitsFor: 'editor', arrived },
      });

    it('waits at a question that the arrival answers, and goes on', async () => {
      const came = new Deferred<void>();
      const model = new ScriptedModel(fails(away(() => came.promise)), says('ok'));
      const t = await aSession({ model });
      const outcome = t.prompt('go');
      expect((await t.next('gate_opened')).request).toEqual({
        kind: 'auth',
        target: 'vscode-lm',
        targetKind: 'model',
        message: 'Waiting for an editor',
        waitsFor: 'editor',
      });
      expect(model.requests).toHaveLength(1);
      came.resolve();
      expect((await outcome).terminal.kind).toBe('natural');
      expect(t.history().find(({ type }) => type === 'gate_resolved')).toMatchObject({
        answer: { kind: 'accepted' },
        actor: { clientId: 'host' },
      });
      expect(t.history().filter(({ type }) => type === 'model_failed')).toEqual([]);
    });

    it('is stopped at once, and waits for nobody any more', async () => {
      let waiting: AbortSignal | undefined;
      const never = (signal: AbortSignal): Promise<void> => {
        waiting = signal;
        return new Promise(() => undefined);
      };
      const t = await aSession({ model: new ScriptedModel(fails(away(never)), says('never')) });
      const outcome = t.prompt('go');
      await t.next('gate_opened');
      t.session.cancelBefore(2, { kind: 'cancelled', by: 'test' });
      expect((await outcome).terminal.kind).toBe('user_cancelled');
      expect(waiting?.aborted).toBe(true);
      expect(t.history().find(({ type }) => type === 'gate_resolved')).toMatchObject({
        answer: { kind: 'cancelled', reason: 'turn_cancelled' },
      });
    });

    it('fails where a person says that nobody will come', async () => {
      const never = (): Promise<void> => new Promise(() => undefined);
      const t = await aSession({ model: new ScriptedModel(fails(away(never)), says('never')) });
      const outcome = t.prompt('go');
      const { gateId } = await t.next('gate_opened');
      void t.answer(gateId, { kind: 'declined' });
      expect((await outcome).terminal).toMatchObject({
        kind: 'provider_error',
        reason: 'Waiting for an editor',
      });
    });
  });

  it('ends at its step budget', async () => {
    const again = calls(['touch', {}]);
    const t = await aSession({
      model: new ScriptedModel(again, again, again),
      tools: [aTool('touch', () => ok(''))],
      config: { budget: { steps: 2 } },
    });
    expect(await t.prompt('go')).toMatchObject({
      stopReason: 'max_turn_requests',
      terminal: { kind: 'policy_budget', owner: 'policy' },
    });
  });

  it('ends at its time budget in the middle of a reply', async () => {
    const started = new Deferred<void>();
    const t = await aSession({
      model: new ScriptedModel(streamsForever('x', () => started.resolve())),
      config: { budget: { seconds: 5 } },
    });
    const outcome = t.prompt('go');
    await started.promise;
    t.clock.advance(5_000);
    expect((await outcome).terminal.kind).toBe('policy_budget');
  });

  it('lets the model read the expansion of a slash command and shows the original', async () => {
    const model = new ScriptedModel(says('hello'));
    const t = await aSession({ model });
    await t.prompt('/hello');
    expect(model.requests[0]?.messages[0]).toMatchObject({
      parts: [{ type: 'text', text: 'say hello' }],
    });
    expect(await t.next('turn_started')).toMatchObject({
      content: [{ type: 'text', text: '/hello' }],
    });
  });
});

describe('a failed append', () => {
  it('stops the session with the fault and nothing more runs', async () => {
    const started = new Deferred<void>();
    const t = await aSession({
      model: new ScriptedModel(streamsForever('x', () => started.resolve())),
    });
    const outcome = t.prompt('go');
    await started.promise;
    t.journal.failure = new Error('disk full');
    t.clock.advance(250);
    await expect(outcome).rejects.toThrow('disk full');
    await expect(t.prompt('more')).rejects.toThrow('disk full');
  });
});
