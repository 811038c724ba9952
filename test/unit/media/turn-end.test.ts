import { describe, expect, it } from 'vitest';
import { isClosed, turnEndText, turnOutcome } from '../../../media/chat/state/turn-end.ts';
import { ENGLISH } from '../../../media/chat/strings.ts';
import type { ChatItem } from '../../../src/protocol/chat.ts';

type TurnEnd = Extract<ChatItem, { kind: 'turn_end' }>;

const stopped = (stopReason: string): TurnEnd => ({
  kind: 'turn_end',
  id: 'e',
  reason: 'why',
  seconds: 2,
  terminal: 'policy_stop',
  stopReason,
});

describe('the line under a turn that policy stopped', () => {
  it('says that its window was closed, where that ended it', () => {
    const end = stopped('cancelled');
    expect(isClosed(end)).toBe(true);
    expect(turnOutcome(end)).toBe('stopped');
    expect(turnEndText(end, ENGLISH)).toBe('Stopped when its window or session was closed · 2.0 s');
  });

  it('names the limit, where one ended it', () => {
    const end = stopped('max_tokens');
    expect(isClosed(end)).toBe(false);
    expect(turnOutcome(end)).toBe('limited');
    expect(turnEndText(end, ENGLISH)).toBe('Ended by a limit: why · 2.0 s');
  });
});
