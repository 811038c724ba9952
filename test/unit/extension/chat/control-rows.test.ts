import { describe, expect, it } from 'vitest';
import { Conversation } from '../../../../src/extension/chat/model/conversation.ts';
import type { SessionUpdate } from '../../../../src/protocol/acp.ts';
import type { UpdateExtras } from '../../../../src/protocol/acp-meta.ts';
import type { ChatItem } from '../../../../src/protocol/chat.ts';
import type { HistoryPage } from '../../../../src/protocol/pilothouse.ts';

function info(pilothouse: UpdateExtras): SessionUpdate {
  return { sessionUpdate: 'session_info_update', _meta: { pilothouse } };
}

function prompt(messageId: string, text: string): SessionUpdate {
  return { sessionUpdate: 'user_message_chunk', messageId, content: { type: 'text', text } };
}

function page(from: number, ...entries: SessionUpdate[][]): HistoryPage {
  return {
    entries: entries.map((updates, index) => ({
      eventId: from + index,
      at: '2026-01-01T00:00:00Z',
      updates,
    })),
    hasBefore: from > 1,
    hasAfter: false,
    lastEventId: from + entries.length - 1,
  };
}

const STARTED = info({
  turn: { state: 'started', turnId: 't', commandId: 'c', messageId: 'm' },
});
const LEFT = info({
  checkpoint: { checkpointId: 'cp', turnId: 't', onStack: true, files: 2, coverage: 'full' },
});
const CHECKPOINT = { checkpointId: 'cp', onStack: true, files: 2 };

const userRow = (one: Conversation): ChatItem | undefined =>
  one.items().find(({ kind }) => kind === 'user');

describe('the rows of control', () => {
  it('tell a prompt sent from here its message id and, later, what its turn left', () => {
    const one = new Conversation();
    one.beginPrompt('c', [{ type: 'text', text: 'hello' }], 1);
    expect(userRow(one)).not.toHaveProperty('messageId');
    one.apply(STARTED, undefined, 2);
    expect(userRow(one)).toMatchObject({ messageId: 'm' });
    const changes = one.apply(LEFT, undefined, 3);
    expect(userRow(one)).toMatchObject({ messageId: 'm', checkpoint: CHECKPOINT });
    expect(changes).toEqual([{ type: 'upsert', items: [userRow(one)] }]);
  });

  it('read the same from the history', () => {
    const one = new Conversation();
    one.start(page(1, [prompt('m', 'hello'), STARTED], [LEFT]));
    expect(one.items()).toHaveLength(1);
    expect(userRow(one)).toMatchObject({ messageId: 'm', checkpoint: CHECKPOINT });
  });

  it('join a prompt with what its turn left when its page comes later', () => {
    const one = new Conversation();
    one.start(page(2, [LEFT]));
    expect(one.items()).toEqual([]);
    const changes = one.prepend(page(1, [prompt('m', 'hello'), STARTED]));
    expect(userRow(one)).toMatchObject({ checkpoint: CHECKPOINT });
    expect(changes.at(-1)).toEqual({ type: 'upsert', items: [userRow(one)] });
  });

  it('label a delivered message by its mode and seam, whichever update brings it', () => {
    const extras: UpdateExtras = {
      inject: { messageId: 'i', mode: 'steer', seam: 'post_tool_dispatch' },
    };
    const text = { type: 'text' as const, text: 'smaller' };
    const meta = { pilothouse: extras };
    const updates = [
      { sessionUpdate: 'user_message_chunk', messageId: 'i', content: text, _meta: meta },
      { sessionUpdate: 'user_message', messageId: 'i', content: [text], _meta: meta },
    ];
    for (const update of updates) {
      const one = new Conversation();
      one.apply(update as SessionUpdate, undefined, 1);
      expect(one.items()).toMatchObject([
        {
          kind: 'user',
          text: 'smaller',
          messageId: 'i',
          inject: { mode: 'steer', seam: 'after the tools ran' },
        },
      ]);
    }
  });

  it('show a look of the judge, a summary, a move and restored files', () => {
    const one = new Conversation();
    const judge = { judge: 'j', verdict: 'vetoed', reason: 'no tests', correction: 'Run' } as const;
    one.apply(info({ judge }), { harn: { eventId: 1 } }, 1);
    one.apply(info({ compacted: { before: 90, after: 7 } }), { harn: { eventId: 2 } }, 1);
    one.apply(info({ moved: { reason: 'rollback', to: 0 } }), { harn: { eventId: 3 } }, 1);
    one.apply(info({ restored: { paths: ['/a', '/b'] } }), { harn: { eventId: 4 } }, 1);
    expect(one.items()).toMatchObject([
      { kind: 'judge', verdict: 'vetoed', reason: 'no tests', correction: 'Run' },
      { kind: 'compaction', state: 'done', before: 90, after: 7 },
      { kind: 'notice', title: 'Rolled back to here.' },
      { kind: 'notice', title: '2 files were put back.', description: '/a\n/b' },
    ]);
  });

  it('tell an interrupted call from a cancelled one', () => {
    const one = new Conversation();
    const update = (status?: UpdateExtras['status']): SessionUpdate => ({
      sessionUpdate: 'tool_call_update',
      toolCallId: 'x',
      status: 'failed',
      ...(status === undefined ? {} : { _meta: { pilothouse: { status } } }),
    });
    one.apply(update(), undefined, 1);
    expect(one.items()).toMatchObject([{ status: 'failed' }]);
    one.apply(update('interrupted'), undefined, 1);
    expect(one.items()).toMatchObject([{ status: 'interrupted' }]);
  });
});
