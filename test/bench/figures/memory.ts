import { inFolder, type Memory, memoryOf, pause } from '../measure.ts';
import { type Peer, withPeer } from '../peers/peer.ts';
import type { Programs } from '../programs.ts';
import type { Figure } from '../report.ts';

const TURNS = 100;
/** V8 tidies an idle heap after 8 seconds: a process at rest is looked at after that. */
const SETTLE_MS = 12_000;

async function settled(peer: Peer): Promise<Memory> {
  await pause(SETTLE_MS);
  return memoryOf(peer.pid) ?? { rss: Number.NaN, pss: Number.NaN };
}

function both(ours: Peer, idle: Peer): Promise<[Memory, Memory]> {
  return Promise.all([settled(ours), settled(idle)]);
}

/** Turns as people have them: several lines, files read and written, text. Every permission is given. */
async function turns(peer: Peer, sessionId: string, count: number): Promise<void> {
  peer.onCall(({ id, method }) => {
    if (method === 'session/request_permission')
      peer.answer(id, { outcome: { outcome: 'selected', optionId: 'allow_once' } });
  });
  for (let turn = 1; turn <= count; turn += 1) {
    await peer.prompt(
      sessionId,
      [
        `say Looking at the folder, for the ${turn}. time.`,
        `write notes.txt: line ${turn}`,
        'read notes.txt',
        'list .',
        `finish with Done with turn ${turn}.`,
      ].join('\n'),
    );
  }
}

/** Memory of agent-core and of the agent that does nothing, each in the same state. */
export async function benchMemory(programs: Programs): Promise<readonly Figure[]> {
  return await inFolder((folder) =>
    withPeer(programs.ours(`${folder}/home`), (ours) =>
      withPeer(programs.idleBundled, async (idle) => {
        await Promise.all([ours.initialize(), idle.initialize()]);
        const [started, nothingStarted] = await both(ours, idle);
        const sessionId = await ours.newSession(folder);
        await idle.newSession(folder);
        const [atRest, nothingAtRest] = await both(ours, idle);
        await turns(ours, sessionId, TURNS);
        for (let turn = 0; turn < TURNS; turn += 1) await idle.prompt('idle', '.');
        const right = memoryOf(ours.pid) ?? started;
        const [after, nothingAfter] = await both(ours, idle);
        return [
          ...figures('idle', started, nothingStarted, 85),
          ...figures('idle with a session', atRest, nothingAtRest, 85),
          ...figures(`right after ${TURNS} turns`, right, nothingAfter, 110),
          ...figures(`idle after ${TURNS} turns`, after, nothingAfter, 110),
        ];
      }),
    ),
  );
}

function figures(when: string, ours: Memory, nothing: Memory, limit: number): readonly Figure[] {
  const figure = (kind: keyof Memory, aim: Figure['aim']): Figure => ({
    name: `${kind.toUpperCase()} ${when}`,
    ours: ours[kind],
    unit: 'MB',
    baseline: { name: 'do-nothing agent', value: nothing[kind] },
    aim,
  });
  return [figure('rss', { kind: 'below', limit }), figure('pss', null)];
}
