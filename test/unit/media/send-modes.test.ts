import { describe, expect, test } from 'vitest';
import { moveTarget } from '../../../media/chat/state/next-order.ts';
import { sendKeys, sendModes } from '../../../media/chat/state/send-modes.ts';
import type { ChatSendMode, ChatStatus } from '../../../src/protocol/chat.ts';
import { IDLE, RUNNING } from '../../ui/support/samples.ts';

const running = (runningSend: ChatSendMode): ChatStatus => ({ ...RUNNING, runningSend });

describe('what the keys do', () => {
  test.each([
    ['steer', { enter: 'steer', altEnter: 'next', ctrlEnter: 'interrupt' }],
    ['next', { enter: 'next', altEnter: 'steer', ctrlEnter: 'interrupt' }],
    ['interrupt', { enter: 'interrupt', altEnter: 'steer', ctrlEnter: 'interrupt' }],
    ['note', { enter: 'note', altEnter: 'steer', ctrlEnter: 'interrupt' }],
  ] as const)('while a turn runs and Enter is set to %s', (mode, keys) => {
    expect(sendKeys(running(mode))).toEqual(keys);
    expect(new Set(sendModes(running(mode)))).toEqual(
      new Set(['steer', 'next', 'interrupt', 'note']),
    );
    expect(sendModes(running(mode))[0]).toBe(mode);
  });

  test('at rest and while it stops they all send a prompt', () => {
    const prompt = { enter: 'prompt', altEnter: 'prompt', ctrlEnter: 'prompt' };
    expect(sendKeys(IDLE)).toEqual(prompt);
    expect(sendKeys({ ...RUNNING, activity: 'stopping' })).toEqual(prompt);
    expect(sendModes(IDLE)).toEqual(['prompt']);
  });

  test('at rest a message can join a queue that is held', () => {
    const nextTurns = { paused: 'by Stop', items: [{ id: 'q', text: 'q', attached: [] }] };
    expect(sendModes({ ...IDLE, nextTurns })).toEqual(['prompt', 'next']);
  });
});

test('a message moves by one place and not past the ends', () => {
  const items = ['a', 'b', 'c'].map((id) => ({ id }));
  expect(moveTarget(items, 1, 'up')).toEqual({ before: 'a' });
  expect(moveTarget(items, 0, 'down')).toEqual({ before: 'c' });
  expect(moveTarget(items, 1, 'down')).toEqual({ before: null });
  expect(moveTarget(items, 0, 'up')).toBeNull();
  expect(moveTarget(items, 2, 'down')).toBeNull();
});
