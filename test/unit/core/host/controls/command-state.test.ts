import { describe, expect, test } from 'vitest';
import { commandState } from '../../../../../src/core/host/controls/command-state.ts';
import { storedLoops } from '../../../../../src/core/host/controls/stored-loops.ts';
import { CommandStamp } from '../../../../../src/core/session/commands/stamp.ts';
import type { CommandResolution } from '../../../../../src/core/session/control-events.ts';
import type { NewRecord } from '../../../../../src/core/session/ports.ts';
import type {
  CommandId,
  LoopId,
  MessageId,
  SessionConfig,
  SessionId,
  ToolCallId,
  TurnId,
} from '../../../../../src/core/session/words.ts';
import { MemoryJournal } from '../../../../support/engine/memory-journal.ts';

const SESSION = 's' as SessionId;
const ID = 'c1' as CommandId;
const TURN = 't1' as TurnId;
const actor = { clientId: 'x', role: 'host_owner', source: 'test' } as const;
const config: SessionConfig = {
  mode: 'ask',
  model: 'fake/model',
  thoughtLevel: 'auto',
  budget: {},
};
const stamp = new CommandStamp(
  { session_id: SESSION, loop_id: 's' as LoopId },
  { unique: () => 'minted', secret: () => 'secret' },
  { now: () => 1 },
);

const issued: NewRecord = {
  stream: 'control',
  event: {
    type: 'command_issued',
    command: stamp.stamp('user_input', { blocks: [] }, { actor, agency: 'user', commandId: ID }),
    bodyHash: 'h',
  },
};

function resolved(resolution: CommandResolution, reason?: string): NewRecord {
  const why = reason === undefined ? {} : { reason };
  const event = { type: 'command_resolved', commandId: ID, resolution, ...why } as const;
  return { stream: 'control', event };
}

const begun: NewRecord = {
  stream: 'history',
  event: {
    type: 'turn_started',
    turnId: TURN,
    commandId: ID,
    messageId: 'm' as MessageId,
    content: [],
    config,
  },
};
const ended: NewRecord = {
  stream: 'history',
  event: {
    type: 'turn_ended',
    turnId: TURN,
    terminal: { kind: 'natural', owner: 'agent', reason: 'completed' },
    stopReason: 'end_turn',
    usage: { inputTokens: 0, outputTokens: 0 },
    iterations: 1,
  },
};

async function stateAfter(...records: NewRecord[]): Promise<unknown> {
  const journal = new MemoryJournal();
  // Far more bookkeeping than is read at once, before and behind.
  const filler = Array.from(
    { length: 600 },
    (): NewRecord => ({ stream: 'control', event: { type: 'client_attached', actor } }),
  );
  await journal.append(SESSION, [...filler, ...records, ...filler]);
  return commandState(journal, SESSION, ID);
}

describe('what became of a command', () => {
  test('is what the records say, from its issue to its end', async () => {
    expect(await stateAfter()).toBeNull();
    const type = 'user_input';
    expect(await stateAfter(issued)).toEqual({ commandId: ID, state: 'waiting', type });
    expect(await stateAfter(issued, resolved('held', 'restart'))).toEqual({
      commandId: ID,
      state: 'held',
      type,
      resolution: 'held',
      reason: 'restart',
    });
    expect(await stateAfter(issued, resolved('cancelled', 'user_cancelled'))).toMatchObject({
      state: 'done',
      resolution: 'cancelled',
    });
    const running = { commandId: ID, state: 'running', type, turnId: TURN };
    expect(await stateAfter(issued, begun)).toEqual(running);
    expect(await stateAfter(issued, resolved('started'), begun)).toMatchObject(running);
    expect(await stateAfter(issued, resolved('started'), begun, ended)).toMatchObject({
      state: 'done',
      turnId: TURN,
    });
    // Held, and sent by a person later: what came last counts.
    expect(
      await stateAfter(issued, resolved('held', 'restart'), resolved('started'), begun, ended),
    ).toMatchObject({ state: 'done', resolution: 'started' });
  });

  test('is known of what an older version accepted', async () => {
    const accepted: NewRecord = {
      stream: 'control',
      event: {
        type: 'command_accepted',
        commandId: ID,
        command: 'prompt',
        bodyHash: 'h',
        actor,
      },
    };
    expect(await stateAfter(accepted)).toMatchObject({ state: 'waiting', type: 'prompt' });
    expect(await stateAfter(accepted, begun, ended)).toMatchObject({ state: 'done' });
  });

  test('of an inject is done when it was read in a turn', async () => {
    const delivered: NewRecord = {
      stream: 'history',
      event: {
        type: 'inject_delivered',
        turnId: TURN,
        messageId: 'm' as MessageId,
        mode: 'steer',
        content: [],
        seam: 'iteration_end',
        actor,
      },
      cause: { command_ids: [ID] },
    };
    expect(await stateAfter(issued, delivered, resolved('folded'))).toMatchObject({
      state: 'done',
      resolution: 'folded',
      turnId: TURN,
    });
  });
});

test('the loops of a stored session are listed from its records, parents before children', async () => {
  const journal = new MemoryJournal();
  const started = (loopId: string, name: string, requestId: string): NewRecord => ({
    stream: 'history',
    event: {
      type: 'delegate_started',
      turnId: TURN,
      toolCallId: `call-${loopId}` as ToolCallId,
      requestId: requestId as CommandId,
      loopId: loopId as LoopId,
      name,
      prompt: `Do ${name}`,
      background: false,
      config,
    },
  });
  const created = (id: string, parentId: string | null): NewRecord => ({
    stream: 'history',
    event: {
      type: 'session_created',
      cwd: '/w',
      additionalDirectories: [],
      config,
      ...(parentId === null
        ? {}
        : {
            delegate: {
              rootId: SESSION,
              parentId: parentId as LoopId,
              requestId: 'r' as CommandId,
              name: id,
              depth: 1,
            },
          }),
    },
  });
  await journal.append(SESSION, [created('s', null)]);
  expect(await storedLoops(journal, SESSION)).toMatchObject([
    { loopId: 's', parentLoopId: null, depth: 0, lastEventId: 1 },
  ]);
  // The second request of a delegate is no second delegate.
  await journal.append(SESSION, [started('a', 'first', 'r1'), started('a', 'first', 'r2')]);
  await journal.append('a' as SessionId, [created('a', 's'), started('b', 'deep', 'r3')]);
  await journal.append('b' as SessionId, [created('b', 'a')]);
  expect(await storedLoops(journal, SESSION)).toMatchObject([
    { loopId: 's', lastEventId: 3 },
    {
      loopId: 'a',
      parentLoopId: 's',
      depth: 1,
      name: 'first',
      toolCallId: 'call-a',
      prompt: 'Do first',
    },
    { loopId: 'b', parentLoopId: 'a', depth: 2, state: 'closed' },
  ]);
});
