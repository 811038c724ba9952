import { readFileSync } from 'node:fs';
import { inFolder, median, pause, rssOf } from '../measure.ts';
import { hostPid, withHost } from '../peers/host.ts';
import { Peer } from '../peers/peer.ts';
import type { Programs } from '../programs.ts';
import type { Figure } from '../report.ts';

const SESSIONS = 50;
/** Stops with and without the load take turns, so that a busy machine is as bad to both. */
const ROUNDS = 4;
const STOPS = 8;
const WATCH_MS = 10_000;
/** V8 tidies an idle heap after 8 seconds. */
const TIDY_MS = 12_000;
/** Between two pieces (of 64 KiB, what a pipe holds) the slow client looks away. */
const LOOKS_AWAY_MS = 500;

/** Forty chunks in 0.6 seconds, as a fast model's reply comes, ten times. */
const SCRIPT = `say ${'words that stream '.repeat(36)}\n`.repeat(10);

/** Sessions that stream all at once to three clients, one of which reads slowly. */
export async function benchMany(programs: Programs): Promise<readonly Figure[]> {
  return await inFolder((folder) => {
    const home = `${folder}/home`;
    return withHost(programs, home, async () => {
      const peers = await three(programs, home);
      try {
        return await measured(peers, folder, hostPid(home));
      } finally {
        await Promise.all(peers.map((peer) => peer.kill()));
      }
    });
  });
}

type Three = readonly [owner: Peer, other: Peer, slow: Peer];

async function three(programs: Programs, home: string): Promise<Three> {
  const started = async (): Promise<Peer> => {
    const peer = new Peer(programs.door(home));
    await peer.initialize();
    return peer;
  };
  return [await started(), await started(), await started()];
}

async function measured(peers: Three, cwd: string, host: number): Promise<readonly Figure[]> {
  const [owner, other, slow] = peers;
  const rss = (): number => rssOf(host);
  const [one = '', ...rest] = await followed(peers, cwd);
  const counts = peers.map(counted);
  await pause(TIDY_MS);
  const before = rss();
  const peak = watched(rss);
  const lagging = lag(slow);
  const [quiet, loaded, byOther]: [number[], number[], number[]] = [[], [], []];
  let seen: Watched = { rates: [], busy: Number.NaN };
  for (let round = 0; round < ROUNDS; round += 1) {
    quiet.push(...(await stops(owner, one)));
    const streaming = streamOn(owner, rest);
    await pause(1_000);
    if (round === 0) seen = await watch(counts, host);
    loaded.push(...(await stops(owner, one)));
    byOther.push(...(await stops(other, one)));
    await streaming();
  }
  lagging();
  const highest = peak();
  await pause(TIDY_MS);
  return [
    ...memory(before, highest, rss()),
    ...flow(seen),
    stop('stop to its answer', median(loaded), median(quiet)),
    stop('stop of another client to its answer', median(byOther), median(quiet)),
  ];
}

type Watched = {
  /** Frames a second of each client. */
  readonly rates: readonly number[];
  /** Processor time of the host in a second, in milliseconds. */
  readonly busy: number;
};

async function watch(counts: readonly (() => number)[], host: number): Promise<Watched> {
  const [from, worked, started] = [counts.map((count) => count()), cpuMs(host), performance.now()];
  await pause(WATCH_MS);
  const seconds = (performance.now() - started) / 1_000;
  return {
    rates: counts.map((count, index) => (count() - (from[index] ?? 0)) / seconds),
    busy: (cpuMs(host) - worked) / seconds,
  };
}

function memory(before: number, highest: number, after: number): readonly Figure[] {
  const figure = (name: string, ours: number, limit: number): Figure => ({
    name: `host RSS ${name}`,
    ours,
    unit: 'MB',
    baseline: { name: `${SESSIONS} sessions at rest`, value: before },
    aim: { kind: 'added', limit },
  });
  return [
    figure(`while ${SESSIONS} sessions stream to 3 clients, at most`, highest, 150),
    figure('after that', after, 40),
  ];
}

function flow({ rates, busy }: Watched): readonly Figure[] {
  const [owner = 0, other = 0, slow = 0] = rates;
  const baseline = { name: 'the owner', value: owner };
  const rate = (name: string, ours: number, against: Figure['baseline']): Figure => ({
    name: `frames to ${name}`,
    ours,
    unit: '/s',
    baseline: against,
    aim: null,
  });
  return [
    rate('the owner', owner, null),
    rate('another client', other, baseline),
    rate('a client that reads slowly', slow, baseline),
    {
      name: 'processor time of the host in a second of that',
      ours: busy,
      unit: 'ms',
      baseline: null,
      aim: null,
    },
  ];
}

function stop(name: string, ours: number, quiet: number): Figure {
  return {
    name: `${name}, ${SESSIONS - 1} others stream`,
    ours,
    unit: 'ms',
    baseline: { name: 'nothing else streams', value: quiet },
    aim: { kind: 'added', limit: 20 },
  };
}

/** Sessions of the first client that all three follow. */
async function followed([owner, ...others]: Three, cwd: string): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let index = 0; index < SESSIONS; index += 1) {
    const sessionId = await owner.newSession(cwd);
    const params = { sessionId, configId: 'model', value: 'rehearsal/script' };
    await owner.request('session/set_config_option', params);
    for (const peer of others)
      await peer.request('session/resume', { sessionId, cwd, mcpServers: [] });
    ids.push(sessionId);
  }
  return ids;
}

const listeners = new WeakMap<Peer, (sessionId: unknown) => void>();
const slowed = new WeakMap<Peer, () => void>();

/** Counts what a client is told; the answer is how much so far. */
function counted(peer: Peer): () => number {
  let frames = 0;
  peer.onCall(({ params }) => {
    frames += 1;
    listeners.get(peer)?.(params?.['sessionId']);
    slowed.get(peer)?.();
  });
  return () => frames;
}

function cancel(peer: Peer, sessionId: string): void {
  const params = { sessionId };
  peer.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'session/cancel', params })}\n`);
}

/** Prompts every session again when its turn is over; the returned call ends that and all turns. */
function streamOn(peer: Peer, sessions: readonly string[]): () => Promise<void> {
  let isOver = false;
  const all = sessions.map(async (sessionId) => {
    while (!isOver) await peer.prompt(sessionId, SCRIPT);
  });
  return async () => {
    isOver = true;
    for (const sessionId of sessions) cancel(peer, sessionId);
    await Promise.all(all);
  };
}

/** Processor time of a process so far, all its threads. Source: proc(5), fields 14 and 15, in ticks of 10 ms. */
function cpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** From the cancel of a reply that streams to the answer of its prompt, some times. */
async function stops(peer: Peer, sessionId: string): Promise<readonly number[]> {
  const spans: number[] = [];
  for (let round = 0; round < STOPS; round += 1) {
    const streams = new Promise<void>((resolve) => {
      let seen = 0;
      listeners.set(peer, (of) => {
        if (of === sessionId) seen += 1;
        if (seen === 3) resolve();
      });
    });
    const prompted = peer.prompt(sessionId, SCRIPT);
    await streams;
    const started = performance.now();
    cancel(peer, sessionId);
    await prompted;
    spans.push(performance.now() - started);
  }
  listeners.delete(peer);
  return spans;
}

/** Makes a client look away after each piece that it reads; ends with the returned call. */
function lag(peer: Peer): () => void {
  let timer: NodeJS.Timeout | undefined;
  slowed.set(peer, () => {
    peer.pauseReading();
    timer ??= setTimeout(() => {
      timer = undefined;
      peer.resumeReading();
    }, LOOKS_AWAY_MS);
  });
  return () => {
    slowed.delete(peer);
    clearTimeout(timer);
    peer.resumeReading();
  };
}

/** The highest value from now to the returned call. */
function watched(value: () => number): () => number {
  let highest = value();
  const timer = setInterval(() => {
    highest = Math.max(highest, value());
  }, 100);
  return () => {
    clearInterval(timer);
    return Math.max(highest, value());
  };
}
