import { describe, expect, it } from 'vitest';
import { StagedState } from '../../../../../src/core/session/control/staged.ts';
import type { ControlEvent } from '../../../../../src/core/session/control-events.ts';
import type { HistoryEvent } from '../../../../../src/core/session/events.ts';
import type { ToolCallId, TurnId } from '../../../../../src/core/session/words.ts';
import { OWNER } from '../../../../support/engine/a-session.ts';

/** Applies events of both streams, the history numbered from 1. */
function fold(...events: readonly (ControlEvent | HistoryEvent)[]): StagedState {
  const state = new StagedState();
  let seq = 0;
  for (const event of events) {
    if (event.type === 'tool_started' || event.type === 'history_moved') {
      seq += 1;
      state.applyHistory(seq, event);
    } else state.applyControl(event as ControlEvent);
  }
  return state;
}

const turnId = 'turn' as TurnId;
const call = (id: string): HistoryEvent => ({
  type: 'tool_started',
  turnId,
  toolCallId: id as ToolCallId,
});
const moved = (to: number): HistoryEvent => ({
  type: 'history_moved',
  reason: 'rollback',
  to,
  checkpointId: null,
  beforeMessageCount: 0,
  afterMessageCount: 0,
  files: null,
  actor: OWNER,
});
const staged = (path: string, text: string | null, by: string | null): ControlEvent => ({
  type: 'file_staged',
  path,
  base: 'base',
  text,
  toolCallId: by as ToolCallId | null,
});
const settled = (...paths: readonly string[]): ControlEvent => ({
  type: 'staged_settled',
  how: 'committed',
  paths,
  actor: OWNER,
});
const texts = (state: StagedState): unknown =>
  state.files().map(({ path, text }) => `${path}=${text}`);

describe('staged files', () => {
  it('are none, and the mode is immediate, before anything was asked', () => {
    expect(fold().mode).toBe('immediate');
    expect(fold().files()).toEqual([]);
  });

  it('are the newest version of each file, until they are settled', () => {
    const events = [call('a'), staged('/w/b', '1', 'a'), staged('/w/a', '1', 'a')];
    const again = [...events, call('b'), staged('/w/b', '2', 'b')];
    expect(texts(fold(...again))).toEqual(['/w/a=1', '/w/b=2']);
    expect(texts(fold(...again, settled('/w/b')))).toEqual(['/w/a=1']);
    expect(texts(fold(...again, settled('/w/b'), staged('/w/b', null, null)))).toEqual([
      '/w/a=1',
      '/w/b=null',
    ]);
  });

  it('stay when the mode goes back', () => {
    const mode = (to: 'staged' | 'immediate'): ControlEvent => ({
      type: 'fs_mode_changed',
      mode: to,
      actor: OWNER,
    });
    const state = fold(mode('staged'), call('a'), staged('/w/a', '1', 'a'), mode('immediate'));
    expect(state.mode).toBe('immediate');
    expect(texts(state)).toEqual(['/w/a=1']);
  });

  it('are without what a turn staged that was rolled back, and with it again after a redo', () => {
    // 1: first call, 2: second call, 3: rollback behind 1, 4: redo behind 2.
    const events = [
      call('a'),
      staged('/w/a', 'old', 'a'),
      call('b'),
      staged('/w/a', 'new', 'b'),
      staged('/w/b', 'new', 'b'),
    ];
    expect(texts(fold(...events))).toEqual(['/w/a=new', '/w/b=new']);
    expect(texts(fold(...events, moved(1)))).toEqual(['/w/a=old']);
    expect(texts(fold(...events, moved(1), moved(0)))).toEqual([]);
    expect(texts(fold(...events, moved(1), moved(2)))).toEqual(['/w/a=new', '/w/b=new']);
    const onward = [...events, moved(1), call('c'), staged('/w/c', 'x', 'c')];
    expect(texts(fold(...onward))).toEqual(['/w/a=old', '/w/c=x']);
    // 5: back to where the redo could have gone.
    expect(texts(fold(...onward, moved(2)))).toEqual(['/w/a=new', '/w/b=new']);
  });

  it('of a person do not depend on turns', () => {
    expect(texts(fold(call('a'), staged('/w/p', 'mine', null), moved(0)))).toEqual(['/w/p=mine']);
  });
});
