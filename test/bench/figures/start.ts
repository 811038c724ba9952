import { join } from 'node:path';
import { elapsed, inFolder, interleaved } from '../measure.ts';
import { Peer, type Program, withPeer } from '../peers/peer.ts';
import type { Programs } from '../programs.ts';
import type { Figure } from '../report.ts';

/** From spawning a process to its answer to `initialize`. */
function toInitialize(program: Program): Promise<number> {
  return withPeer(program, (peer) => elapsed(() => peer.initialize()));
}

/** From spawning a process to its end. */
async function toExit(program: Program): Promise<number> {
  return await elapsed(() => new Peer(program).exited);
}

/** How long it takes from nothing to an agent that answers: on a fresh data folder, and on one that is there. */
export async function benchStart(programs: Programs, rounds = 15): Promise<readonly Figure[]> {
  return await inFolder(async (folder) => {
    const used = programs.ours(join(folder, 'used'));
    // The first start makes the data folder; it ends cleanly, as every other one does for a person.
    await closeAfterInitialize(used);
    await closeAfterInitialize(used);
    let fresh = 0;
    const spans = await interleaved(rounds, {
      node: () => toExit(programs.nothing),
      idle: () => toInitialize(programs.idle),
      idleBundled: () => toInitialize(programs.idleBundled),
      ours: () => toInitialize(used),
      first: () => {
        fresh += 1;
        return toInitialize(programs.ours(join(folder, `fresh-${fresh}`)));
      },
    });
    const best = spans.idle < spans.idleBundled ? 'idle' : 'idleBundled';
    const idleName = `do-nothing agent${best === 'idle' ? '' : ', bundled'}`;
    const idle = { name: idleName, value: spans[best] };
    const other = best === 'idle' ? 'idleBundled' : 'idle';
    return [
      figure('start to initialize', spans.ours, idle, { kind: 'ratio', limit: 2 }),
      figure('start to initialize', spans.ours, null, { kind: 'below', limit: 250 }),
      figure('start to initialize', spans.ours, { name: 'node -e 0', value: spans.node }, null),
      figure('first start ever to initialize', spans.first, idle, null),
      figure(
        `do-nothing agent, ${other === 'idle' ? 'as a script' : 'bundled'}`,
        spans[other],
        { name: 'node -e 0', value: spans.node },
        null,
      ),
    ];
  });
}

async function closeAfterInitialize(program: Program): Promise<void> {
  const peer = new Peer(program);
  await peer.initialize();
  await peer.close();
}

function figure(
  name: string,
  ours: number,
  baseline: Figure['baseline'],
  aim: Figure['aim'],
): Figure {
  return { name, ours, unit: 'ms', baseline, aim };
}
