import { describe, expect, it } from 'vitest';
import { ChangeLog } from '../../../../../src/core/host/changes/change-log.ts';
import { Changes } from '../../../../../src/core/host/changes/changes.ts';
import type { ControlEvent } from '../../../../../src/core/session/control-events.ts';
import type { HistoryEvent } from '../../../../../src/core/session/events.ts';
import type { SessionId, ToolCallId, TurnId } from '../../../../../src/core/session/words.ts';
import { OWNER } from '../../../../support/engine/a-session.ts';
import { MemoryJournal } from '../../../../support/engine/memory-journal.ts';

const turnId = 't' as TurnId;

function edit(
  id: string,
  path: string,
  oldText: string | null,
  newText: string,
  status: 'completed' | 'failed' = 'completed',
): HistoryEvent[] {
  const toolCallId = id as ToolCallId;
  return [
    { type: 'tool_started', turnId, toolCallId },
    {
      type: 'tool_ended',
      turnId,
      toolCallId,
      result: { toolCallId, name: 'edit', status, parts: [] },
      content: [{ type: 'diff', path, oldText, newText }],
      locations: [],
    },
  ];
}

describe('the changes of a session', () => {
  it('go from the text before the first change to the text after the last', () => {
    const changes = new Changes();
    for (const event of [
      ...edit('1', '/a', 'one', 'two'),
      ...edit('2', '/a', 'two', 'three'),
      ...edit('3', '/b', null, 'new'),
    ])
      changes.apply(event);
    expect(changes.list()).toEqual([
      { path: '/a', before: 'one', after: 'three' },
      { path: '/b', before: null, after: 'new' },
    ]);
  });

  it('leave out what failed, what was only proposed and what was changed back', () => {
    const changes = new Changes();
    const [, proposal] = edit('p', '/p', null, 'proposed');
    for (const event of [
      ...edit('1', '/f', 'a', 'b', 'failed'),
      ...edit('2', '/x', 'a', 'b'),
      ...edit('3', '/x', 'b', 'a'),
    ])
      changes.apply(event);
    if (proposal !== undefined) changes.apply(proposal);
    expect(changes.list()).toEqual([]);
  });

  it('count staged texts once they are committed, each with the text that was written', () => {
    const changes = new Changes();
    const [started, ended] = edit('s', '/s', 'old', 'staged');
    if (started !== undefined) changes.apply(started, 1);
    if (ended?.type === 'tool_ended') changes.apply({ ...ended, rawOutput: { staged: true } }, 1);
    const stagedAs = (text: string): ControlEvent => ({
      type: 'file_staged',
      path: '/s',
      base: 'old',
      text,
      toolCallId: 's' as ToolCallId,
    });
    const settle = (how: 'committed' | 'discarded'): ControlEvent => ({
      type: 'staged_settled',
      how,
      paths: ['/s'],
      actor: OWNER,
    });
    changes.applyControl(stagedAs('dropped'), 1);
    changes.applyControl(settle('discarded'), 2);
    expect(changes.list()).toEqual([]);
    for (const event of edit('later', '/s', 'staged', 'later')) changes.apply(event, 4);
    changes.applyControl(stagedAs('staged'), 2);
    changes.applyControl(settle('committed'), 3);
    expect(changes.list()).toEqual([{ path: '/s', before: 'old', after: 'later' }]);
  });

  it('are brought up to date at each look, also when several look at once', async () => {
    const journal = new MemoryJournal();
    const id = 's' as SessionId;
    const append = (events: HistoryEvent[]) =>
      journal.append(
        id,
        events.map((event) => ({ stream: 'history', event })),
      );
    const log = new ChangeLog(journal);
    await append(edit('1', '/a', 'one', 'two'));
    const [first, same] = await Promise.all([log.of(id), log.of(id)]);
    expect(first.list()).toEqual(same.list());
    await append(edit('2', '/a', 'two', 'three'));
    expect((await log.of(id)).list()).toEqual([{ path: '/a', before: 'one', after: 'three' }]);
  });

  it('follow the current branch: what was rolled back is no change, until it is redone', async () => {
    const journal = new MemoryJournal();
    const id = 's' as SessionId;
    const append = (events: HistoryEvent[]) =>
      journal.append(
        id,
        events.map((event) => ({ stream: 'history', event })),
      );
    const moved = (reason: 'rollback' | 'redo', to: number): HistoryEvent => ({
      type: 'history_moved',
      reason,
      to,
      checkpointId: null,
      beforeMessageCount: 0,
      afterMessageCount: 0,
      files: null,
      actor: OWNER,
    });
    const log = new ChangeLog(journal);
    await append([...edit('1', '/a', 'one', 'two'), ...edit('2', '/a', 'two', 'three')]);
    expect((await log.of(id)).list()).toEqual([{ path: '/a', before: 'one', after: 'three' }]);
    await append([moved('rollback', 2)]);
    expect((await log.of(id)).list()).toEqual([{ path: '/a', before: 'one', after: 'two' }]);
    await append([moved('redo', 4), ...edit('3', '/b', null, 'new')]);
    expect((await log.of(id)).list()).toEqual([
      { path: '/a', before: 'one', after: 'three' },
      { path: '/b', before: null, after: 'new' },
    ]);
  });
});
