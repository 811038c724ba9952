import { elapsed, inFolder, interleaved } from '../measure.ts';
import { endHost, withHost } from '../peers/host.ts';
import { type Peer, type Program, withPeer } from '../peers/peer.ts';
import type { Programs } from '../programs.ts';
import type { Figure } from '../report.ts';
import { firstUpdate } from './calls.ts';

const CALLS = 500;
const PROMPTS = 150;
const CHUNKS = 20_000;
const OWN = 'host in the same process';

/** What the way through a door to another process costs, against the host in the client's own child process. */
export async function benchDoor(programs: Programs): Promise<readonly Figure[]> {
  return await inFolder((folder) =>
    withHost(programs, `${folder}/shared`, async () => [
      ...(await frames(programs, folder)),
      ...(await starts(programs, folder)),
    ]),
  );
}

/** The smallest request that is about a session, and reads nothing from a disk that is live. */
function smallRequest(peer: Peer, sessionId: string): Promise<number> {
  return elapsed(() => peer.request('_pilothouse/clients/list', { sessionId }));
}

/** A reply as fast as it comes. Into how many frames it is joined depends on how fast it is taken. */
async function streamed(peer: Peer, cwd: string): Promise<number> {
  const sessionId = await peer.newSession(cwd);
  peer.onCall(() => undefined);
  return await elapsed(() => peer.prompt(sessionId, `stream ${CHUNKS} chunks\nfinish with .`));
}

async function frames(programs: Programs, folder: string): Promise<readonly Figure[]> {
  return await withPeer(programs.door(`${folder}/shared`), (door) =>
    withPeer(programs.ours(`${folder}/own`), async (own) => {
      await Promise.all([door.initialize(), own.initialize()]);
      const [atDoor, atOwn] = [await door.newSession(folder), await own.newSession(folder)];
      await interleaved(20, {
        door: () => firstUpdate(door, atDoor),
        own: () => firstUpdate(own, atOwn),
      });
      const trips = await interleaved(CALLS, {
        door: () => smallRequest(door, atDoor),
        own: () => smallRequest(own, atOwn),
      });
      const prompts = await interleaved(PROMPTS, {
        door: () => firstUpdate(door, atDoor),
        own: () => firstUpdate(own, atOwn),
      });
      const streams = await interleaved(7, {
        door: () => streamed(door, folder),
        own: () => streamed(own, folder),
      });
      const added = { kind: 'added', limit: 1 } as const;
      return [
        figure('round trip through the door', trips.door, trips.own, added),
        figure('prompt to first update through the door', prompts.door, prompts.own, added),
        figure(
          `${CHUNKS.toLocaleString('en')} chunks as fast as they come, through the door`,
          streams.door,
          streams.own,
          null,
        ),
      ];
    }),
  );
}

function toInitialize(program: Program): Promise<number> {
  return withPeer(program, (peer) => elapsed(() => peer.initialize()));
}

/** The host runs meanwhile; `fresh` has a data folder and no host. */
async function starts(programs: Programs, folder: string): Promise<readonly Figure[]> {
  const fresh = `${folder}/fresh`;
  await toInitialize(programs.door(fresh));
  await endHost(programs, fresh);
  const spans = await interleaved(15, {
    door: () => toInitialize(programs.door(`${folder}/shared`)),
    own: () => toInitialize(programs.ours(`${folder}/alone`)),
    first: async () => {
      const ms = await toInitialize(programs.door(fresh));
      await endHost(programs, fresh);
      return ms;
    },
  });
  const ratio = { kind: 'ratio', limit: 1 } as const;
  return [
    figure('start of a door to a running host', spans.door, spans.own, ratio),
    figure('start of a door that starts the host', spans.first, spans.own, null),
  ];
}

function figure(name: string, ours: number, own: number, aim: Figure['aim']): Figure {
  return {
    name,
    ours,
    unit: 'ms',
    baseline: { name: OWN, value: own },
    aim,
  };
}
