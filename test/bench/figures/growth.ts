import { inFolder, memoryOf, pause } from '../measure.ts';
import { type Peer, withPeer } from '../peers/peer.ts';
import type { Programs } from '../programs.ts';
import type { Figure } from '../report.ts';

/** Rounds after which memory is compared; the first one only fills what is meant to stay. */
const SESSIONS_A_ROUND = 500;
const TURNS_A_ROUND = 200;
const STALLED_CHUNKS = 100_000;
const LOUD_BYTES = 50_000_000;
/** V8 tidies an idle heap after 8 seconds. */
const TIDY_MS = 12_000;

const rss = (peer: Peer): number => memoryOf(peer.pid)?.rss ?? Number.NaN;

async function sessions(peer: Peer, cwd: string): Promise<void> {
  for (let made = 0; made < SESSIONS_A_ROUND; made += 1) {
    const sessionId = await peer.newSession(cwd);
    await peer.request('session/close', { sessionId });
  }
}

/** Memory after two equal rounds of work, each left to settle: what the second one added stays for ever. */
async function added(peer: Peer, round: () => Promise<void>): Promise<number> {
  await round();
  await pause(TIDY_MS);
  const before = rss(peer);
  await round();
  await pause(TIDY_MS);
  return rss(peer) - before;
}

/** The highest memory during `work`, over what it was before. */
async function peak(peer: Peer, work: () => Promise<unknown>): Promise<number> {
  const before = rss(peer);
  let highest = before;
  const watch = setInterval(() => {
    highest = Math.max(highest, rss(peer));
  }, 20);
  try {
    await work();
  } finally {
    clearInterval(watch);
  }
  return Math.max(highest, rss(peer)) - before;
}

/** Streams to a client that reads nothing until the turn is over by all that can be told from outside. */
async function stalled(peer: Peer, cwd: string): Promise<number> {
  const sessionId = await peer.newSession(cwd);
  return await peak(peer, async () => {
    peer.pauseReading();
    const prompted = peer.prompt(sessionId, `stream ${STALLED_CHUNKS} chunks\nfinish with .`);
    await pause(TIDY_MS);
    peer.resumeReading();
    await prompted;
  });
}

async function loud(peer: Peer, cwd: string): Promise<number> {
  peer.onCall(({ id, method }) => {
    if (method === 'session/request_permission')
      peer.answer(id, { outcome: { outcome: 'selected', optionId: 'allow_once' } });
  });
  const sessionId = await peer.newSession(cwd);
  const command = `run yes 0123456789 | head -c ${LOUD_BYTES}`;
  return await peak(peer, () => peer.prompt(sessionId, `${command}\nfinish with .`));
}

/** That nothing grows: memory that work leaves behind, and what it takes at its height. */
export async function benchGrowth(programs: Programs): Promise<readonly Figure[]> {
  return await inFolder(async (folder) => {
    const each = <T>(run: (peer: Peer) => Promise<T>): Promise<T> =>
      withPeer(programs.ours(`${folder}/home`), async (peer) => {
        await peer.initialize();
        return await run(peer);
      });
    const bySessions = await each((peer) => added(peer, () => sessions(peer, folder)));
    const byTurns = await each(async (peer) => {
      const round = async (): Promise<void> => {
        const sessionId = await peer.newSession(folder);
        for (let turn = 0; turn < TURNS_A_ROUND; turn += 1)
          await peer.prompt(sessionId, 'list .\nfinish with done');
        await peer.request('session/close', { sessionId });
      };
      return await added(peer, round);
    });
    const byStall = await each((peer) => stalled(peer, folder));
    const byOutput = await each((peer) => loud(peer, folder));
    return [
      figure(`RSS added by ${SESSIONS_A_ROUND} more sessions made and closed`, bySessions, 8),
      figure(`RSS added by ${TURNS_A_ROUND} more turns`, byTurns, 8),
      figure(`peak added by ${STALLED_CHUNKS} chunks to a client that does not read`, byStall, 120),
      figure(`peak added by ${LOUD_BYTES / 1e6} MB of tool output`, byOutput, 120),
    ];
  });
}

function figure(name: string, ours: number, limit: number): Figure {
  return { name, ours, unit: 'MB', baseline: null, aim: { kind: 'below', limit } };
}
