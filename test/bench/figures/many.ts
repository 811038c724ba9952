import { readFileSync } from 'node:fs';
import { inFolder, median, pause, rssOf } from '../measure.ts';
import { hostPid, withHost } from '../peers/host.ts';
import { Peer } from '../peers/peer.ts';
import type { Programs } from '../programs.ts';
import type { Figure } from '../report.ts';

const SESSIONS = 50;
const STOPS = 25;
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
  const sessions = await followed(peers, cwd);
  const counts = peers.map(counted);
  await pause(TIDY_MS);
  const before = rss();
  const [one = ''] = sessions;
  const quiet = await stops(owner, one);
  const rest = sessions.slice(1);
  const streaming = streamOn(owner, rest);
  const lagging = lag(slow);
  await pause(1_000);
  const peak = watched(rss);
  const [from, started] = [counts.map((count) => count()), performance.now()];
  const worked = cpuMs(host);
  await pause(WATCH_MS);
  const seconds = (performance.now() - started) / 1_000;
  const busy = (cpuMs(host) - worked) / seconds;
  const [atOwner = 0, atOther = 0, atSlow = 0] = counts.map(
    (count, index) => (count() - (from[index] ?? 0)) / seconds,
  );
  const loaded = await stops(owner, one);
  const byOther = await stops(other, one);
  lagging();
  const highest = peak();
  await streaming();
  await pause(TIDY_MS);
  const memory = (name: string, value: number, limit: number | null): Figure => ({
    name: `host RSS ${name}`,
    ours: value,
    unit: 'MB',
    baseline: { name: `${SESSIONS} sessions at rest`, value: before },
    aim: limit === null ? null : { kind: 'added', limit },
  });
  const stop = (name: string, value: number): Figure => ({
    name: `${name}, ${rest.length} others stream`,
    ours: value,
    unit: 'ms',
    baseline: { name: 'nothing else streams', value: quiet },
    aim: { kind: 'added', limit: 20 },
  });
  const rate = (name: string, value: number, baseline: Figure['baseline']): Figure => ({
    name: `frames to ${name}`,
    ours: value,
    unit: '/s',
    baseline,
    aim: null,
  });
  return [
    memory(`while ${SESSIONS} sessions stream to 3 clients, at most`, highest, 150),
    memory('after that', rss(), 40),
    rate('the owner', atOwner, null),
    rate('another client', atOther, { name: 'the owner', value: atOwner }),
    rate('a client that reads slowly', atSlow, { name: 'the owner', value: atOwner }),
    {
      name: 'processor time of the host in a second of that',
      ours: busy,
      unit: 'ms',
      baseline: null,
      aim: null,
    },
    stop('stop to its answer', loaded),
    stop('stop of another client to its answer', byOther),
  ];
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

/** From the cancel of a reply that streams to the answer of its prompt. */
async function stops(peer: Peer, sessionId: string): Promise<number> {
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
  return median(spans);
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
