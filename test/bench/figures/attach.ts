import { DatabaseSync } from 'node:sqlite';
import { sessionId } from '../../support/journal/events.ts';
import { elapsed, inFolder, interleaved } from '../measure.ts';
import { withHost } from '../peers/host.ts';
import { type Peer, withPeer } from '../peers/peer.ts';
import type { Programs } from '../programs.ts';
import type { Figure } from '../report.ts';
import { storeLongSession } from './sessions.ts';

const EVENTS = 10_000;
const ROUNDS = 15;
const AIM_MS = 200;

/** What brings a client to a session, and how it takes its parameters. */
const WAYS = {
  attach: '_pilothouse/attach',
  resume: 'session/resume',
  load: 'session/load',
} as const;

type Way = keyof typeof WAYS;

const id = sessionId('long');

/** From the request to its answer, the replay of a load included. */
function come(peer: Peer, way: Way, cwd: string): Promise<number> {
  const params = way === 'attach' ? { sessionId: id } : { sessionId: id, cwd, mcpServers: [] };
  return elapsed(() => peer.request(WAYS[way], params));
}

async function newestPage(peer: Peer, cwd: string): Promise<number> {
  const attached = await come(peer, 'attach', cwd);
  const page = { sessionId: id, limit: 100 };
  return attached + (await elapsed(() => peer.request('_pilothouse/history/page', page)));
}

/** The way of a client to a long session through the door: one that is live already, and one that is only stored. */
export async function benchAttach(programs: Programs): Promise<readonly Figure[]> {
  return await inFolder(async (folder) => {
    const home = `${folder}/home`;
    await storeLongSession(home, { id, cwd: folder, events: EVENTS });
    const bare = new DatabaseSync(`${home}/sessions.db`, { readOnly: true });
    const select = bare.prepare(
      "SELECT seq, at, v, hash, body FROM records WHERE n = 1 AND stream = 'history' ORDER BY seq",
    );
    const read = (): Promise<number> =>
      elapsed(() => select.all().map((row) => JSON.parse(String(row['body'])) as unknown));
    try {
      return await withHost(programs, home, () =>
        withPeer(programs.door(home), (first) =>
          withPeer(programs.door(home), async (second) => {
            await Promise.all([first.initialize(), second.initialize()]);
            return [
              ...(await live(first, second, folder, read)),
              ...(await stored(second, folder, read)),
            ];
          }),
        ),
      );
    } finally {
      bare.close();
    }
  });
}

/** Another client follows the session all the while. */
async function live(
  first: Peer,
  second: Peer,
  cwd: string,
  read: () => Promise<number>,
): Promise<readonly Figure[]> {
  await come(first, 'attach', cwd);
  const left = async (work: () => Promise<number>): Promise<number> => {
    const span = await work();
    await second.request('_pilothouse/detach', { sessionId: id });
    return span;
  };
  const spans = await interleaved(ROUNDS, {
    attach: () => left(() => come(second, 'attach', cwd)),
    resume: () => left(() => come(second, 'resume', cwd)),
    load: () => left(() => come(second, 'load', cwd)),
    page: () => left(() => newestPage(second, cwd)),
    bare: read,
  });
  await first.request('session/close', { sessionId: id });
  return figures('live', spans);
}

/** Nobody has the session in memory. */
async function stored(
  peer: Peer,
  cwd: string,
  read: () => Promise<number>,
): Promise<readonly Figure[]> {
  const closed = async (work: () => Promise<number>): Promise<number> => {
    const span = await work();
    await peer.request('session/close', { sessionId: id });
    return span;
  };
  const spans = await interleaved(ROUNDS, {
    attach: () => closed(() => come(peer, 'attach', cwd)),
    resume: () => closed(() => come(peer, 'resume', cwd)),
    load: () => closed(() => come(peer, 'load', cwd)),
    page: () => closed(() => newestPage(peer, cwd)),
    bare: read,
  });
  return figures('stored', spans);
}

function figures(
  state: string,
  spans: Readonly<Record<Way | 'page' | 'bare', number>>,
): readonly Figure[] {
  const figure = (name: string, ours: number): Figure => ({
    name: `${name}, ${state}, ${EVENTS.toLocaleString('en')} events`,
    ours,
    unit: 'ms',
    baseline: { name: 'bare select and JSON.parse', value: spans.bare },
    aim: { kind: 'below', limit: AIM_MS },
  });
  return [
    figure('attach', spans.attach),
    figure('attach and newest page', spans.page),
    figure('session/resume', spans.resume),
    figure('session/load', spans.load),
  ];
}
