import { describe, expect, it } from 'vitest';
import type { CommandId } from '../../../../../src/core/session/words.ts';
import { aTool, OWNER, ok } from '../../../../support/engine/a-session.ts';
import {
  type DelegateRig,
  type DelegateRigOptions,
  delegateRig,
} from '../../../../support/engine/delegate-rig.ts';

const ORIGIN = { actor: OWNER, agency: 'user', commandId: 'again' as CommandId } as const;

/** How often a delegate was given the message as a request, read it as one that it worked on, and handed it back. */
function effects(rig: DelegateRig): readonly [started: number, steered: number, ended: number] {
  const loopId = rig.loops()[1]?.loopId ?? '';
  const isOurs = (event: object): boolean =>
    'requestId' in event && event.requestId === ORIGIN.commandId;
  const own = rig.history();
  return [
    own.filter((event) => event.type === 'delegate_started' && isOurs(event)).length,
    rig.history(loopId).filter(({ type }) => type === 'inject_delivered').length,
    own.filter((event) => event.type === 'delegate_ended' && isOurs(event)).length,
  ];
}

function send(rig: DelegateRig, text = 'finish with two') {
  return rig.hosted.delegates.message(rig.loops()[1]?.loopId ?? '', text, ORIGIN);
}

async function resting(options: DelegateRigOptions = {}): Promise<DelegateRig> {
  const rig = await delegateRig(options);
  await rig.prompt('delegate: finish with one');
  return rig;
}

/** A delegate that works until it is let go. */
async function working(): Promise<{ readonly rig: DelegateRig; readonly release: () => void }> {
  const held = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const tool = aTool('hold', async () => {
    begun.resolve();
    await held.promise;
    return ok('held');
  });
  const rig = await delegateRig({ tools: [tool] });
  await rig.prompt('delegate in background: call hold\nfinish with gone on');
  await begun.promise;
  return { rig, release: held.resolve };
}

describe('a message to a delegate that is sent again under its id', () => {
  it('is one request of a delegate that rests, however many come at once', async () => {
    const rig = await resting();
    const answers = await Promise.all([send(rig), send(rig), send(rig)]);
    const answer = { requestId: ORIGIN.commandId, delivery: 'started' };
    expect(answers).toEqual([answer, answer, answer]);
    await rig.until(() => effects(rig)[2] === 1);
    expect(await send(rig)).toEqual(answer);
    expect(effects(rig)).toEqual([1, 0, 1]);
  });

  it('is read once by a delegate that works, and is no request when that is done', async () => {
    const { rig, release } = await working();
    const [first, second] = await Promise.all([send(rig), send(rig)]);
    expect(first.delivery).toBe('steered');
    expect(second).toEqual(first);
    release();
    await rig.until(() => !rig.hosted.describe().activePrompt);
    expect(await send(rig)).toEqual(first);
    expect(effects(rig)).toEqual([0, 1, 0]);
  });

  it('is known to the next process, as a request and as something that was read', async () => {
    const rested = await resting();
    await send(rested);
    await rested.until(() => effects(rested)[2] === 1);
    const asked = await rested.restart();
    expect(await send(asked)).toMatchObject({ delivery: 'started' });
    expect(effects(asked)).toEqual([1, 0, 1]);
    await expect(send(asked, 'finish with three')).rejects.toMatchObject(COLLISION);

    const { rig, release } = await working();
    await send(rig);
    release();
    await rig.until(() => !rig.hosted.describe().activePrompt);
    const steered = await rig.restart();
    expect(await send(steered)).toMatchObject({ delivery: 'steered' });
    expect(effects(steered)).toEqual([0, 1, 0]);
    await expect(send(steered, 'finish with three')).rejects.toMatchObject(COLLISION);
  });

  it('is refused with another text, and the first one stands', async () => {
    const rig = await resting();
    const first = send(rig);
    await expect(send(rig, 'finish with three')).rejects.toMatchObject(COLLISION);
    await first;
    await rig.until(() => effects(rig)[2] === 1);
    await expect(send(rig, 'finish with three')).rejects.toMatchObject(COLLISION);
    expect(effects(rig)).toEqual([1, 0, 1]);
  });
});

const COLLISION = { code: 'session.command_collision' };
