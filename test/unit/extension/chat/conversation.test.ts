import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Conversation } from '../../../../src/extension/chat/model/conversation.ts';
import { OUTPUT_WINDOW } from '../../../../src/extension/chat/model/tool-state.ts';
import type { SessionUpdate } from '../../../../src/protocol/acp.ts';
import type { ChatItem, ToChat } from '../../../../src/protocol/chat.ts';
import type { HistoryPage } from '../../../../src/protocol/pilothouse.ts';

function chunk(messageId: string, text: string): SessionUpdate {
  return { sessionUpdate: 'agent_message_chunk', messageId, content: { type: 'text', text } };
}

function mark(fields: { eventId?: number; offset?: number }) {
  return { harn: { sessionId: 's', replayed: false, ...fields } };
}

function turn(state: object): SessionUpdate {
  return { sessionUpdate: 'session_info_update', _meta: { pilothouse: { turn: state } } };
}

function entry(eventId: number, ...updates: SessionUpdate[]): HistoryPage['entries'][number] {
  return { eventId, at: new Date(eventId * 1000).toISOString(), updates };
}

function page(entries: HistoryPage['entries'], hasBefore = false): HistoryPage {
  const lastEventId = entries.at(-1)?.eventId ?? 0;
  return { entries, hasBefore, hasAfter: false, lastEventId };
}

const kinds = (items: readonly ChatItem[]): string[] => items.map((item) => item.kind);

/** What a webview holds that applies the changes as the bridge's contract says. */
function replay(items: ChatItem[], changes: readonly ToChat[]): ChatItem[] {
  let rows = items;
  for (const change of changes) {
    if (change.type === 'upsert')
      for (const item of change.items) {
        const at = rows.findIndex((row) => row.id === item.id);
        rows = at < 0 ? [...rows, item] : rows.with(at, item);
      }
    if (change.type === 'append')
      rows = rows.map((row) =>
        row.id === change.id && 'text' in row && change.field === 'text'
          ? { ...row, text: row.text.slice(0, change.offset) + change.text }
          : row,
      );
    if (change.type === 'prepend') rows = [...change.items, ...rows];
    if (change.type === 'remove') rows = rows.filter((row) => !change.ids.includes(row.id));
  }
  return rows;
}

describe('the conversation', () => {
  it('joins the chunks of a message and drops what it has already', () => {
    const one = new Conversation();
    one.apply(chunk('m', 'Hello'), mark({ eventId: 1, offset: 0 }), 0);
    expect(one.apply(chunk('m', 'lo wor'), mark({ eventId: 1, offset: 3 }), 0)).toEqual([
      { type: 'append', id: 'assistant:m', field: 'text', offset: 5, text: ' wor' },
    ]);
    expect(one.apply(chunk('m', 'Hello wor'), mark({ eventId: 2, offset: 0 }), 0)).toEqual([]);
    expect(one.items()).toEqual([
      { kind: 'assistant', id: 'assistant:m', text: 'Hello wor', streaming: true },
    ]);
  });

  it('ends with the same text however the stream was cut and repeated', () => {
    const piece = fc.tuple(fc.nat(40), fc.nat(12));
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 40 }), fc.array(piece), (text, pieces) => {
        const one = new Conversation();
        let end = 0;
        for (const [start, length] of pieces) {
          const offset = Math.min(start, end);
          const part = text.slice(offset, offset + length);
          if (part !== '') one.apply(chunk('m', part), mark({ offset }), 0);
          end = Math.max(end, offset + part.length);
        }
        if (end < text.length) one.apply(chunk('m', text.slice(end)), mark({ offset: end }), 0);
        expect(one.items()[0]).toMatchObject({ text });
      }),
    );
  });

  it('tells the webview changes that lead to its own state', () => {
    const one = new Conversation();
    let shown: ChatItem[] = [];
    const updates: SessionUpdate[] = [
      turn({ state: 'started', turnId: 't', commandId: 'c' }),
      chunk('m', 'thinking aloud'),
      { sessionUpdate: 'tool_call', toolCallId: 'x', title: 'Read', status: 'pending' },
      { sessionUpdate: 'tool_call_update', toolCallId: 'x', status: 'completed' },
      chunk('n', 'and '),
      chunk('n', 'done'),
      turn({ state: 'ended', turnId: 't', stopReason: 'end_turn', terminal: { kind: 'natural' } }),
    ];
    shown = replay(shown, one.beginPrompt('c', [{ type: 'text', text: 'go' }], 0));
    for (const update of updates) shown = replay(shown, one.apply(update, undefined, 4_000));
    expect(shown).toEqual(one.items());
    expect(kinds(shown)).toEqual(['user', 'assistant', 'tool', 'assistant', 'turn_end']);
    expect(shown.at(-1)).toMatchObject({ terminal: 'natural', seconds: null });
  });

  it('knows a call whose edits were only staged', () => {
    const one = new Conversation();
    const ended = (toolCallId: string, rawOutput: object): SessionUpdate => ({
      sessionUpdate: 'tool_call_update',
      toolCallId,
      status: 'completed',
      rawOutput,
    });
    for (const [id, rawOutput] of [
      ['a', { staged: true }],
      ['b', {}],
    ] as const) {
      const call = { sessionUpdate: 'tool_call', toolCallId: id, title: 'Write' } as const;
      one.apply(call, undefined, 0);
      one.apply(ended(id, rawOutput), undefined, 0);
    }
    expect(one.items()[0]).toMatchObject({ id: 'a', staged: true });
    expect(one.items()[1]).not.toHaveProperty('staged');
  });

  it('keeps late text of an ended turn under that turn (A07)', () => {
    const one = new Conversation();
    one.beginPrompt('c1', [{ type: 'text', text: 'first' }], 0);
    one.apply(chunk('m1', 'one'), undefined, 0);
    one.promptEnded('c1', end('t1', 'cancelled'));
    one.beginPrompt('c2', [{ type: 'text', text: 'second' }], 0);
    one.apply(chunk('m1', ' late'), undefined, 0);
    expect(kinds(one.items())).toEqual(['user', 'assistant', 'turn_end', 'user']);
    expect(one.items()[1]).toMatchObject({ text: 'one late' });
  });

  it('ends a turn once, whether by its mark, its answer, or both', () => {
    const one = new Conversation();
    one.beginPrompt('c', [{ type: 'text', text: 'go' }], 0);
    one.apply(turn({ state: 'started', turnId: 't', commandId: 'c' }), undefined, 1_000);
    one.apply(
      turn({ state: 'ended', turnId: 't', stopReason: 'end_turn', terminal: { kind: 'natural' } }),
      undefined,
      3_000,
    );
    expect(one.promptEnded('c', end('c', 'end_turn'))).toEqual([]);
    expect(one.items().at(-1)).toMatchObject({ id: 'end:t', seconds: 2 });
    expect(one.runningTurn).toBeNull();
  });

  it('marks calls that a stopped turn left open as cancelled', () => {
    const one = new Conversation();
    one.apply(
      { sessionUpdate: 'tool_call', toolCallId: 'x', title: 'Run', status: 'in_progress' },
      undefined,
      0,
    );
    one.endTurn({ ...end('t', 'cancelled'), seconds: null }, null);
    expect(one.items()[0]).toMatchObject({ kind: 'tool', status: 'cancelled' });
  });

  it('shows the text of an update whose terminal is unknown (A20)', () => {
    const one = new Conversation();
    one.apply(
      {
        sessionUpdate: 'tool_call_update',
        toolCallId: 'x',
        status: 'completed',
        content: [
          { type: 'content', content: { type: 'text', text: 'built' } },
          { type: 'terminal', terminalId: 'nope' },
        ],
      },
      undefined,
      0,
    );
    const [item] = one.items();
    expect(item).toMatchObject({ status: 'completed' });
    expect(item?.kind === 'tool' && item.output).toMatch(/^built\n\[.*not available/);
  });

  it('stays calm about update kinds nobody knows', () => {
    const unknown: string[] = [];
    const one = new Conversation((what) => unknown.push(what));
    const update = { sessionUpdate: 'subagent_update', sessionId: 'x' } as unknown as SessionUpdate;
    expect(one.apply(update, undefined, 0)).toEqual([]);
    expect(unknown).toEqual(['subagent_update']);
  });

  it('keeps the tail of live output and counts what it let go (A38)', () => {
    const one = new Conversation();
    one.apply({ sessionUpdate: 'tool_call', toolCallId: 'x', title: 'Run' }, undefined, 0);
    const line = `${'🙂'.repeat(500)}\n`;
    for (let at = 0; at < 100; at += 1)
      one.apply(
        {
          sessionUpdate: 'tool_call_update',
          toolCallId: 'x',
          _meta: { pilothouse: { output: line } },
        },
        undefined,
        0,
      );
    const [item] = one.items();
    if (item?.kind !== 'tool') throw new Error('no tool row');
    expect(item.output.length).toBeLessThanOrEqual(OUTPUT_WINDOW);
    expect(item.output.length + item.outputCut).toBe(line.length * 100);
    expect(item.output.isWellFormed()).toBe(true);
    expect(one.liveOutput('x').length).toBe(line.length * 100);
  });

  it('shows live output in place of what the call was about to do, until the result is here', () => {
    const one = new Conversation();
    const content = (text: string) =>
      [{ type: 'content', content: { type: 'text', text } }] as const;
    const tell = (update: object) =>
      one.apply({ sessionUpdate: 'tool_call_update', toolCallId: 'x', ...update }, undefined, 0);
    const output = (text: string) => tell({ _meta: { pilothouse: { output: text } } });
    const shown = () => one.items()[0];
    const command = [...content('echo of a long command')];
    const call = { toolCallId: 'x', title: 'Run', status: 'pending', content: command } as const;
    one.apply({ sessionUpdate: 'tool_call', ...call }, undefined, 0);
    tell({ status: 'in_progress' });
    expect(shown()).toMatchObject({ output: 'echo of a long command' });
    // The page has another text there: a piece behind it would not do.
    expect(output('a\n')).toMatchObject([{ type: 'upsert', items: [{ output: 'a\n' }] }]);
    expect(output('b\n')).toEqual([
      { type: 'append', id: 'x', field: 'output', offset: 2, text: 'b\n' },
    ]);
    expect(shown()).toMatchObject({ output: 'a\nb\n', outputCut: 0 });
    tell({ status: 'completed', content: [...content('a\nb\n')] });
    expect(shown()).toMatchObject({ status: 'completed', output: 'a\nb\n' });
  });

  it('knows that a turn runs whose begin lies before the newest page, until it ends', () => {
    const one = new Conversation();
    one.start(page([entry(501, chunk('m', 'late words'))], true), 't');
    expect(one.runningTurn).toMatchObject({ turnId: 't' });
    one.apply(
      turn({ state: 'ended', turnId: 't', stopReason: 'end_turn' }),
      mark({ eventId: 502 }),
      0,
    );
    expect(one.runningTurn).toBeNull();
    expect(one.items().at(-1)).toMatchObject({ kind: 'turn_end', seconds: null });
    const ended = new Conversation();
    const end = turn({ state: 'ended', turnId: 't', stopReason: 'end_turn' });
    ended.start(page([entry(502, end)], true), 't');
    expect(ended.runningTurn).toBeNull();
  });

  it('says how a question was answered, after a replay too (A33)', () => {
    const gate = (state: object): SessionUpdate => ({
      sessionUpdate: 'session_info_update',
      _meta: { pilothouse: { gate: state } },
    });
    const one = new Conversation();
    one.start(
      page([
        entry(1, gate({ state: 'opened', gateId: 'g', kind: 'permission', title: 'Run ls' })),
        entry(
          2,
          gate({
            state: 'resolved',
            gateId: 'g',
            answer: { kind: 'selected', optionId: 'allow_once' },
            by: 'me',
          }),
        ),
      ]),
    );
    expect(one.items()).toEqual([
      { kind: 'answer', id: 'gate:g', text: 'Allowed by user: Run ls', allowed: true },
    ]);
  });

  it('tells a question that closing its window left open from one that was refused', () => {
    const answered = (answer: object): unknown => {
      const one = new Conversation();
      one.start(
        page([
          entry(1, {
            sessionUpdate: 'session_info_update',
            _meta: { pilothouse: { gate: { state: 'resolved', gateId: 'g', answer } } },
          }),
        ]),
      );
      return one.items().map((item) => (item.kind === 'answer' ? item.text : item.kind));
    };
    const closed = ['Not answered before the window was closed'];
    expect(answered({ kind: 'cancelled', reason: 'client_gone' })).toEqual(closed);
    expect(answered({ kind: 'cancelled', reason: 'session_closed' })).toEqual(closed);
    expect(answered({ kind: 'cancelled', reason: 'turn_cancelled' })).toEqual(['Not answered']);
    expect(answered({ kind: 'selected', optionId: 'reject_once' })).toEqual(['Rejected by user']);
  });

  it('takes an older page in front and completes rows that it cuts', () => {
    const tool: SessionUpdate = {
      sessionUpdate: 'tool_call',
      toolCallId: 'x',
      title: 'Read a',
      name: 'read',
      status: 'pending',
    };
    const marked = (update: SessionUpdate, eventId: number, offset: number): SessionUpdate => ({
      ...update,
      _meta: mark({ eventId, offset }),
    });
    const one = new Conversation();
    one.start(
      page(
        [
          entry(4, { sessionUpdate: 'tool_call_update', toolCallId: 'x', status: 'completed' }),
          entry(5, marked(chunk('m', ' world'), 5, 5)),
        ],
        true,
      ),
    );
    expect(one.oldestEvent).toBe(4);
    let shown = one.items();
    const changes = one.prepend(
      page([
        entry(1, {
          sessionUpdate: 'user_message_chunk',
          messageId: 'u',
          content: { type: 'text', text: 'hi' },
        }),
        entry(2, marked(chunk('m', 'Hello'), 2, 0)),
        entry(3, tool),
      ]),
    );
    shown = replay(shown, changes);
    expect(shown).toEqual(one.items());
    expect(kinds(shown)).toEqual(['user', 'tool', 'assistant']);
    expect(shown[1]).toMatchObject({ title: 'Read a', status: 'completed' });
    expect(shown[2]).toMatchObject({ text: 'Hello world' });
    expect(one.hasBefore).toBe(false);
  });

  it('drops live repeats of what the loaded page holds', () => {
    const one = new Conversation();
    const notice: SessionUpdate = { sessionUpdate: 'notice', severity: 'info', title: 'once' };
    one.start(page([entry(7, notice)]));
    expect(one.apply(notice, mark({ eventId: 7 }), 0)).toEqual([]);
    one.apply(notice, mark({ eventId: 8 }), 0);
    expect(one.items()).toHaveLength(2);
  });

  it('lets the oldest rows go when there are too many, and can load them again', () => {
    const one = new Conversation();
    let removed = 0;
    for (let at = 1; at <= 3_200; at += 1)
      for (const change of one.apply(
        { sessionUpdate: 'notice', severity: 'info', title: `n${at}` },
        mark({ eventId: at }),
        0,
      ))
        if (change.type === 'remove') removed += change.ids.length;
    expect(one.items().length + removed).toBe(3_200);
    expect(one.items().length).toBeLessThanOrEqual(3_000);
    expect(one.hasBefore).toBe(true);
    expect(one.oldestEvent).toBe(removed + 1);
  });
});

function end(turnId: string, stopReason: string) {
  const terminal = stopReason === 'cancelled' ? 'user_cancelled' : 'natural';
  return { turnId, stopReason, terminal, reason: '' };
}
