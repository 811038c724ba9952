import { Deferred } from '../../../src/base/deferred.ts';
import { inFolder, interleaved } from '../measure.ts';
import { type Peer, withPeer } from '../peers/peer.ts';
import type { Programs } from '../programs.ts';
import type { Figure } from '../report.ts';

async function newSession(peer: Peer, cwd: string): Promise<number> {
  const started = performance.now();
  await peer.newSession(cwd);
  return performance.now() - started;
}

/** From sending a prompt to the first piece of its answer. */
export async function firstUpdate(peer: Peer, sessionId: string): Promise<number> {
  const first = new Deferred<number>();
  peer.onCall(({ params }) => {
    const update = params?.['update'];
    const isChunk =
      typeof update === 'object' &&
      update !== null &&
      'sessionUpdate' in update &&
      update.sessionUpdate === 'agent_message_chunk';
    if (isChunk && !first.isSettled) first.resolve(performance.now());
  });
  const started = performance.now();
  const prompted = peer.prompt(sessionId, 'finish with .');
  const at = await first.promise;
  await prompted;
  return at - started;
}

/** What single calls cost on a running process, against the agent that does nothing. */
export async function benchCalls(programs: Programs, rounds = 60): Promise<readonly Figure[]> {
  return await inFolder((folder) =>
    withPeer(programs.ours(`${folder}/home`), (ours) =>
      withPeer(programs.idleBundled, async (idle) => {
        await Promise.all([ours.initialize(), idle.initialize()]);
        const warmUp = [await newSession(ours, folder), await newSession(idle, folder)];
        const created = await interleaved(rounds, {
          ours: () => newSession(ours, folder),
          idle: () => newSession(idle, folder),
        });
        const session = await ours.newSession(folder);
        const prompted = await interleaved(rounds, {
          ours: () => firstUpdate(ours, session),
          idle: () => firstUpdate(idle, 'idle'),
        });
        const against = (value: number): Figure['baseline'] => ({
          name: 'do-nothing agent',
          value,
        });
        return [
          figure('session/new', created.ours, against(created.idle), 15, 'below'),
          figure('session/new, the first of a process', warmUp[0] ?? 0, null, 15, 'below'),
          figure('prompt to first update', prompted.ours, against(prompted.idle), 5, 'added'),
        ];
      }),
    ),
  );
}

function figure(
  name: string,
  ours: number,
  baseline: Figure['baseline'],
  limit: number,
  kind: 'below' | 'added',
): Figure {
  return { name, ours, unit: 'ms', baseline, aim: { kind, limit } };
}
