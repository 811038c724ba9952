import { describe, expect, it } from 'vitest';
import { Deferred } from '../../../../../src/base/deferred.ts';
import type { NewRecord } from '../../../../../src/core/session/ports.ts';
import type { SessionId } from '../../../../../src/core/session/words.ts';
import { aTool, ok } from '../../../../support/engine/a-session.ts';
import { type DelegateRig, delegateRig } from '../../../../support/engine/delegate-rig.ts';

/** From now on what this loop records is refused where `is` says so; what other loops record is not. */
function refuse(
  rig: DelegateRig,
  loopId: string,
  is: (record: NewRecord) => boolean = () => true,
): void {
  const append = rig.journal.append.bind(rig.journal);
  rig.journal.append = async (sessionId, records) => {
    if (String(sessionId) === loopId && records.some(is)) throw new Error('disk full');
    return append(sessionId, records);
  };
}

function endings(rig: DelegateRig): readonly string[] {
  return rig
    .history()
    .flatMap((event) =>
      event.type === 'delegate_ended' ? [`${event.outcome}: ${event.text}`] : [],
    );
}

/** A tool that runs until it is let go or stopped. */
function holding() {
  const begun = new Deferred<void>();
  const release = new Deferred<void>();
  const stopped: boolean[] = [];
  const tool = aTool('hold', async ({ signal }) => {
    begun.resolve();
    await Promise.race([
      release.promise,
      new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve())),
    ]);
    stopped.push(signal.aborted);
    return ok('held');
  });
  return { tool, begun: begun.promise, release: () => release.resolve(), stopped };
}

describe('a loop whose store fails', () => {
  it('that is a delegate hands back that it failed, once, and its parent goes on', async () => {
    const { tool, begun, release } = holding();
    const rig = await delegateRig({ tools: [tool] });
    const outcome = rig.prompt('delegate: call hold\nfinish with gone on');
    await begun;
    const [, child] = rig.loops();
    refuse(rig, child?.loopId ?? '');
    release();
    expect(await outcome).toMatchObject({ terminal: { kind: 'natural' } });
    expect(endings(rig)).toEqual(['failed: disk full']);
    expect(rig.hosted.delegates.isActive).toBe(false);
    expect((await rig.prompt('delegate: finish with found')).terminal.kind).toBe('natural');
    expect(endings(rig)).toEqual(['failed: disk full', 'completed: found']);
    // What was on disk of it is sealed when the session comes back, and is not handed back again.
    const after = await rig.restart();
    expect(endings(after)).toEqual(['failed: disk full', 'completed: found']);
  });

  it('that is the root loop ends its delegates, whose own histories are whole', async () => {
    const { tool, begun, stopped } = holding();
    const rig = await delegateRig({ tools: [tool] });
    const outcome = rig.prompt('delegate in background: call hold\nsay here\nwait 30\nsay there');
    outcome.catch(() => undefined);
    await begun;
    refuse(rig, rig.hosted.sessionId);
    rig.clock.advance(60_000);
    await expect(outcome).rejects.toThrow('disk full');
    await rig.until(() => !rig.hosted.delegates.isActive);
    expect(stopped).toEqual([true]);
    const child = rig.loops()[1]?.loopId as unknown as SessionId;
    const ends = rig
      .history(child)
      .flatMap((event) => (event.type === 'turn_ended' ? [event.terminal.kind] : []));
    expect(ends).toEqual(['user_cancelled']);
    await rig.hosted.close('session_closed');
  });
});
