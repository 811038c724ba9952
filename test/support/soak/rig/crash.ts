import { expect } from 'vitest';
import type { ControlEvent } from '../../../../src/core/session/control-events.ts';
import type { HistoryEvent } from '../../../../src/core/session/events.ts';
import type { NextTurnQueue } from '../../../../src/protocol/pilothouse.ts';
import { controlOf, historyOf, type LoopJournal } from '../checker/evidence.ts';
import { readJournal, readLiveJournal } from '../checker/read-journal.ts';
import { CrashRig } from './crash-rig.ts';
import type { ListedGate } from './gates.ts';

/** A line of a script that runs until somebody makes the file `go`, and says so by the file `begun`. */
export const SLOW = 'run touch begun; while [ ! -e go ]; do sleep 0.01; done';

/** One session of a rig, for following it over a crash. */
export class Crashed {
  readonly rig: CrashRig;
  readonly sessionId: string;

  constructor(rig: CrashRig, sessionId: string) {
    this.rig = rig;
    this.sessionId = sessionId;
  }

  /** Both streams of the session as they are on disk. */
  get journal(): LoopJournal {
    const loops = (this.rig.isGone ? readJournal : readLiveJournal)(this.rig.home);
    const loop = loops.find(({ loopId }) => loopId === this.sessionId);
    if (loop === undefined) throw new Error('The session is not in the journal');
    return loop;
  }

  history<T extends HistoryEvent['type']>(type: T): ReturnType<typeof historyOf<T>> {
    return historyOf(this.journal, type);
  }

  control<T extends ControlEvent['type']>(type: T): ReturnType<typeof controlOf<T>> {
    return controlOf(this.journal, type);
  }

  /** How each command ended, in the order of the records. */
  resolutions(commandId: string): readonly string[] {
    return this.control('command_resolved')
      .filter((event) => event.commandId === commandId)
      .map(({ resolution, reason }) =>
        reason === undefined ? resolution : `${resolution} ${reason}`,
      );
  }

  async queue(): Promise<NextTurnQueue> {
    return (await this.ask('_pilothouse/queue/list')) as unknown as NextTurnQueue;
  }

  gates(): Promise<readonly ListedGate[]> {
    return this.rig.gates(this.sessionId);
  }

  async listed(): Promise<Readonly<Record<string, unknown>>> {
    const answer = await this.rig.call('session/list', {});
    if (answer.kind !== 'ok') throw new Error('There is no list');
    const sessions = answer.result['sessions'] as readonly Readonly<Record<string, unknown>>[];
    return sessions.find(({ sessionId }) => sessionId === this.sessionId) ?? {};
  }

  async respond(gateId: string, answer: object): Promise<void> {
    await this.ask('_pilothouse/gates/respond', { gateId, ...answer });
  }

  async ask(method: string, more: object = {}): Promise<Readonly<Record<string, unknown>>> {
    const answer = await this.rig.call(method, { sessionId: this.sessionId, ...more });
    if (answer.kind === 'ok') return answer.result;
    throw answer.kind === 'refused' ? answer.failure : new Error(`${method}: the process is gone`);
  }

  /** Everything comes to rest, the session still works, and the checker has nothing to say. */
  async isWhole(): Promise<void> {
    await this.rig.settle();
    expect(await this.rig.prompt(this.sessionId, 'finish with still here')).toMatchObject({
      result: { stopReason: 'end_turn' },
    });
    await this.rig.close();
    expect(await this.rig.complaints('settled')).toEqual([]);
  }
}

/**
 * A session that lives until its process is dead: at a crash point, or when `life` is over. Comes back with another
 * process, the session loaded and every question unanswered.
 */
export async function crash(
  life: (rig: CrashRig, sessionId: string) => Promise<void>,
  options: {
    readonly at?: string;
    readonly mode?: string;
    readonly env?: NodeJS.ProcessEnv;
    /** With each process, before any session. */
    readonly prepare?: (rig: CrashRig) => Promise<void>;
  } = {},
): Promise<Crashed> {
  const rig = new CrashRig(options.env);
  await rig.start(options.at);
  await options.prepare?.(rig);
  const sessionId = await rig.newSession(options.mode ?? 'code');
  await life(rig, sessionId);
  if (options.at === undefined) await rig.kill();
  expect(await rig.gone()).toBe('SIGKILL');
  expect(await rig.complaints('dead')).toEqual([]);
  rig.permission = null;
  await rig.start();
  await options.prepare?.(rig);
  await rig.loadAll();
  expect(await rig.complaints('restored')).toEqual([]);
  return new Crashed(rig, sessionId);
}
