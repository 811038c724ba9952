import { describe, expect, it } from 'vitest';
import { complaintsAbout, LOOP_RULES } from '../../support/soak/checker/check.ts';
import type { Evidence } from '../../support/soak/checker/evidence.ts';
import { evidenceOf, Story } from '../../support/soak/checker/story.ts';

const began = (turnId: string, commandId: string) =>
  ({ type: 'turn_started', turnId, commandId, content: [] }) as const;
const ended = (turnId: string) => ({ type: 'turn_ended', turnId }) as const;
const call = (toolCallId: string, mark: string) =>
  ({
    type: 'tool_proposed',
    turnId: 't1',
    toolCallId,
    name: 'run',
    input: { command: `echo ${mark} >> marks` },
  }) as const;
const startedCall = (toolCallId: string) =>
  ({ type: 'tool_started', turnId: 't1', toolCallId }) as const;
const result = (toolCallId: string, status: string) =>
  ({ type: 'tool_ended', turnId: 't1', toolCallId, result: { toolCallId, status } }) as const;

/** A session with a bit of everything, and nothing wrong with it. */
function good(): Story {
  return new Story('s')
    .history({ type: 'session_created' })
    .because('p1')
    .issued('user_input', 'p1')
    .history(began('t1', 'p1'), call('c1', 'm1'), startedCall('c1'), result('c1', 'completed'))
    .because('p1', 'i1')
    .issued('inject', 'i1', { message_id: 'x1', blocks: ['hold'] })
    .history({ type: 'inject_delivered', turnId: 't1', messageId: 'x1' })
    .history({ type: 'gate_opened', turnId: 't1', gateId: 'g1' })
    .issued('approve_tool_call', 'a1', { gate_id: 'g1' })
    .history({ type: 'gate_resolved', turnId: 't1', gateId: 'g1' })
    .resolved('i1', 'folded')
    .history(
      { type: 'message_delta', turnId: 't1', messageId: 'y', kind: 'text', offset: 0, text: 'ab' },
      { type: 'message_delta', turnId: 't1', messageId: 'y', kind: 'text', offset: 2, text: 'c' },
    )
    .history({ type: 'process_started', processId: 'b1' })
    .history({ type: 'delegate_started', turnId: 't1', requestId: 'r1', loopId: 'child' })
    .issued('subagent_result', 'r1/result', { request_id: 'r1' })
    .history({ type: 'delegate_ended', requestId: 'r1' })
    .history(ended('t1'))
    .resolved('p1', 'started')
    .because()
    .issued('user_input', 'p2')
    .control({ type: 'session_restored', interruptedTurnId: null })
    .history({ type: 'process_ended', processId: 'b1' })
    .resolved('p2', 'held')
    .control({ type: 'queue_changed', change: { kind: 'added', itemId: 'p2', content: ['x'] } });
}

function child(parentId = 's'): Story {
  return new Story('child').history({
    type: 'session_created',
    delegate: { rootId: 's', parentId, requestId: 'r1' },
  });
}

const MARKS: Partial<Evidence> = { markers: ['m1'] };

function rulesBroken(
  doctored: Story,
  more: Partial<Evidence> = {},
  loops: readonly Story[] = [child()],
): readonly string[] {
  const complaints = complaintsAbout(evidenceOf([doctored, ...loops], { ...MARKS, ...more }));
  return [...new Set(complaints.map(({ rule }) => rule))];
}

/** What is wrong, the rule that has to see it, and the evidence that holds it. */
type Doctored = readonly [what: string, rule: string, broken: () => readonly string[]];

const DOCTORED: readonly Doctored[] = [
  [
    'a broken chain',
    'chainsAreWhole',
    () => {
      const evidence = evidenceOf([good(), child()], MARKS);
      const loops = evidence.loops.map((loop) => ({ ...loop, broken: ['record 3'] }));
      return complaintsAbout({ ...evidence, loops }).map(({ rule }) => rule);
    },
  ],
  ['one id for two bodies', 'idsAreUnique', () => rulesBroken(good().issued('cancel', 'p1'))],
  ['a command issued twice', 'idsAreUnique', () => rulesBroken(good().issued('user_input', 'p1'))],
  ['a second resolution', 'resolvedOnce', () => rulesBroken(good().resolved('p1', 'cancelled'))],
  ['a resolution of nothing', 'resolvedOnce', () => rulesBroken(good().resolved('p9', 'no_op'))],
  [
    'a prompt that began twice',
    'promptsBeginOnce',
    () => rulesBroken(good().because('p1').history(began('t2', 'p1'), ended('t2'))),
  ],
  [
    'a turn without a command',
    'promptsBeginOnce',
    () => rulesBroken(good().history(began('t2', 'p9'), ended('t2'))),
  ],
  [
    'a cancelled prompt that began',
    'promptsBeginOnce',
    () =>
      rulesBroken(
        good()
          .because('p3')
          .issued('user_input', 'p3')
          .history(began('t3', 'p3'), ended('t3'))
          .resolved('p3', 'cancelled'),
      ),
  ],
  [
    'a message delivered twice',
    'messagesEndOnce',
    () =>
      rulesBroken(
        good().because('p1').history({ type: 'inject_delivered', turnId: 't1', messageId: 'x1' }),
      ),
  ],
  [
    'a message delivered and taken back',
    'messagesEndOnce',
    () => rulesBroken(good().control({ type: 'inject_revoked', messageId: 'x1', why: 'revoked' })),
  ],
  [
    'a held prompt that is nowhere',
    'heldIsKept',
    () => rulesBroken(good().issued('user_input', 'p3').resolved('p3', 'held')),
  ],
  [
    'a held message without its text',
    'heldIsKept',
    () =>
      rulesBroken(
        good()
          .issued('inject', 'i2', { message_id: 'x2', blocks: ['gone'] })
          .control({ type: 'inject_revoked', messageId: 'x2', why: 'held' }),
      ),
  ],
  [
    'an item sent twice',
    'heldIsKept',
    () =>
      rulesBroken(
        good().control(
          { type: 'queue_changed', change: { kind: 'sent', itemId: 'p2' } },
          { type: 'queue_changed', change: { kind: 'sent', itemId: 'p2' } },
        ),
      ),
  ],
  ['a lost prompt', 'nothingIsLost', () => rulesBroken(good().issued('user_input', 'p3'))],
  [
    'a lost message',
    'nothingIsLost',
    () => rulesBroken(good().issued('inject', 'i2', { message_id: 'x2' })),
  ],
  [
    'a lost answer',
    'nothingIsLost',
    () => rulesBroken(good().issued('deny_tool_call', 'a2', { gate_id: 'g2' })),
  ],
  ['a lost cancel', 'nothingIsLost', () => rulesBroken(good().issued('cancel', 'k2'))],
  ['a lost compaction', 'nothingIsLost', () => rulesBroken(good().issued('compact', 'k2'))],
  [
    'a hand-back that was read twice',
    'machineInputIsReadOnce',
    () =>
      rulesBroken(
        good()
          .because('r1/result')
          .history(
            { type: 'machine_message', turnId: null },
            { type: 'machine_message', turnId: null },
          ),
      ),
  ],
  [
    'a call that ran twice',
    'callsRunOnce',
    () => rulesBroken(good().because('p1').history(startedCall('c1'))),
  ],
  [
    'a result without a start',
    'outcomesAreHonest',
    () => rulesBroken(good().because('p1').history(call('c2', 'm2'), result('c2', 'completed'))),
  ],
  [
    'a call without a result',
    'outcomesAreHonest',
    () => rulesBroken(good().because('p1').history(call('c2', 'm2'), startedCall('c2'))),
  ],
  ['a line written twice', 'marksAreUnique', () => rulesBroken(good(), { markers: ['m1', 'm1'] })],
  [
    'an effect before its record',
    'marksAreJournaled',
    () =>
      rulesBroken(good().because('p1').history(call('c2', 'm2'), result('c2', 'cancelled')), {
        markers: ['m1', 'm2'],
      }),
  ],
  [
    'a completed call without its effect',
    'marksAreJournaled',
    () => rulesBroken(good(), { markers: [] }),
  ],
  [
    'a turn inside another',
    'turnsFollow',
    () =>
      rulesBroken(
        good()
          .because('p3')
          .issued('user_input', 'p3')
          .history(began('t3', 'p3'), began('t4', 'p3')),
      ),
  ],
  [
    'a turn that never ended',
    'turnsFollow',
    () => rulesBroken(good().because('p3').issued('user_input', 'p3').history(began('t3', 'p3'))),
  ],
  [
    'a question answered twice',
    'gatesResolveOnce',
    () =>
      rulesBroken(
        good().because('p1').history({ type: 'gate_resolved', turnId: 't1', gateId: 'g1' }),
      ),
  ],
  [
    'a question that outlived its turn',
    'gatesResolveOnce',
    () =>
      rulesBroken(
        good().because('p1').history({ type: 'gate_opened', turnId: 't1', gateId: 'g2' }),
      ),
  ],
  [
    'a parked turn that asks nothing',
    'onlyQuestionsPark',
    () =>
      rulesBroken(
        good().control({ type: 'session_restored', interruptedTurnId: null, parkedTurnId: 't9' }),
      ),
  ],
  [
    'an interrupted turn that is not sealed',
    'onlyQuestionsPark',
    () => rulesBroken(good().control({ type: 'session_restored', interruptedTurnId: 't9' })),
  ],
  [
    'a gap in a text',
    'textIsWhole',
    () =>
      rulesBroken(
        good().because('p1').history({
          type: 'message_delta',
          turnId: 't1',
          messageId: 'y',
          kind: 'text',
          offset: 9,
          text: 'd',
        }),
      ),
  ],
  [
    'a process without an end',
    'processesEndOnce',
    () =>
      rulesBroken(
        good()
          .history({ type: 'process_started', processId: 'b2' })
          .control({ type: 'session_restored', interruptedTurnId: null }),
      ),
  ],
  [
    'a second hand-back',
    'handedBackOnce',
    () => rulesBroken(good().issued('subagent_result', 'r1/again', { request_id: 'r1' })),
  ],
  [
    'a missing hand-back',
    'handedBackOnce',
    () =>
      rulesBroken(
        good()
          .because('p1')
          .history({ type: 'delegate_started', turnId: 't1', requestId: 'r2', loopId: 'child' }),
      ),
  ],
  [
    'a loop of nobody that works',
    'loopsHaveParents',
    () => rulesBroken(good(), {}, [child('nobody').because('r1').issued('user_input', 'r1')]),
  ],
  [
    'an event without a cause',
    'causesAreIssued',
    () => rulesBroken(good().because().history({ type: 'plan_changed', turnId: 't1' })),
  ],
  [
    'an event with a cause that is none',
    'causesAreIssued',
    () => rulesBroken(good().because('p9').history({ type: 'notice' })),
  ],
  [
    'an event that was told and lost',
    'toldIsKept',
    () => rulesBroken(good(), { told: [{ sessionId: 's', eventId: 99 }] }),
  ],
  [
    'an event that was told with another hash',
    'toldIsKept',
    () => rulesBroken(good(), { told: [{ sessionId: 's', eventId: 2, hash: 'other' }] }),
  ],
  [
    'an event that was told of another call',
    'toldIsKept',
    () => rulesBroken(good(), { told: [{ sessionId: 's', eventId: 3, toolCallId: 'c9' }] }),
  ],
  [
    'an accepted prompt that is not there',
    'acceptedIsIssued',
    () =>
      rulesBroken(good(), {
        sent: [{ sessionId: 's', commandId: 'p9', kind: 'prompt', answer: 'ok' }],
      }),
  ],
  [
    'a session that is gone',
    'sessionsAreKept',
    () => rulesBroken(good(), { told: [{ sessionId: 'other', eventId: 1 }] }),
  ],
  ['a process that lives on', 'nothingIsOrphaned', () => rulesBroken(good(), { alive: ['77'] })],
];

describe('the checker of journals', () => {
  it('has nothing to say about a good one', () => {
    const told = [{ sessionId: 's', eventId: 3, hash: 's/3', toolCallId: 'c1' }];
    const sent = [{ sessionId: 's', commandId: 'p1', kind: 'prompt', answer: 'ok' }] as const;
    expect(complaintsAbout(evidenceOf([good(), child()], { ...MARKS, told, sent }))).toEqual([]);
  });

  it.each(DOCTORED)('sees %s', (_what, rule, broken) => {
    expect(broken()).toContain(rule);
  });

  it('has a doctored journal for each of its rules', () => {
    const seen = new Set(DOCTORED.map(([, rule]) => rule));
    expect(Object.keys(LOOP_RULES).filter((rule) => !seen.has(rule))).toEqual([]);
  });
});
