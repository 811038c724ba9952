import { describe, expect, it } from 'vitest';
import {
  hasSettled,
  runningItem,
  type StatusBarInput,
  waitingItem,
} from '../../../../src/extension/status-bar/status-model.ts';
import {
  checkGrace,
  NOT_STOPPING,
  pressStop,
  STOP_GRACE_MS,
} from '../../../../src/extension/status-bar/stop-state.ts';

const QUIET: StatusBarInput = {
  running: [],
  stopping: [],
  openGates: 0,
  offline: null,
  showIdle: false,
};
const session = { sessionId: 's', name: 'Fix it' };

describe('Stop', () => {
  it('is under way from the press until the turn has ended, and a second press changes nothing', () => {
    const pressed = pressStop(NOT_STOPPING, 1_000, true);
    expect(pressed).toEqual({ kind: 'stopping', since: 1_000, overdue: false });
    expect(pressStop(pressed, 5_000, true)).toBe(pressed);
  });

  it('shows nothing to wait for where no prompt runs (A01)', () => {
    expect(pressStop(NOT_STOPPING, 1_000, false)).toBe(NOT_STOPPING);
  });

  it('is overdue after its grace, once', () => {
    const pressed = pressStop(NOT_STOPPING, 0, true);
    expect(checkGrace(pressed, STOP_GRACE_MS - 1)).toBe(pressed);
    const overdue = checkGrace(pressed, STOP_GRACE_MS);
    expect(overdue).toMatchObject({ overdue: true });
    expect(checkGrace(overdue, STOP_GRACE_MS * 2)).toBe(overdue);
  });
});

describe('the status bar', () => {
  it('is hidden while nothing runs, unless wanted', () => {
    expect(runningItem(QUIET)).toBeNull();
    expect(waitingItem(QUIET)).toBeNull();
    expect(runningItem({ ...QUIET, showIdle: true })?.command).toBe('pilothouse.focusChat');
  });

  it('stops with one click while something runs', () => {
    expect(runningItem({ ...QUIET, running: [session] })).toMatchObject({
      text: '$(sync~spin) 1 running $(debug-stop)',
      tooltip: 'Stop Fix it',
      command: 'pilothouse.stop',
    });
  });

  it('says stopping until the turn has ended (A03)', () => {
    expect(runningItem({ ...QUIET, stopping: [session] })).toMatchObject({
      text: '$(loading~spin) Stopping…',
      command: 'pilothouse.stop',
    });
  });

  it('keeps the place of Stop for a moment once all has stopped, with nothing to press', () => {
    const stopping = { ...QUIET, stopping: [session] };
    expect(hasSettled(stopping, QUIET)).toBe(true);
    expect(hasSettled(stopping, { ...QUIET, running: [session] })).toBe(false);
    expect(hasSettled({ ...QUIET, running: [session] }, QUIET)).toBe(false);
    expect(runningItem(QUIET, true)).toMatchObject({ text: '$(check) Stopped', command: null });
    expect(runningItem({ ...QUIET, running: [session] }, true)?.command).toBe('pilothouse.stop');
  });

  it('warns of what waits and of a process that is gone', () => {
    expect(waitingItem({ ...QUIET, openGates: 2 })).toMatchObject({
      text: '$(bell-dot) 2',
      background: 'warning',
      command: 'pilothouse.showApprovals',
    });
    expect(runningItem({ ...QUIET, offline: 'gone' })).toMatchObject({
      background: 'error',
      command: 'pilothouse.restartAgent',
    });
  });
});
