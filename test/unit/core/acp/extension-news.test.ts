import { describe, expect, test } from 'vitest';
import type { ClientFacts } from '../../../../src/core/acp/client-facts.ts';
import { ExtensionNews } from '../../../../src/core/acp/session/extension-news.ts';
import type { UpdateSender } from '../../../../src/core/acp/session/sender.ts';
import type { PendingMessage } from '../../../../src/core/session/control-events.ts';
import type { MessageId, SessionId } from '../../../../src/core/session/words.ts';
import { OWNER } from '../../../support/engine/a-session.ts';

const nextTurns = { paused: null, items: [] } as const;

function message(name: string): PendingMessage {
  return {
    messageId: name as MessageId,
    kind: 'user',
    mode: 'steer',
    content: [{ type: 'text', text: name }],
    owner: OWNER,
    at: 0,
    behindGate: false,
  };
}

/** What a client is told of messages that wait, as how many wait each time. */
function aClient(): { news: ExtensionNews; told: number[] } {
  const told: number[] = [];
  const sender = {
    extension: (_: string, params: { pending: readonly unknown[] }) => {
      told.push(params.pending.length);
    },
  } as unknown as UpdateSender;
  const facts = { pilothouse: true } as ClientFacts;
  return { news: new ExtensionNews('one' as SessionId, facts, sender), told };
}

const change = (count: number) => ({
  type: 'pending_changed' as const,
  pending: Array.from({ length: count }, (_, index) => message(`m${index}`)),
  nextTurns,
});
const later = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('news of messages that wait', () => {
  test('one change is told at once', () => {
    const { news, told } = aClient();
    news.pendingChanged(change(1));
    expect(told).toEqual([1]);
  });

  test('of many in a row the first and the newest are told', async () => {
    const { news, told } = aClient();
    for (let count = 1; count <= 1000; count += 1) news.pendingChanged(change(count));
    await later();
    expect(told).toEqual([1, 1000]);
    await later();
    news.pendingChanged(change(7));
    expect(told).toEqual([1, 1000, 7]);
  });

  test('nothing is told after the end', async () => {
    const { news, told } = aClient();
    news.pendingChanged(change(1));
    news.pendingChanged(change(2));
    news.dispose();
    await later();
    expect(told).toEqual([1]);
  });
});
