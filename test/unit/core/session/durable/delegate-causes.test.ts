import { describe, expect, it } from 'vitest';
import type { HistoryEvent } from '../../../../../src/core/session/events.ts';
import { Causes } from '../../../../../src/core/session/state/causes.ts';
import type {
  CommandId,
  LoopId,
  ToolCallId,
  TurnId,
} from '../../../../../src/core/session/words.ts';

const turnId = 't1' as TurnId;
const config = { mode: 'code', model: 'm/x', thoughtLevel: 'auto', budget: {} } as const;
const request: HistoryEvent = {
  type: 'delegate_started',
  turnId,
  toolCallId: 'c1' as ToolCallId,
  requestId: 'r1' as CommandId,
  loopId: 'l1' as LoopId,
  name: 'one',
  prompt: 'go',
  background: true,
  config,
};

describe('the cause of a request to a delegate', () => {
  it('is the prompt of the turn that makes it', () => {
    const causes = new Causes({ turnId, commandIds: ['p1' as CommandId] });
    const { cause } = causes.caused({ stream: 'history', event: request });
    expect(cause.command_ids).toEqual(['p1']);
  });

  it('is the request itself where that turn is long over', () => {
    const { cause } = new Causes(null).caused({ stream: 'history', event: request });
    expect(cause.command_ids).toEqual(['r1']);
  });
});
