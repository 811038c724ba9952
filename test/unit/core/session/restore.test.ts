import { describe, expect, it } from 'vitest';
import { Deferred } from '../../../../src/base/deferred.ts';
import { foldSession } from '../../../../src/core/host/fold-session.ts';
import type { HistoryEvent } from '../../../../src/core/session/events.ts';
import type { Conversation } from '../../../../src/core/session/state/conversation.ts';
import { interruptedEvents } from '../../../../src/core/session/state/restore.ts';
import type { SessionState } from '../../../../src/core/session/state/session-state.ts';
import { aSession, aTool, ok } from '../../../support/engine/a-session.ts';
import {
  calls,
  ScriptedModel,
  says,
  streamsForever,
} from '../../../support/engine/scripted-model.ts';

/** What is added to the history of a turn that broke off. */
function added(state: SessionState, conversation: Conversation): readonly HistoryEvent[] {
  return interruptedEvents(state, conversation, { isParked: false }).flatMap((record) =>
    record.stream === 'history' ? [record.event] : [],
  );
}

describe('restoring', () => {
  it('adds nothing to a history that ended well and folds the same conversation', async () => {
    const model = new ScriptedModel(calls(['w', {}]), says('done'), says('again'));
    const t = await aSession({ model, tools: [aTool('w', () => ok('x'))] });
    await t.prompt('one');
    const folded = await foldSession(t.journal, t.session.sessionId);
    expect(added(folded.state, folded.conversation)).toEqual([]);
    await t.prompt('two');
    const last = model.requests.at(-1)?.messages ?? [];
    expect(last.slice(0, -1)).toEqual(folded.conversation.messages);
  });

  it('marks a started call as outcome unknown, an unstarted one as cancelled, and seals the turn', async () => {
    const started = new Deferred<void>();
    const hang = aTool('w', async () => {
      started.resolve();
      await new Promise(() => undefined);
      return ok('');
    });
    const t = await aSession({
      model: new ScriptedModel(calls(['w', { path: '1' }], ['w', { path: '2' }])),
      tools: [hang],
    });
    t.prompt('go').catch(() => undefined);
    await started.promise;
    const { state, conversation } = await foldSession(t.journal, t.session.sessionId);
    const events = added(state, conversation);
    expect(
      events.map((event) => (event.type === 'tool_ended' ? event.result.status : event.type)),
    ).toEqual(['outcome_unknown', 'cancelled', 'turn_ended']);
    for (const event of events) {
      state.applyHistory(event);
      conversation.apply(event);
    }
    expect(state.openTurn).toBeNull();
    expect(conversation.openCalls).toEqual([]);
    expect(added(state, conversation)).toEqual([]);
  });

  it('keeps text that was streamed before the process died', async () => {
    const started = new Deferred<void>();
    const t = await aSession({
      model: new ScriptedModel(streamsForever('half', () => started.resolve())),
    });
    t.prompt('go').catch(() => undefined);
    await started.promise;
    t.clock.advance(250);
    await t.next('message_delta');
    const { state, conversation } = await foldSession(t.journal, t.session.sessionId);
    for (const event of added(state, conversation)) conversation.apply(event);
    expect(conversation.messages.at(-1)).toMatchObject({
      role: 'assistant',
      text: 'half',
      calls: [],
    });
  });
});

describe('a subscription in the middle', () => {
  it('sees history, partial text and later signals without gap or repeat', async () => {
    const go = new Deferred<void>();
    const half = new Deferred<void>();
    const model = new ScriptedModel(async function* () {
      yield { type: 'text', text: 'first ' };
      half.resolve();
      await go.promise;
      yield { type: 'text', text: 'second' };
      yield { type: 'finish', reason: 'stop', usage: { inputTokens: 1, outputTokens: 1 } };
    });
    const t = await aSession({ model });
    const outcome = t.prompt('go');
    await half.promise;
    await Promise.resolve();
    let text = '';
    const { snapshot } = t.session.subscribe((signal) => {
      if (signal.stream === 'ephemeral' && signal.event.type === 'message_chunk')
        text += signal.event.text;
    });
    text = snapshot.partial.map((piece) => piece.text).join('');
    go.resolve();
    await outcome;
    expect(text).toBe('first second');
  });
});

describe('a repeated command id', () => {
  it('gets the first outcome for the same body and a collision for another', async () => {
    const model = new ScriptedModel(says('once'));
    const t = await aSession({ model });
    const first = await t.prompt('same', 1, 'cmd');
    expect(await t.prompt('same', 2, 'cmd')).toEqual(first);
    await expect(t.prompt('other', 3, 'cmd')).rejects.toMatchObject({
      code: 'session.command_collision',
    });
    expect(model.requests).toHaveLength(1);
  });
});
