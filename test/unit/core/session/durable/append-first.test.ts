import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Deferred } from '../../../../../src/base/deferred.ts';
import type { SessionSignal } from '../../../../../src/core/session/events.ts';
import type { NewRecord, StoredRecord } from '../../../../../src/core/session/ports.ts';
import type { CommandId } from '../../../../../src/core/session/words.ts';
import {
  aSession,
  aTool,
  OWNER,
  ok,
  type TestSession,
} from '../../../../support/engine/a-session.ts';
import { calls, ScriptedModel, says } from '../../../../support/engine/scripted-model.ts';

type Kept = Extract<SessionSignal, { stream: 'history' | 'control' }>;

/** What was told of what is kept, in the order of its telling. */
function told(t: TestSession): Kept[] {
  return t.signals.filter(
    (signal): signal is Kept => signal.stream === 'history' || signal.stream === 'control',
  );
}

function stored(t: TestSession): readonly StoredRecord[] {
  return t.journal.records.get(t.session.sessionId) ?? [];
}

/** A turn with a question, calls, a message in the middle and an answer. */
async function busy(): Promise<TestSession> {
  const t = await aSession({
    model: new ScriptedModel(
      calls(['w', { path: 'a' }], ['w', { path: 'b' }]),
      says('one ', 'two'),
      says('three'),
    ),
    tools: [
      aTool('w', ({ output }) => {
        output('working');
        return ok('x');
      }),
    ],
    decide: () => ({ decision: 'ask', reason: '', details: [], remember: [] }),
  });
  t.session.subscribe((signal) => {
    if (signal.stream !== 'history' || signal.record.event.type !== 'gate_opened') return;
    const { gateId } = signal.record.event;
    t.answer(gateId, { kind: 'selected', optionId: 'allow_once' }).catch(() => undefined);
    const steer = { mode: 'steer', content: [{ type: 'text', text: 's' }], actor: OWNER } as const;
    t.session.entries.inject(steer).catch(() => undefined);
  });
  return t;
}

/** One append fails, behind the first `allowed` ones; the disk is fine again right after it. */
function failAfter(t: TestSession, allowed: number): void {
  const append = t.journal.append.bind(t.journal);
  let left = allowed;
  t.journal.append = async (sessionId, records) => {
    left -= 1;
    if (left === -1) throw new Error('disk full');
    return append(sessionId, records);
  };
}

describe('what is kept', () => {
  it('is told only once it is stored, all of it, in the order of the store, however slow that is', async () => {
    const t = await busy();
    const append = t.journal.append.bind(t.journal);
    t.journal.append = async (sessionId, records) => {
      const kept = await append(sessionId, records);
      // Each takes its own time to answer.
      for (let wait = 0; wait < 40 % (3 * records.length); wait += 1) await Promise.resolve();
      return kept;
    };
    const early: string[] = [];
    t.session.subscribe((signal) => {
      if (signal.stream !== 'history' && signal.stream !== 'control') return;
      const isStored = stored(t).some(({ record }) => record === signal.record);
      if (!isStored) early.push(signal.record.event.type);
    });
    await t.prompt('go');
    expect(early).toEqual([]);
    const [created, ...rest] = stored(t);
    expect(created?.record.event.type).toBe('session_created');
    expect(told(t).map(({ record }) => record)).toEqual(rest.map(({ record }) => record));
  });

  it('is not told while the disk is slow, and nothing comes of it', async () => {
    const t = await busy();
    const disk = new Deferred<void>();
    t.journal.gate = disk.promise;
    const outcome = t.prompt('go');
    for (let tick = 0; tick < 50; tick += 1) await Promise.resolve();
    expect(told(t)).toEqual([]);
    expect(stored(t)).toHaveLength(1);
    disk.resolve();
    await outcome;
    expect(told(t).length).toBeGreaterThan(10);
  });

  it('holds nothing that is only told', async () => {
    const t = await busy();
    const ephemeral = new Set<string>();
    t.session.subscribe((signal) => {
      if (signal.stream === 'ephemeral') ephemeral.add(signal.event.type);
    });
    await t.prompt('go');
    expect([...ephemeral].sort()).toEqual(
      expect.arrayContaining(['activity_changed', 'seam_passed', 'tool_output']),
    );
    const kept = new Set(stored(t).map(({ record }) => record.event.type as string));
    expect([...ephemeral].filter((type) => kept.has(type))).toEqual([]);
  });
});

describe('that a session works or rests', () => {
  it('is told behind the records that make it so, once for each turn', async () => {
    const t = await busy();
    const order: string[] = [];
    let active = false;
    t.session.subscribe((signal) => {
      if (signal.stream === 'history' && signal.record.event.type.startsWith('turn_'))
        order.push(signal.record.event.type);
      if (signal.stream !== 'ephemeral' || signal.event.type !== 'activity_changed') return;
      if (signal.event.activePrompt === active) return;
      active = signal.event.activePrompt;
      order.push(active ? 'works' : 'rests');
    });
    await Promise.all([t.prompt('go', 1), t.prompt('then', 2)]);
    // It works as soon as a prompt is taken, and rests when nothing of it is left to be stored.
    expect(order).toEqual([
      'works',
      'turn_started',
      'turn_ended',
      'turn_started',
      'turn_ended',
      'rests',
    ]);
  });
});

describe('an append that fails', () => {
  it('tells nothing of what it held, whichever it is, and latches its session with what went wrong', async () => {
    const whole = await busy();
    let appends = 0;
    const append = whole.journal.append.bind(whole.journal);
    whole.journal.append = (sessionId, records) => {
      appends += 1;
      return append(sessionId, records);
    };
    await whole.prompt('go');
    expect(appends).toBeGreaterThan(10);
    await fc.assert(
      fc.asyncProperty(fc.nat(appends - 1), async (allowed) => {
        const t = await busy();
        failAfter(t, allowed);
        await expect(t.prompt('go')).rejects.toThrow('disk full');
        expect(told(t).map(({ record }) => record)).toEqual(
          stored(t)
            .slice(1)
            .map(({ record }) => record),
        );
        const before = told(t).length;
        await expect(t.prompt('more', 9, 'more')).rejects.toThrow('disk full');
        const origin = { actor: OWNER, agency: 'user' } as const;
        await expect(t.session.entries.withdraw('x' as CommandId, origin)).rejects.toThrow(
          'disk full',
        );
        await expect(t.session.entries.compact(origin)).rejects.toThrow('disk full');
        // It can still be stopped and closed.
        t.session.cancelBefore(99, { kind: 'cancelled', by: 'test' });
        await t.session.close({ kind: 'closed', why: 'session_closed' }, OWNER);
        expect(told(t)).toHaveLength(before);
        expect(stored(t)).toHaveLength(before + 1);
        expect(t.session.isActive).toBe(false);
      }),
      { numRuns: 60 },
    );
  });

  it('of a text that was streamed keeps none of the text behind it', async () => {
    const t = await aSession({ model: new ScriptedModel(says('one', 'two')) });
    const append = t.journal.append.bind(t.journal);
    const isText = ({ type }: NewRecord['event']): boolean =>
      type === 'model_replied' || type === 'message_delta';
    t.journal.append = async (sessionId, records) => {
      if (records.some(({ event }) => isText(event))) throw new Error('disk full');
      return append(sessionId, records);
    };
    await expect(t.prompt('go')).rejects.toThrow('disk full');
    expect(stored(t).filter(({ record }) => isText(record.event))).toEqual([]);
    t.journal.append = append;
    const again = await t.restart();
    expect(again.types().at(-1)).toBe('turn_ended');
    expect(JSON.stringify(again.session.conversation.messages)).not.toContain('one');
  });

  it('leaves the other sessions alone', async () => {
    const one = await busy();
    const two = await busy();
    failAfter(one, 3);
    await expect(one.prompt('go')).rejects.toThrow('disk full');
    expect((await two.prompt('go')).terminal.kind).toBe('natural');
  });
});

describe('a command that can not be recorded', () => {
  it('is not delivered: no turn, no message, no answer', async () => {
    const t = await busy();
    failAfter(t, 0);
    await expect(t.prompt('go')).rejects.toThrow('disk full');
    expect(stored(t)).toHaveLength(1);
    const again = await t.restart({ model: new ScriptedModel(says('done')) });
    expect(again.session.entries.nextTurns().items).toEqual([]);
    expect(again.session.isActive).toBe(false);
  });
});
