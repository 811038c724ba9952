import { describe, expect, it } from 'vitest';
import {
  MOST_WAITING,
  MOST_WAITING_TEXT,
  requireRoom,
} from '../../../../../src/core/session/control/waiting-limit.ts';
import type { ContentBlock } from '../../../../../src/protocol/acp.ts';

const text = (words: string): readonly ContentBlock[] => [{ type: 'text', text: words }];
const waiting = (count: number, words = 'a') =>
  Array.from({ length: count }, () => ({ content: text(words) }));
const full = expect.objectContaining({ refusal: 'too_many_waiting' });

describe('how much may wait', () => {
  it('takes messages up to the limit and none beyond it', () => {
    expect(() => requireRoom(waiting(MOST_WAITING - 1), text('b'))).not.toThrow();
    expect(() => requireRoom(waiting(MOST_WAITING), text('b'))).toThrow(full);
  });

  const half = 'x'.repeat(MOST_WAITING_TEXT / 2);
  const blocks: readonly [string, ContentBlock][] = [
    ['text', { type: 'text', text: half }],
    ['an image', { type: 'image', data: half, mimeType: 'image/png' }],
    ['a sound', { type: 'audio', data: half, mimeType: 'audio/wav' }],
    ['a text file', { type: 'resource', resource: { uri: 'file:///a', text: half } }],
    ['another file', { type: 'resource', resource: { uri: 'file:///a', blob: half } }],
    ['a link', { type: 'resource_link', uri: half, name: 'a' }],
  ];

  it.each(blocks)('counts %s', (_, block) => {
    expect(() => requireRoom(waiting(1, half), [block])).not.toThrow();
    expect(() => requireRoom(waiting(1, `${half}x`), [block])).toThrow(full);
  });
});
