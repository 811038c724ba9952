import { describe, expect, it } from 'vitest';
import type { HistoryEvent } from '../../../../../src/core/session/events.ts';
import type { NewRecord } from '../../../../../src/core/session/ports.ts';
import { aTool, OWNER, ok } from '../../../../support/engine/a-session.ts';
import {
  type DelegateRig,
  delegateRig,
  MortalJournal,
} from '../../../../support/engine/delegate-rig.ts';

type Ended = Extract<HistoryEvent, { type: 'delegate_ended' }>;

function endings(rig: DelegateRig, loopId?: string): readonly string[] {
  return rig
    .history(loopId)
    .filter((event): event is Ended => event.type === 'delegate_ended')
    .map(({ outcome, text }) => `${outcome}: ${text}`);
}

function is(type: string, where: (record: NewRecord) => boolean = () => true) {
  return (record: NewRecord): boolean => record.event.type === type && where(record);
}

/** The end of a delegate's turn, not the root loop's: only the root's prompts are a person's. */
const endOfChild = (record: NewRecord): boolean =>
  record.event.type === 'turn_ended' &&
  record.cause?.command_ids.some((id) => !String(id).startsWith('prompt')) === true;

const beginningOfChild = (record: NewRecord): boolean =>
  record.event.type === 'turn_started' && !String(record.event.commandId).startsWith('prompt');

async function killed(
  script: string,
  when: 'before' | 'after',
  at: (record: NewRecord) => boolean,
): Promise<DelegateRig> {
  const journal = new MortalJournal();
  const rig = await delegateRig({ journal, tools: [aTool('look', () => ok('seen'))] });
  journal.deathAt = { when, at };
  void rig.prompt(script);
  await journal.died;
  return rig;
}

const BROKE_OFF = 'It broke off: the program that ran it ended.';
const NEVER_BEGAN = 'interrupted: It never began: the program that ran it ended before.';

describe.each(['delegate', 'delegate in background'])(
  'a process that dies while %s works',
  (verb) => {
    const script = `${verb}: ${JSON.stringify('say half\ncall look\nfinish with whole')}\nfinish with done`;

    it.each([
      ['before the request is on disk', 'before', is('delegate_started'), []],
      ['before the delegate hears of it', 'after', is('delegate_started'), [NEVER_BEGAN]],
      ['before its turn began', 'before', beginningOfChild, [NEVER_BEGAN]],
      [
        'in its middle',
        'before',
        is('tool_started', ({ event }) => JSON.stringify(event).includes('_2_1')),
        [`interrupted: half\n[${BROKE_OFF}]`],
      ],
      ['before its end', 'before', endOfChild, [`interrupted: whole\n[${BROKE_OFF}]`]],
      ['after its end, before the parent knew', 'after', endOfChild, ['completed: whole']],
      ['before the hand-back', 'before', is('delegate_ended'), ['completed: whole']],
      ['after the hand-back', 'after', is('delegate_ended'), ['completed: whole']],
    ] as const)('hands back exactly once: %s', async (_name, when, at, expected) => {
      const rig = await killed(script, when, at);
      const after = await rig.restart();
      expect(endings(after)).toEqual(expected);
      const again = await after.restart();
      expect(endings(again)).toEqual(expected);
      expect(again.hosted.session.isActive).toBe(false);
      for (const loop of again.loops()) {
        const types = again.history(loop.loopId).map(({ type }) => type);
        const count = (type: string): number => types.filter((each) => each === type).length;
        expect(count('turn_started')).toBe(count('turn_ended'));
      }
    });
  },
);

describe('after a restart', () => {
  it('the next turn reads what was handed back, once', async () => {
    const script = 'delegate: finish with whole\nfinish with done';
    const rig = await killed(script, 'after', endOfChild);
    const after = await rig.restart();
    const read = (): readonly HistoryEvent[] =>
      after.history().filter(({ type }) => type === 'machine_message');
    expect(read()).toEqual([]);
    await after.prompt('finish with one');
    await after.prompt('finish with two');
    expect(read()).toMatchObject([{ text: expect.stringContaining('has done its task') }]);
  });

  it('a call that was handed its result before the crash has it', async () => {
    const rig = await killed('delegate: finish with whole', 'after', is('delegate_ended'));
    const after = await rig.restart();
    const [call] = after.history().filter((event) => event.type === 'tool_ended');
    expect(call).toMatchObject({
      result: { status: 'completed', parts: [{ type: 'text', text: 'whole' }] },
    });
    const unknown = await killed('delegate: finish with whole', 'before', is('delegate_ended'));
    const [broken] = (await unknown.restart())
      .history()
      .filter(({ type }) => type === 'tool_ended');
    expect(broken).toMatchObject({ result: { status: 'outcome_unknown' } });
  });

  it('requests of delegates of delegates are handed back deepest first', async () => {
    const deep = 'delegate: finish with deep';
    const rig = await killed(
      `delegate: ${JSON.stringify(deep)}`,
      'after',
      (record) =>
        record.event.type === 'turn_started' &&
        JSON.stringify(record.event.content).includes('"finish with deep'),
    );
    const after = await rig.restart();
    const [root, child] = after.loops();
    expect(endings(after, child?.loopId)).toEqual([`interrupted: ${BROKE_OFF}`]);
    expect(endings(after, root?.loopId)).toEqual([`interrupted: ${BROKE_OFF}`]);
    const order = [...after.journal.records.keys()];
    expect(order).toHaveLength(3);
  });

  it('a delegate that was asked something is not left waiting for the answer', async () => {
    const rig = await killed('delegate: ask Which one?', 'after', is('gate_opened'));
    const after = await rig.restart();
    expect(after.hosted.openGates()).toEqual([]);
    expect(endings(after)).toEqual([`interrupted: ${BROKE_OFF}`]);
    expect(after.loops()[1]?.state).toBe('idle');
  });

  it('a delegate can be given more to do, and remembers what it did', async () => {
    const rig = await delegateRig();
    await rig.prompt('delegate: finish with one');
    const loopId = rig.loops()[1]?.loopId ?? '';
    const after = await rig.restart();
    await after.prompt(
      `call delegate_message with {"loop_id": "${loopId}", "text": "finish with two"}`,
    );
    await after.until(() => endings(after).length === 2);
    expect(endings(after)).toEqual(['completed: one', 'completed: two']);
    const session = await after.hosted.delegates.loop(loopId);
    expect(session?.conversation.messages).toHaveLength(4);
  });

  it('a delegate whose streams are gone is closed, and its request is handed back', async () => {
    const rig = await killed('delegate: finish with whole', 'after', is('delegate_started'));
    const journal = rig.journal.left();
    const [, loopId = rig.hosted.sessionId] = journal.records.keys();
    journal.records.delete(loopId);
    const after = await delegateRig({ journal, restore: rig.hosted.sessionId });
    expect(after.loops()[1]).toMatchObject({ loopId, state: 'closed' });
    expect(endings(after)).toEqual([NEVER_BEGAN]);
    const input = JSON.stringify({ loop_id: loopId, text: 'say hello' });
    await after.prompt(`call delegate_message with ${input}`);
    expect(JSON.stringify(after.history())).toContain("can't be reached any more");
  });
});

const LOOK = aTool('look', () => ok('seen'));

/** Delegates side by side and below each other, one that is steered, and one that is given more. */
const BUSY = [
  `delegate in background: ${JSON.stringify('delegate in background: finish with a\ndelegate: finish with b\nfinish with c')}`,
  `delegate: ${JSON.stringify('call look\nask Which one?\nfinish with d')}`,
  'delegate: say e',
  'finish with f',
].join('\n');

async function playedBusy(rig: DelegateRig): Promise<void> {
  const outcome = rig.prompt(BUSY);
  await rig.until(() => rig.hosted.openGates().length > 0);
  const [gate] = rig.hosted.openGates();
  if (gate === undefined) return;
  await rig.hosted.answerGate(
    gate.gateId,
    { kind: 'accepted', content: { answer: 'this' } },
    OWNER,
  );
  await outcome;
  await rig.until(() => !rig.hosted.describe().activePrompt);
  const loopId = rig.loops()[1]?.loopId ?? '';
  await rig.hosted.delegates.message(loopId, 'finish with g', { actor: OWNER, agency: 'user' });
  await rig.until(() => !rig.hosted.describe().activePrompt);
}

function problems(rig: DelegateRig): readonly string[] {
  return rig.loops().flatMap(({ loopId, state }) => {
    const history = rig.history(loopId);
    const started = history.flatMap((event) =>
      event.type === 'delegate_started' ? [event.requestId] : [],
    );
    const ended = history.flatMap((event) =>
      event.type === 'delegate_ended' ? [event.requestId] : [],
    );
    const count = (type: string): number => history.filter((event) => event.type === type).length;
    return [
      ...(JSON.stringify(started.toSorted()) === JSON.stringify(ended.toSorted())
        ? []
        : [`${loopId}: started ${started.join()}, ended ${ended.join()}`]),
      ...(count('turn_started') === count('turn_ended') ? [] : [`${loopId}: an open turn`]),
      ...(count('tool_proposed') <= count('tool_ended') ? [] : [`${loopId}: an open call`]),
      ...(state === 'idle' || state === 'closed' ? [] : [`${loopId}: ${state}`]),
    ];
  });
}

describe('a process that dies at any append of busy delegates', () => {
  it('has handed back every request exactly once after two restarts', async () => {
    let appends = 0;
    const counting = new MortalJournal();
    const whole = await delegateRig({ journal: counting, tools: [LOOK] });
    const append = counting.append.bind(counting);
    counting.append = (sessionId, records) => {
      appends += 1;
      return append(sessionId, records);
    };
    await playedBusy(whole);
    expect(problems(whole)).toEqual([]);
    expect(endings(whole).toSorted()).toEqual([
      'completed: Done: 1 steps, 0 failed.',
      'completed: c',
      'completed: d',
      'completed: g',
    ]);
    expect(appends).toBeGreaterThan(50);
    for (let nth = 1; nth < appends; nth += 1) {
      const journal = new MortalJournal();
      const rig = await delegateRig({ journal, tools: [LOOK] });
      let left = nth;
      const when = nth % 2 === 0 ? 'before' : 'after';
      const dying = journal.append.bind(journal);
      journal.append = (sessionId, records) => {
        left -= 1;
        if (left === 0) journal.deathAt = { when, at: () => true };
        return dying(sessionId, records);
      };
      void playedBusy(rig).catch(() => undefined);
      await journal.died;
      const once = await rig.restart();
      const twice = await once.restart();
      expect([nth, problems(twice)]).toEqual([nth, []]);
    }
  }, 60_000);
});
