import { describe, expect, it } from 'vitest';
import type { CommandId, GateId, QueueItemId } from '../../../../../src/core/session/words.ts';
import {
  aSession,
  aTool,
  OWNER,
  ok,
  type TestSession,
} from '../../../../support/engine/a-session.ts';
import { calls, ScriptedModel, says } from '../../../../support/engine/scripted-model.ts';

const X = 'x' as CommandId;
const ORIGIN = { actor: OWNER, agency: 'user', commandId: X } as const;
const STOP = { kind: 'cancelled', by: 'test' } as const;
const TEXT = [{ type: 'text', text: 'hello' }] as const;

/** Every command that a client may give an id, under the same one. */
const COMMANDS = {
  prompt: (t) => t.prompt('hello', 2, X),
  message: (t) =>
    t.session.entries.inject({ mode: 'steer', content: TEXT, actor: OWNER, commandId: X }),
  answer: (t, gateId) => t.answer(gateId, { kind: 'selected', optionId: 'allow_once' }, X),
  compaction: (t) => t.session.entries.compact(ORIGIN),
  withdrawal: (t) => t.session.entries.withdraw('nobody' as CommandId, ORIGIN),
  // At once, as all the others.
  cancel: async (t) => t.session.cancel(3, STOP, ORIGIN).recorded,
  'item of the queue': (t) =>
    t.session.entries.changeQueue(
      { kind: 'add', itemId: 'x' as QueueItemId, content: TEXT, before: null },
      OWNER,
    ),
} as const satisfies Record<string, (t: TestSession, gateId: GateId) => Promise<unknown>>;

const PAIRS = Object.entries(COMMANDS).flatMap(([first, send]) =>
  Object.entries(COMMANDS).flatMap(([second, sendOther]) =>
    first === second ? [] : [{ first, second, send, sendOther }],
  ),
);

/** A session whose turn waits for an answer. */
async function asking(): Promise<{ readonly t: TestSession; readonly gateId: GateId }> {
  const t = await aSession({
    model: new ScriptedModel(calls(['w', {}]), says('a'), says('b'), says('c'), says('d')),
    tools: [aTool('w', () => ok('x'))],
    decide: () => ({ decision: 'ask', reason: 'test', details: [], remember: [] }),
  });
  t.prompt('go', 1, 'first').catch(() => undefined);
  const { gateId } = await t.next('gate_opened');
  return { t, gateId };
}

function using(t: TestSession): readonly string[] {
  return (t.journal.records.get(t.session.sessionId) ?? []).flatMap(({ record: { event } }) => {
    if (event.type === 'command_issued')
      return event.command.command_id === X ? [event.command.type] : [];
    return event.type === 'queue_changed' && event.change.kind === 'added' ? ['item'] : [];
  });
}

describe('an id', () => {
  it.each(PAIRS)('of a $first is refused for a $second in the same tick', async (pair) => {
    const { t, gateId } = await asking();
    const first = pair.send(t, gateId);
    const second = pair.sendOther(t, gateId);
    // A message finds no turn any more where the first one stopped it.
    const isTooLate = pair.first === 'cancel' && pair.second === 'message';
    await expect(second).rejects.toMatchObject(
      isTooLate ? { refusal: 'no_active_prompt' } : { message: expect.stringMatching(COLLISION) },
    );
    t.session.cancelBefore(9, STOP);
    await first;
    expect(using(t)).toHaveLength(1);
  });

  it.each(PAIRS)('of a $first is refused for a $second when that is on disk', async (pair) => {
    const { t, gateId } = await asking();
    const first = pair.send(t, gateId);
    await t.session.receipt(RECEIPT);
    const before = using(t);
    expect(before).toHaveLength(1);
    const isTooLate = pair.second === 'message' && pair.first !== 'item of the queue';
    await expect(pair.sendOther(t, gateId)).rejects.toMatchObject(
      isTooLate ? {} : { message: expect.stringMatching(COLLISION) },
    );
    t.session.cancelBefore(9, STOP);
    await first;
    expect(using(t)).toEqual(before);
  });

  it('of a prompt that was taken back is answered, not run, while that is on its way', async () => {
    const { t } = await asking();
    const first = t.prompt('hello', 2, X);
    const taken = t.session.entries.withdraw(X, { actor: OWNER, agency: 'user' });
    const again = t.prompt('hello', 3, X);
    expect(await taken).toBe('withdrawn');
    expect((await first).turnId).toBeNull();
    expect((await again).turnId).toBeNull();
    expect((await t.prompt('hello', 4, X)).turnId).toBeNull();
    expect(using(t)).toEqual(['user_input']);
    t.session.cancelBefore(9, STOP);
  });
});

const COLLISION = /used before with another/;

const RECEIPT = {
  session_id: 's1',
  control_id: 'r',
  method: 'session/set_mode',
  outcome: 'accepted',
  status: 'accepted',
  actor: OWNER,
  target: {},
  metadata: {},
} as const;
