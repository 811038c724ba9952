import { describe, expect, test } from 'vitest';
import type { HistoryEvent } from '../../../../../src/core/session/events.ts';
import { Conversation } from '../../../../../src/core/session/state/conversation.ts';
import type {
  CommandId,
  MessageId,
  ToolCallId,
  TurnId,
} from '../../../../../src/core/session/words.ts';
import { actor, config } from '../../../../support/journal/events.ts';

const usage = { inputTokens: 1, outputTokens: 1 };
const call = (id: string) => ({ toolCallId: id as ToolCallId, name: 'read', input: {} });

function started(turn: string): HistoryEvent {
  return {
    type: 'turn_started',
    turnId: turn as TurnId,
    commandId: `k-${turn}` as CommandId,
    messageId: `u-${turn}` as MessageId,
    content: [{ type: 'text', text: turn }],
    config,
  };
}

function delta(message: string, turn: string): HistoryEvent {
  return {
    type: 'message_delta',
    turnId: turn as TurnId,
    messageId: message as MessageId,
    kind: 'text',
    offset: 0,
    text: message,
  };
}

function replied(message: string, turn: string, calls: string[] = []): HistoryEvent {
  return {
    type: 'model_replied',
    turnId: turn as TurnId,
    iteration: 1,
    messageId: message as MessageId,
    calls: calls.map(call),
    finish: calls.length > 0 ? 'tool_calls' : 'stop',
    usage,
  };
}

function toolEnded(id: string, turn: string): HistoryEvent {
  return {
    type: 'tool_ended',
    turnId: turn as TurnId,
    result: {
      toolCallId: id as ToolCallId,
      name: 'read',
      status: 'completed',
      parts: [{ type: 'text', text: 'ok' }],
    },
    toolCallId: id as ToolCallId,
    content: [],
    locations: [],
  };
}

function ended(turn: string): HistoryEvent {
  return {
    type: 'turn_ended',
    turnId: turn as TurnId,
    terminal: { kind: 'natural', owner: 'agent', reason: 'stop' },
    stopReason: 'end_turn',
    usage,
    iterations: 1,
  };
}

const steer: HistoryEvent = {
  type: 'inject_delivered',
  turnId: 't2' as TurnId,
  messageId: 'steer' as MessageId,
  mode: 'steer',
  content: [{ type: 'text', text: 'So' }],
  seam: 'post_tool_dispatch',
  actor,
};

const note: HistoryEvent = {
  ...steer,
  messageId: 'note' as MessageId,
  mode: 'queue',
  seam: 'loop_exit',
};

const events: readonly HistoryEvent[] = [
  { type: 'session_created', cwd: '/w', additionalDirectories: [], config }, // 1
  started('t1'), // 2: message 1
  delta('a1', 't1'),
  replied('a1', 't1'), // 4: message 2
  ended('t1'), // 5
  { type: 'config_changed', config, actor }, // 6
  started('t2'), // 7: message 3
  delta('a2', 't2'),
  replied('a2', 't2', ['c1', 'c2']), // 9: message 4
  toolEnded('c1', 't2'),
  toolEnded('c2', 't2'), // 11: message 5
  steer, // 12: message 6
  replied('empty', 't2'), // 13: nothing was said
  delta('a3', 't2'),
  replied('a3', 't2'), // 15: message 7
  note, // 16: no message for the model
  ended('t2'), // 17
];

function folded(upTo = events.length): Conversation {
  const conversation = new Conversation();
  for (const [index, event] of events.slice(0, upTo).entries())
    conversation.apply(event, index + 1);
  return conversation;
}

describe('message marks', () => {
  test('count what the model reads, at every event', () => {
    for (let upTo = 0; upTo <= events.length; upTo += 1)
      expect(folded(upTo).messageCount).toBe(folded(upTo).messages.length);
    expect(folded().messageCount).toBe(7);
  });

  test.each([
    [0, 1, 0, null, null],
    [1, 2, 1, 't1', 't1'],
    [2, 6, 1, 't1', null],
    [3, 7, 2, 't2', 't2'],
    [5, 11, 2, 't2', 't2'],
    [6, 12, 2, 't2', 't2'],
    [7, 17, 2, 't2', null],
  ])('the first %i messages end with event %i', (keepFirst, to, turnCount, last, inside) => {
    expect(folded().marks.cut({ keepFirst })).toEqual({
      to,
      messageCount: keepFirst,
      turnCount,
      lastTurnId: last,
      insideTurnId: inside,
    });
  });

  test('a cut between calls and their results is refused with the nearest ones', () => {
    expect(() => folded().marks.cut({ keepFirst: 4 })).toThrow(
      expect.objectContaining({
        refusal: 'splits_tool_batch',
        data: { reason: 'splits_tool_batch', nearest: [3, 5] },
      }),
    );
    expect(() => folded(10).marks.cut({ keepFirst: 4 })).toThrow(
      expect.objectContaining({ refusal: 'splits_tool_batch' }),
    );
  });

  test('what is past the end, negative or broken is refused', () => {
    const { marks } = folded();
    expect(() => marks.cut({ keepFirst: 8 })).toThrow(
      expect.objectContaining({
        refusal: 'out_of_range',
        data: { reason: 'out_of_range', messageCount: 7 },
      }),
    );
    for (const keepFirst of [-1, 1.5, Number.NaN])
      expect(() => marks.cut({ keepFirst })).toThrow(
        expect.objectContaining({ refusal: 'invalid_params' }),
      );
  });

  test("a cut before a user's message keeps all before it, the end of the turn before included", () => {
    const { marks } = folded();
    expect(marks.cut({ beforeMessageId: 'u-t1' })).toMatchObject({ to: 1, messageCount: 0 });
    expect(marks.cut({ beforeMessageId: 'u-t2' })).toMatchObject({ to: 6, insideTurnId: null });
    expect(marks.cut({ beforeMessageId: 'steer' })).toMatchObject({ to: 11, insideTurnId: 't2' });
    for (const beforeMessageId of ['a1', 'note', 'nobody'])
      expect(() => marks.cut({ beforeMessageId })).toThrow(
        expect.objectContaining({ refusal: 'unknown_message_id' }),
      );
  });

  test('a whole conversation ends with its newest event, and before a batch that is not done', () => {
    expect(folded().marks.cut({ whole: true })).toMatchObject({ to: 17, insideTurnId: null });
    expect(folded(15).marks.cut({ whole: true })).toMatchObject({ to: 15, insideTurnId: 't2' });
    expect(folded(10).marks.cut({ whole: true })).toMatchObject({ to: 7, insideTurnId: 't2' });
    expect(folded(6).marks.cut({ whole: true })).toMatchObject({ to: 6, insideTurnId: null });
    expect(folded(1).marks.cut({ whole: true })).toMatchObject({ to: 1, messageCount: 0 });
  });

  test('a compaction takes none away: a cut before it brings back what was condensed', () => {
    const conversation = folded();
    conversation.apply(
      {
        type: 'compacted',
        turnId: 't2' as TurnId,
        messageId: 's' as MessageId,
        summary: 'It was said',
        keptMessages: 1,
        beforeMessageCount: 7,
        afterMessageCount: 2,
      },
      18,
    );
    expect(conversation.messages.length).toBeLessThan(7);
    expect(conversation.messageCount).toBe(7);
    expect(conversation.marks.cut({ keepFirst: 2 })).toMatchObject({ to: 6 });
    conversation.apply(started('t3'), 19);
    expect(conversation.messageCount).toBe(8);
    expect(conversation.marks.cut({ keepFirst: 7 })).toMatchObject({ to: 18, insideTurnId: null });
  });
});
