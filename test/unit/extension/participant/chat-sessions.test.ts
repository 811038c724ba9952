import { describe, expect, it } from 'vitest';
import { ChatSessions } from '../../../../src/extension/participant/chat-sessions.ts';

describe('the session of a chat', () => {
  it('is the one that its newest result names', () => {
    const chats = new ChatSessions();
    expect(chats.of([])).toBeNull();
    expect(
      chats.of([
        { prompt: 'a', sessionId: 's1' },
        { prompt: 'b', sessionId: 's2' },
      ]),
    ).toBe('s2');
    expect(
      chats.of([
        { prompt: 'a', sessionId: 's1' },
        { prompt: '/stop', sessionId: null },
      ]),
    ).toBe('s1');
  });

  it('is kept when the editor dropped the result of a cancelled turn', () => {
    const chats = new ChatSessions();
    chats.begin([], 'a', 's1');
    expect(chats.of([{ prompt: 'a', sessionId: null }])).toBe('s1');
    expect(chats.of([{ prompt: 'another chat', sessionId: null }])).toBeNull();
    chats.begin([{ prompt: 'a', sessionId: null }], 'b', 's2');
    expect(
      chats.of([
        { prompt: 'a', sessionId: null },
        { prompt: 'b', sessionId: null },
      ]),
    ).toBe('s2');
  });
});
