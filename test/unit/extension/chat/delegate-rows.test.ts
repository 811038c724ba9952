import { describe, expect, it } from 'vitest';
import { Conversation } from '../../../../src/extension/chat/model/conversation.ts';
import type { SessionUpdate } from '../../../../src/protocol/acp.ts';

const CALL: SessionUpdate = {
  sessionUpdate: 'tool_call',
  toolCallId: 'call',
  title: 'Delegate in the background: look',
  name: 'delegate',
  status: 'in_progress',
};

function mark(delegate: object): SessionUpdate {
  return {
    sessionUpdate: 'tool_call_update',
    toolCallId: 'call',
    _meta: { pilothouse: { delegate } },
  };
}

const BEGUN = mark({
  loopId: 'a',
  name: 'scout',
  state: 'running',
  background: true,
  prompt: 'look',
});
const ANSWERED: SessionUpdate = {
  sessionUpdate: 'tool_call_update',
  toolCallId: 'call',
  status: 'completed',
  rawOutput: { loopId: 'a', requestId: 'r1', background: true },
};

function machine(text: string, ...commandIds: string[]): SessionUpdate {
  const harn = { eventId: 20, cause: { command_ids: commandIds } };
  return {
    sessionUpdate: 'session_info_update',
    _meta: { pilothouse: { machine: text }, harn },
  };
}

function conversationOf(...updates: SessionUpdate[]): Conversation {
  const one = new Conversation();
  for (const update of updates) one.apply(update, undefined, 0);
  return one;
}

describe('the call that began a delegate', () => {
  it('says who it is, what it was asked and how it ended', () => {
    const one = conversationOf(CALL, BEGUN);
    const delegate = { loopId: 'a', name: 'scout', background: true, prompt: 'look' };
    expect(one.items()[0]).toMatchObject({ delegate: { ...delegate, state: 'running' } });
    one.apply(mark({ loopId: 'a', state: 'failed' }), undefined, 0);
    expect(one.items()[0]).toMatchObject({ delegate: { ...delegate, state: 'failed' } });
  });

  it('and its result show the way to each other', () => {
    const one = conversationOf(
      CALL,
      BEGUN,
      ANSWERED,
      machine('The delegate is done:\n**found**', 'r1/result'),
    );
    expect(one.items()[0]).toMatchObject({ delegate: { resultRow: 'row:20' } });
    expect(one.items()[1]).toEqual({
      kind: 'hand_back',
      id: 'row:20',
      name: 'scout',
      text: '**found**',
      toolCallId: 'call',
    });
  });

  it('may come later than the result, as where an older page is read', () => {
    const one = conversationOf(machine('Head\nfound', 'r1/result'));
    expect(one.items()[0]).toMatchObject({ kind: 'hand_back', name: '', text: 'found' });
    for (const update of [CALL, BEGUN, ANSWERED]) one.apply(update, undefined, 0);
    expect(one.items()[1]).toMatchObject({ delegate: { resultRow: 'row:20' } });
  });

  it('has nothing to do with what else the machine tells', () => {
    const one = conversationOf(
      CALL,
      BEGUN,
      ANSWERED,
      machine('The process ended.', 'notification-1'),
    );
    expect(one.items()[1]).toMatchObject({ kind: 'notice', title: 'The process ended.' });
    expect(one.items()[0]).not.toMatchObject({ delegate: { resultRow: 'row:20' } });
  });

  it('keeps the results of several in one message whole', () => {
    const one = conversationOf(machine('A\nx\n\nB\ny', 'r1/result', 'r2/result'));
    expect(one.items()[0]).toMatchObject({ name: '', text: 'A\nx\n\nB\ny' });
  });
});
