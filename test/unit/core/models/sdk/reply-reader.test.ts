import { describe, expect, it } from 'vitest';
import { CUT, ReplyReader } from '../../../../../src/core/models/sdk/reply-reader.ts';
import type { ModelRequest } from '../../../../../src/core/session/model.ts';
import type { SessionId, TurnId } from '../../../../../src/core/session/words.ts';

const REQUEST: ModelRequest = {
  sessionId: 's' as SessionId,
  turnId: 't' as TurnId,
  model: 'one',
  system: '',
  messages: [],
  tools: [],
  thoughtLevel: 'auto',
  attempt: 1,
};

const NO_TOKENS = {
  inputTokens: { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 0, text: 0, reasoning: 0 },
};

/** The reason that a reply with this end has for the engine. */
function reasonOf(raw: string | undefined, withCall = false): unknown {
  const reader = new ReplyReader(REQUEST, { source: 'local', model: 'one' }, undefined);
  if (withCall) reader.read({ type: 'tool-call', toolCallId: 'c', toolName: 'read', input: '{}' });
  const events = reader.finish({
    type: 'finish',
    finishReason: { unified: 'other', raw },
    usage: NO_TOKENS,
  });
  if (events === CUT) return 'cut';
  const last = events.at(-1);
  return last?.type === 'finish' ? last.reason : null;
}

describe('the end of a reply in words of a server of its own', () => {
  it.each(['eos_token', 'EOS', 'end_turn', 'stop_sequence', 'COMPLETE'])(
    'is a normal stop where it says %s',
    (raw) => {
      expect(reasonOf(raw)).toBe('stop');
      expect(reasonOf(raw, true)).toBe('tool_calls');
    },
  );

  it('stays unexplained where the word is not known', () => {
    expect(reasonOf('abort')).toBe('other');
  });

  it('is a cut where there is no word', () => {
    expect(reasonOf(undefined)).toBe('cut');
  });
});
