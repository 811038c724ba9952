import { describe, expect, it } from 'vitest';
import { AgentRequestError } from '../../../../src/extension/core/connection.ts';
import { ControlError, controlError } from '../../../../src/extension/sessions/control/refused.ts';
import { storeFaultOf } from '../../../../src/extension/sessions/control/store-fault.ts';
import { Waiting } from '../../../../src/extension/sessions/control/waiting.ts';
import { endingOf, interruptedEnd, lastEnding } from '../../../../src/extension/sessions/ending.ts';
import type { ChatItem } from '../../../../src/protocol/chat.ts';
import type { PendingInjection } from '../../../../src/protocol/harn.ts';
import type { NextTurnQueue } from '../../../../src/protocol/pilothouse.ts';

const OWNER = { clientId: 'me', role: 'host_owner', source: 'acp' } as const;
const AT = '2026-01-01T00:00:00Z';
const said = (text: string) => [{ type: 'text' as const, text }];

function steer(messageId: string): PendingInjection {
  const content = said(messageId);
  return {
    kind: 'user',
    messageId,
    mode: 'steer',
    content,
    owner: OWNER,
    at: AT,
    behindGate: false,
  };
}

function queue(paused: NextTurnQueue['paused'], ...items: [id: string, text: string][]) {
  return {
    paused,
    items: items.map(([itemId, text]) => ({ itemId, content: said(text), owner: OWNER, at: AT })),
  };
}

const backTexts = (waiting: Waiting) =>
  waiting.givenBack.map(({ mode, messageId }) => `${mode} ${messageId}`);

describe('what waited when the agent process ended', () => {
  it('has come back as long as no new process says that it holds it', () => {
    const waiting = new Waiting();
    waiting.replace([steer('a')], null, true);
    waiting.lost();
    expect(backTexts(waiting)).toEqual(['steer a']);
  });

  it('has not come back where the new process holds it, under its id or with its content', () => {
    const waiting = new Waiting();
    waiting.replace([steer('a'), steer('b'), steer('c')], null, true);
    waiting.lost();
    const { items, paused } = queue('restart', ['a', 'anything'], ['other', 'b']);
    // The store orders an object's keys in its own way.
    const stored = items.map((item) => ({
      ...item,
      content: item.content.map(({ type, text }) => ({ text, type })),
    }));
    waiting.replace([], { paused, items: stored }, false);
    expect(backTexts(waiting)).toEqual(['steer c']);
  });

  it('has come back where the person had queued the same words before', () => {
    const waiting = new Waiting();
    waiting.replace([steer('a')], null, true);
    waiting.lost();
    waiting.replace([], queue('asked', ['other', 'a']), false);
    expect(backTexts(waiting)).toEqual(['steer a']);
  });

  it('comes back as a prompt where the agent never had it, and not where it holds it', () => {
    const waiting = new Waiting();
    waiting.unsent('p1', said('do it'));
    expect(backTexts(waiting)).toEqual(['prompt p1']);
    waiting.replace([], queue('restart', ['p1', 'do it']), false);
    expect(waiting.givenBack).toEqual([]);
    waiting.unsent('p1', said('do it'));
    expect(waiting.givenBack).toEqual([]);
  });
});

describe('how a turn ended', () => {
  const end = (terminal: string, stopReason: string): ChatItem => ({
    kind: 'turn_end',
    id: 'e',
    reason: '',
    seconds: null,
    terminal,
    stopReason,
  });
  const prompt: ChatItem = { kind: 'user', id: 'u', at: 0, text: '', attachments: [] };

  it('is interrupted, not failed, where the process did not live to end it', () => {
    expect(endingOf(interruptedEnd('t'))).toBe('interrupted');
    expect(endingOf({ terminal: 'runtime_error', stopReason: 'end_turn' })).toBe('failed');
    expect(endingOf({ terminal: 'user_cancelled', stopReason: 'cancelled' })).toBeNull();
  });

  it('is interrupted where its window was closed, and not where a limit of the model ended it', () => {
    expect(endingOf({ terminal: 'policy_stop', stopReason: 'cancelled' })).toBe('interrupted');
    expect(endingOf({ terminal: 'policy_stop', stopReason: 'max_tokens' })).toBeNull();
    expect(endingOf({ terminal: 'policy_stop', stopReason: 'refusal' })).toBeNull();
  });

  it('counts until something was sent', () => {
    const broken = end('runtime_error', 'cancelled');
    expect(lastEnding([prompt, broken])).toBe('interrupted');
    expect(lastEnding([prompt, broken, prompt])).toBeNull();
    expect(lastEnding([prompt, end('natural', 'end_turn')])).toBeNull();
    expect(lastEnding([])).toBeNull();
  });
});

describe('a store that fails', () => {
  const refused = (code: string) =>
    new AgentRequestError('agent.refused', 'The disk is full.', {
      rpcCode: -32603,
      details: { code },
    });

  it('is told from other errors by its code, also through other words', () => {
    const fault = { message: 'The disk is full.', unsure: false };
    expect(storeFaultOf(refused('journal.fault'))).toEqual(fault);
    const words = controlError(refused('journal.fault'));
    expect(words).toBeInstanceOf(ControlError);
    expect(storeFaultOf(words)).toEqual(fault);
    expect(storeFaultOf(refused('journal.outcome_unknown'))?.unsure).toBe(true);
    expect(storeFaultOf(refused('host.unknown_session'))).toBeNull();
    expect(storeFaultOf(new Error('journal.fault'))).toBeNull();
  });
});
