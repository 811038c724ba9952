import { describe, expect, it } from 'vitest';
import { Deferred } from '../../../../../src/base/deferred.ts';
import { aTool, ok } from '../../../../support/engine/a-session.ts';
import { type DelegateRig, delegateRig } from '../../../../support/engine/delegate-rig.ts';

const STOP = { kind: 'cancelled', by: 'test' } as const;

/** A tool that runs until it is stopped; resolves `all` when it runs so many times at once. */
function holding(count: number) {
  const signals: AbortSignal[] = [];
  const all = new Deferred<void>();
  const tool = aTool('hold', async ({ signal }) => {
    signals.push(signal);
    if (signals.length === count) all.resolve();
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
    return ok('held');
  });
  return { tool, signals, all: all.promise };
}

/** Two delegates in the background, one of them with one of its own, and a root loop at work: four loops. */
const FAMILY = [
  `delegate in background: ${JSON.stringify('delegate in background: call hold\ncall hold')}`,
  'delegate in background: call hold',
  'call hold',
].join('\n');

function count(rig: DelegateRig, type: string): number {
  return rig
    .loops()
    .reduce(
      (sum, { loopId }) => sum + rig.history(loopId).filter((event) => event.type === type).length,
      0,
    );
}

/** How the turns of each loop ended. */
function terminals(rig: DelegateRig): readonly string[][] {
  return rig
    .loops()
    .map(({ loopId }) =>
      rig
        .history(loopId)
        .flatMap((event) => (event.type === 'turn_ended' ? [event.terminal.kind] : [])),
    );
}

async function atWork(): Promise<{
  rig: DelegateRig;
  signals: AbortSignal[];
  outcome: Promise<unknown>;
}> {
  const { tool, signals, all } = holding(4);
  const rig = await delegateRig({ tools: [tool] });
  const outcome = rig.prompt(FAMILY);
  await all;
  expect(rig.loops()).toHaveLength(4);
  return { rig, signals, outcome };
}

describe('Stop over several loops', () => {
  it('reaches each of them before any of them has done anything about it', async () => {
    const { rig, signals, outcome } = await atWork();
    const [turns, ends] = [count(rig, 'turn_started'), count(rig, 'turn_ended')];
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, false, false, false]);
    rig.hosted.session.cancelBefore(10, STOP);
    // In the same tick: nobody has been told anything, and nobody has ended.
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true, true, true]);
    expect(count(rig, 'turn_ended')).toBe(ends);
    await outcome;
    await rig.until(() => !rig.hosted.delegates.isActive);
    expect(count(rig, 'turn_started')).toBe(turns);
    expect(terminals(rig)).toEqual(Array.from({ length: 4 }, () => ['user_cancelled']));
  });

  it('that overlap, also from a loop below, end each turn and hand back each request once', async () => {
    const { rig, outcome } = await atWork();
    const [, first, second] = rig.loops();
    const stopped = [first, second].map((loop) => rig.hosted.delegates.stop(loop?.loopId ?? ''));
    rig.hosted.session.cancelBefore(10, STOP);
    rig.hosted.session.cancelBefore(11, STOP);
    expect(await Promise.all(stopped)).toEqual([true, true]);
    await outcome;
    await rig.until(() => !rig.hosted.delegates.isActive);
    expect(terminals(rig)).toEqual(Array.from({ length: 4 }, () => ['user_cancelled']));
    expect(count(rig, 'delegate_started')).toBe(3);
    expect(count(rig, 'delegate_ended')).toBe(3);
  });

  it('of one below leaves the others at work, until they are stopped too', async () => {
    const { rig, signals, outcome } = await atWork();
    const [, first] = rig.loops();
    await rig.hosted.delegates.stop(first?.loopId ?? '');
    expect(signals.filter(({ aborted }) => aborted)).toHaveLength(2);
    expect(count(rig, 'turn_ended')).toBe(2);
    rig.hosted.session.cancelBefore(10, STOP);
    await outcome;
    await rig.until(() => !rig.hosted.delegates.isActive);
    expect(signals.filter(({ aborted }) => aborted)).toHaveLength(4);
  });

  it('that all rest ends nothing and adds nothing to any history', async () => {
    const rig = await delegateRig();
    await rig.prompt('delegate: finish with found\nfinish with done');
    await rig.until(() => !rig.hosted.delegates.isActive);
    const before = rig.loops().map(({ loopId }) => rig.history(loopId).length);
    expect(rig.hosted.session.cancelBefore(10, STOP)).toBe(false);
    await rig.hosted.delegates.stop(rig.loops()[1]?.loopId ?? '');
    expect(rig.loops().map(({ loopId }) => rig.history(loopId).length)).toEqual(before);
    await expect(rig.hosted.delegates.stop('nobody')).rejects.toMatchObject({
      code: 'delegate.unknown',
    });
  });

  it('and the end of the session leaves one record of its end in each of them', async () => {
    const { rig, outcome } = await atWork();
    await Promise.all([rig.hosted.close('session_closed'), rig.hosted.close('session_closed')]);
    await outcome;
    const ends = [...rig.journal.records.values()].map((records) =>
      records.flatMap(({ record: { event } }) =>
        event.type === 'session_closed' ||
        (event.type === 'command_issued' && event.command.type === 'shutdown')
          ? [event.type]
          : [],
      ),
    );
    expect(ends).toEqual(
      Array.from({ length: 4 }, () => expect.arrayContaining(['command_issued', 'session_closed'])),
    );
    expect(ends.every((one) => one.length === 2)).toBe(true);
  });
});
