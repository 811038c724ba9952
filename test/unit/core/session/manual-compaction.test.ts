import { describe, expect, it } from 'vitest';
import { Deferred } from '../../../../src/base/deferred.ts';
import type { ControlEvent } from '../../../../src/core/session/control-events.ts';
import type { EphemeralEvent } from '../../../../src/core/session/ephemeral-events.ts';
import type { HistoryEvent } from '../../../../src/core/session/events.ts';
import { ModelError, type ModelRequest } from '../../../../src/core/session/model.ts';
import { SUMMARY_SYSTEM } from '../../../../src/core/session/side/summary-prompt.ts';
import type { CommandId } from '../../../../src/core/session/words.ts';
import { aSession, aTool, OWNER, ok, type TestSession } from '../../../support/engine/a-session.ts';
import {
  calls,
  fails,
  type Reply,
  ScriptedModel,
  says,
  streamsForever,
} from '../../../support/engine/scripted-model.ts';

const STOP = { kind: 'cancelled', by: 'test' } as const;
const CLOSE = { kind: 'closed', why: 'session_closed' } as const;
const LONG = says('long '.repeat(100));
const SUMMARY = says('THE SUMMARY');
const broken = fails(new ModelError('model.overloaded', 'Busy', { source: 'scripted' }));

function origin(commandId?: string) {
  const id = commandId === undefined ? {} : { commandId: commandId as CommandId };
  return { actor: OWNER, agency: 'user', ...id } as const;
}

/** An idle session with two turns behind it. */
async function talked(...replies: readonly Reply[]) {
  const model = new ScriptedModel(LONG, says('short'), ...replies);
  const t = await aSession({ model });
  await t.prompt('first, with a lot to say');
  await t.prompt('second');
  return { t, model };
}

/** An idle session whose summary is being written until it is stopped. */
async function compacting(...after: readonly Reply[]) {
  const asked = new Deferred<void>();
  const hangs = streamsForever('', () => asked.resolve());
  const { t, model } = await talked(hangs, ...after);
  const outcome = t.session.entries.compact(origin('k1'));
  await asked.promise;
  return { t, model, outcome };
}

function ends(t: TestSession): readonly HistoryEvent[] {
  return t.history().filter(({ type }) => type === 'compacted' || type === 'compaction_rejected');
}

function control(t: TestSession): readonly ControlEvent[] {
  const stored = t.journal.records.get(t.session.sessionId) ?? [];
  return stored.flatMap((one) => (one.stream === 'control' ? [one.record.event] : []));
}

function resolutions(t: TestSession): readonly string[] {
  const ids = control(t).flatMap((event) =>
    event.type === 'command_issued' && event.command.type === 'compact'
      ? [event.command.command_id]
      : [],
  );
  return control(t).flatMap((event) =>
    event.type === 'command_resolved' && ids.includes(event.commandId)
      ? [`${event.commandId} ${event.resolution} ${event.reason ?? ''}`.trim()]
      : [],
  );
}

function begun(t: TestSession): readonly EphemeralEvent[] {
  return t.signals.flatMap((signal) =>
    signal.stream === 'ephemeral' && signal.event.type === 'compaction_started'
      ? [signal.event]
      : [],
  );
}

function isSummary({ system }: ModelRequest): boolean {
  return system === SUMMARY_SYSTEM;
}

function texts(t: TestSession): string {
  return JSON.stringify(t.session.conversation.messages);
}

describe('a compaction that somebody asks for while nothing runs', () => {
  it('is done at once with the session’s model, and the next turn goes on from the summary', async () => {
    const { t, model } = await talked(SUMMARY, says('third'));
    const outcome = await t.session.entries.compact(origin('k1'));
    expect(outcome).toEqual({ kind: 'compacted', beforeMessageCount: 4, afterMessageCount: 3 });
    expect(ends(t)).toMatchObject([
      { type: 'compacted', turnId: null, trigger: 'manual', summary: 'THE SUMMARY' },
    ]);
    expect(begun(t)).toMatchObject([{ turnId: null, trigger: 'manual' }]);
    expect(resolutions(t)).toEqual(['k1 applied']);
    expect(model.requests.at(-1)).toMatchObject({ system: SUMMARY_SYSTEM, tools: [] });
    await t.prompt('third');
    const last = model.requests.at(-1)?.messages ?? [];
    expect(JSON.stringify(last[0])).toContain('<objective>\\nsecond\\n</objective>');
    expect(JSON.stringify(last)).not.toContain('first, with');
  });

  it('is the same when it is folded anew', async () => {
    const { t } = await talked(SUMMARY);
    await t.session.entries.compact(origin());
    const again = await t.restart();
    expect(again.session.conversation.messages).toEqual(t.session.conversation.messages);
  });

  it('keeps prompts waiting until it is done', async () => {
    const release = new Deferred<void>();
    const { t, model } = await talked(async function* (request, signal) {
      await release.promise;
      yield* SUMMARY(request, signal);
    }, says('third'));
    const outcome = t.session.entries.compact(origin());
    while (!model.requests.some(isSummary)) await new Promise((done) => setImmediate(done));
    const turn = t.prompt('third');
    await new Promise((done) => setImmediate(done));
    expect(model.requests.filter((request) => !isSummary(request))).toHaveLength(2);
    release.resolve();
    await Promise.all([outcome, turn]);
    const order = t.types().filter((type) => type === 'compacted' || type === 'turn_started');
    expect(order).toEqual(['turn_started', 'turn_started', 'compacted', 'turn_started']);
  });

  it('is refused where there is nothing to gain, and asks no model', async () => {
    const model = new ScriptedModel();
    const t = await aSession({ model });
    expect(await t.session.entries.compact(origin('k1'))).toMatchObject({
      kind: 'rejected',
      reason: 'nothing_to_gain',
    });
    expect(resolutions(t)).toEqual(['k1 rejected nothing_to_gain']);
    expect(model.requests).toEqual([]);
    expect(begun(t)).toEqual([]);
  });

  it.each([
    ['fails', broken, /Busy/],
    ['is empty', says(' '), /empty/],
  ])('leaves the conversation alone where the summary %s', async (_how, reply, message) => {
    const { t } = await talked(reply);
    const before = texts(t);
    expect(await t.session.entries.compact(origin('k1'))).toMatchObject({
      kind: 'rejected',
      reason: 'summary_failed',
      message: expect.stringMatching(message),
    });
    expect(texts(t)).toBe(before);
    expect(resolutions(t)).toEqual(['k1 rejected summary_failed']);
  });

  it('shares its outcome with whoever asks meanwhile, and each command ends once', async () => {
    const release = new Deferred<void>();
    const { t, model } = await talked(async function* (request, signal) {
      await release.promise;
      yield* SUMMARY(request, signal);
    });
    const asked = [
      t.session.entries.compact(origin('k1')),
      t.session.entries.compact(origin('k2')),
    ];
    while (!model.requests.some(isSummary)) await new Promise((done) => setImmediate(done));
    asked.push(t.session.entries.compact(origin('k3')), t.session.entries.compact(origin('k1')));
    release.resolve();
    const outcomes = await Promise.all(asked);
    expect(new Set(outcomes).size).toBe(1);
    expect(model.requests.filter(isSummary)).toHaveLength(1);
    expect(resolutions(t)).toEqual(['k1 applied', 'k2 applied', 'k3 applied']);
    const stored = t.journal.records.get(t.session.sessionId) ?? [];
    expect(stored.find(({ record }) => record.event.type === 'compacted')?.record.cause).toEqual({
      command_ids: ['k1', 'k2', 'k3'],
    });
  });

  it('asked again under its id gets the first outcome, also after a restart', async () => {
    const { t, model } = await talked(SUMMARY);
    const outcome = await t.session.entries.compact(origin('k1'));
    expect(await t.session.entries.compact(origin('k1'))).toEqual(outcome);
    expect(await (await t.restart()).session.entries.compact(origin('k1'))).toEqual(outcome);
    expect(model.requests.filter(isSummary)).toHaveLength(1);
    await expect(t.session.entries.compact(origin('c1'))).rejects.toMatchObject({
      code: 'session.command_collision',
    });
  });
});

describe('a compaction that somebody asks for while a turn runs', () => {
  /** A turn of three steps; `during` happens in its first call. */
  async function working(
    during: (t: TestSession) => void,
    ...replies: readonly Reply[]
  ): Promise<{ t: TestSession; model: ScriptedModel }> {
    const model = new ScriptedModel(...replies);
    let ran = false;
    const t: TestSession = await aSession({
      model,
      tools: [
        aTool('work', async () => {
          if (!ran) during(t);
          ran = true;
          return ok('result '.repeat(100));
        }),
      ],
    });
    return { t, model };
  }

  it('is done at its next boundary, with the seams around it and whole batches kept', async () => {
    let outcome: Promise<unknown> = Promise.resolve();
    const { t, model } = await working(
      (session) => {
        outcome = session.session.entries.compact(origin('k1'));
      },
      calls(['work', {}]),
      SUMMARY,
      says('end'),
    );
    expect((await t.prompt('go')).usage).toMatchObject({ inputTokens: 30 });
    expect(await outcome).toMatchObject({ kind: 'compacted' });
    const [compacted] = ends(t);
    expect(compacted).toMatchObject({ trigger: 'manual', turnId: expect.any(String) });
    const roles = model.requests.at(-1)?.messages.map(({ role }) => role) ?? [];
    expect(roles.filter((role) => role === 'tool')).toHaveLength(
      roles.filter((role) => role === 'assistant').length,
    );
    const seams = t.signals.flatMap((signal) =>
      signal.stream === 'ephemeral' && signal.event.type === 'seam_passed'
        ? [signal.event.seam]
        : [],
    );
    expect(seams).toEqual(expect.arrayContaining(['pre_compact', 'post_compact']));
  });

  it('is done when the turn is over where no boundary came', async () => {
    const model = new ScriptedModel(LONG);
    const t = await aSession({ model });
    await t.prompt('one');
    let outcome: Promise<unknown> = Promise.resolve();
    model.add(async function* (request, signal) {
      outcome = t.session.entries.compact(origin('k1'));
      yield* says('two')(request, signal);
    }, SUMMARY);
    await t.prompt('two');
    expect(await outcome).toMatchObject({ kind: 'compacted' });
    expect(ends(t)).toMatchObject([{ turnId: null }]);
    expect(t.types().indexOf('compacted')).toBeGreaterThan(t.types().lastIndexOf('turn_ended'));
  });

  it('is put off by an interrupt, and done at the boundary behind it', async () => {
    let outcome: Promise<unknown> = Promise.resolve();
    const asked = new Deferred<void>();
    const { t } = await working(
      (session) => {
        outcome = session.session.entries.compact(origin('k1'));
      },
      calls(['work', {}]),
      streamsForever('', () => asked.resolve()),
      SUMMARY,
      says('end'),
    );
    const turn = t.prompt('go');
    await asked.promise;
    await t.session.entries.inject({
      mode: 'interrupt_immediate',
      content: [{ type: 'text', text: 'wait' }],
      actor: OWNER,
    });
    expect((await turn).terminal.kind).toBe('natural');
    expect(await outcome).toMatchObject({ kind: 'compacted' });
    expect(ends(t)).toHaveLength(1);
    expect(texts(t)).toContain('wait');
  });

  it('ends with the turn on Stop, and nothing is compacted', async () => {
    let outcome: Promise<unknown> = Promise.resolve();
    const asked = new Deferred<void>();
    const { t } = await working(
      (session) => {
        outcome = session.session.entries.compact(origin('k1'));
      },
      calls(['work', {}]),
      streamsForever('', () => asked.resolve()),
    );
    const turn = t.prompt('go');
    await asked.promise;
    expect(t.session.cancelBefore(9, STOP)).toBe(true);
    expect((await turn).terminal.kind).toBe('user_cancelled');
    expect(await outcome).toMatchObject({ kind: 'rejected', reason: 'cancelled' });
    expect(ends(t)).toMatchObject([{ type: 'compaction_rejected', reason: 'cancelled' }]);
    expect(resolutions(t)).toEqual(['k1 cancelled cancelled']);
  });
});

describe('a compaction that goes on', () => {
  it('is ended by Stop at once, and the conversation is as it was', async () => {
    const { t, outcome, model } = await compacting(says('third'));
    const before = texts(t);
    expect(t.session.cancelBefore(9, STOP)).toBe(true);
    expect(await outcome).toMatchObject({ kind: 'rejected', reason: 'cancelled' });
    expect(texts(t)).toBe(before);
    expect(t.session.cancelBefore(10, STOP)).toBe(false);
    await t.prompt('third', 11);
    expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain('first, with');
  });

  it('takes background processes with it when Stop ends it', async () => {
    const asked = new Deferred<void>();
    const model = new ScriptedModel(
      LONG,
      says('short'),
      streamsForever('', () => asked.resolve()),
    );
    let killed = 0;
    const t = await aSession({
      model,
      stopAll: async () => {
        killed += 1;
      },
    });
    await t.prompt('first');
    await t.prompt('second');
    const outcome = t.session.entries.compact(origin());
    await asked.promise;
    t.session.cancelBefore(9, STOP);
    await outcome;
    expect(killed).toBe(1);
  });

  it('is ended by a close', async () => {
    const { t, outcome } = await compacting();
    await t.session.close(CLOSE, OWNER);
    expect(await outcome).toMatchObject({ kind: 'rejected', reason: 'shutting_down' });
    expect(await t.session.entries.compact(origin('k2'))).toMatchObject({
      reason: 'shutting_down',
    });
    expect(resolutions(t)).toEqual(['k1 rejected shutting_down']);
  });

  it('is given up where no summary comes', async () => {
    const { t, outcome } = await compacting();
    t.clock.advance(120_000);
    expect(await outcome).toMatchObject({ kind: 'rejected', reason: 'summary_failed' });
  });

  it('is rejected by a restart, once, and not run again', async () => {
    const { t } = await compacting();
    const model = new ScriptedModel();
    const again = await (await t.restart({ model })).restart({ model });
    expect(resolutions(again)).toEqual(['k1 rejected restart']);
    const stored = t.journal.records.get(t.session.sessionId) ?? [];
    expect(
      stored.filter(({ record }) => record.event.type === 'compaction_rejected'),
    ).toMatchObject([
      { record: { event: { turnId: null, reason: 'restart' }, cause: { command_ids: ['k1'] } } },
    ]);
    expect(await again.session.entries.compact(origin('k1'))).toMatchObject({ reason: 'restart' });
    expect(model.requests).toEqual([]);
  });

  it('fails with the journal, and so does whoever waits for it', async () => {
    const { t, outcome } = await compacting();
    t.journal.failure = new Error('disk');
    t.session.cancelBefore(9, STOP);
    await expect(outcome).rejects.toThrow('disk');
  });
});

describe('what a compaction keeps', () => {
  it('names the open items of the plan, and those that are done no more', async () => {
    const plan = aTool('plan', async (context) => {
      await context.setPlan([
        { content: 'Look <around>', priority: 'medium', status: 'completed' },
        { content: 'Mend it', priority: 'medium', status: 'in_progress' },
        { content: 'Tell', priority: 'medium', status: 'pending' },
      ]);
      return ok('planned '.repeat(100));
    });
    const model = new ScriptedModel(calls(['plan', {}]), says('planned'), SUMMARY);
    const t = await aSession({ model, tools: [plan] });
    await t.prompt('go');
    await t.session.entries.compact(origin());
    expect(texts(t)).toContain('- [in_progress] Mend it\\n- [pending] Tell');
    expect(texts(t)).not.toContain('[completed]');
  });

  it('says of an automatic one that it began and what made it', async () => {
    const filled: Reply = async function* () {
      yield { type: 'text', text: 'full' };
      yield {
        type: 'finish',
        reason: 'stop',
        usage: { inputTokens: 900, outputTokens: 10 },
      };
    };
    const model = new ScriptedModel(LONG, filled, SUMMARY, says('end'));
    const t = await aSession({ model });
    await t.prompt('one');
    await t.prompt('two');
    await t.prompt('three');
    expect(ends(t)).toMatchObject([{ trigger: 'automatic', turnId: expect.any(String) }]);
    expect(begun(t)).toMatchObject([{ trigger: 'automatic' }]);
    expect(control(t).some(({ type }) => type === 'command_issued')).toBe(true);
    expect(resolutions(t)).toEqual([]);
  });
});
