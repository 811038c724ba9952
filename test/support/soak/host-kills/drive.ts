import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { isObject } from '../../../../src/base/json.ts';
import { connectAcpClient } from '../../acp-client/connect.ts';
import { AGENT_CORE, isAlive } from '../../agent-core/agent-core.ts';
import { hostsOf, processesOf, workersIn } from '../../host-process/host-process.ts';
import { complaintsAbout } from '../checker/check.ts';
import type { Evidence, LoopJournal } from '../checker/evidence.ts';
import { readJournal, readLiveJournal } from '../checker/read-journal.ts';
import { TURNS } from '../kills/acts.ts';
import { perform } from '../kills/perform.ts';
import { type Act, SESSIONS } from '../kills/plan.ts';
import { type Answer, CrashRig, newGround } from '../rig/crash-rig.ts';
import { HostWatch } from './host-watch.ts';
import { type HostRound, SEATS } from './plan.ts';

/** How long anything may outlive what it belonged to. */
const ORPHAN_MS = 10_000;
/** How often a client comes again whose door found no host. */
const TRIES = 3;

/** One data folder with one host and several clients that share its sessions; one of them dies in each round. */
export class HostKillDrive {
  readonly #ground = newGround((home, env) =>
    connectAcpClient({
      spawn: {
        command: process.execPath,
        args: [AGENT_CORE],
        env: { ...process.env, PILOTHOUSE_HOME: home, PILOTHOUSE_SANDBOX: 'off', ...env },
      },
    }),
  );
  readonly #seats = Array.from({ length: SEATS }, () => new CrashRig(undefined, this.#ground));
  readonly #watch = new HostWatch(this.#ground.home);
  readonly #count: (what: string, by?: number) => void;
  readonly #messages: string[] = [];
  #sessions: readonly string[] = [];
  #complaints: string[] = [];
  #hostDied = false;

  constructor(count: (what: string, by?: number) => void) {
    this.#count = count;
  }

  /** Everybody is there and works until one is killed; gives what does not hold then. */
  async round(round: HostRound): Promise<readonly string[]> {
    await this.#gather();
    if (this.#hostDied) this.#check('restored');
    this.#hostDied = false;
    const over = new AbortController();
    const acting = this.#seats.map((seat, index) => {
      const { permission = null, acts = [] } = round.parts[index] ?? {};
      seat.permission = permission;
      return this.#act(seat, acts, over.signal);
    });
    await sleep(round.ms);
    await this.#kill(round);
    over.abort();
    await Promise.all(acting);
    this.#check('dead');
    this.#count(`killed: ${round.victim}`);
    return this.#taken();
  }

  /** Everything comes to its end, every session works, and nothing is left when the host was told to end. */
  async finish(): Promise<readonly string[]> {
    await this.#gather();
    for (const seat of this.#seats) seat.permission = 'allow_once';
    const [first] = this.#seats;
    if (first === undefined) throw new TypeError('There is no client');
    await first.settle();
    for (const [index, sessionId] of this.#sessions.entries()) {
      // Whoever it is that asks.
      const answer = await this.#seats[index % SEATS]?.prompt(sessionId, 'finish with still here');
      if (answer?.kind !== 'ok' || answer.result['stopReason'] !== 'end_turn')
        this.#complain(`session ${sessionId} takes no prompt: ${JSON.stringify(answer)}`);
    }
    await first.settle();
    for (const sessionId of this.#sessions)
      for (const stream of ['history', 'control']) {
        const answer = await first.call('_pilothouse/history/verify', { sessionId, stream });
        if (answer.kind !== 'ok' || answer.result['ok'] !== true)
          this.#complain(`the ${stream} of ${sessionId} is not whole: ${JSON.stringify(answer)}`);
      }
    await this.#end();
    this.#check('settled');
    for (const loop of readJournal(this.#ground.home)) this.#tally(loop);
    this.#count('looks for a second host', this.#watch.looks);
    const complaints = this.#taken();
    first.dispose();
    return complaints;
  }

  /** Whatever still runs, for a test that broke off. */
  dispose(): void {
    this.#watch.dispose();
    for (const { pid } of processesOf(this.#ground.home)) killNow(pid);
  }

  async #end(): Promise<void> {
    const { home, folder } = this.#ground;
    for (const seat of this.#seats)
      if ((await seat.close()) !== null) this.#complain('a door was killed by somebody else');
    await promisify(execFile)(process.execPath, [AGENT_CORE, 'host', '--stop'], {
      env: { ...process.env, PILOTHOUSE_HOME: home },
    });
    await this.#noneOf('outlived the end of the host', () => [
      ...processesOf(home).map(({ pid }) => pid),
      ...workersIn(folder),
    ]);
    this.#hostDied = true;
    this.#watch.dispose();
  }

  /** Those without a door get one, all at the same time; one host answers them all, and nobody else is there. */
  async #gather(): Promise<void> {
    for (const seat of this.#seats) seat.permission = null;
    await Promise.all(
      this.#seats.map(async (seat) => {
        for (let left = TRIES; seat.isGone && left > 0; left -= 1) {
          if (left < TRIES) this.#count('doors that came again');
          if (hostPid(await seat.start()) === null) {
            await seat.gone();
            continue;
          }
          await seat.loadAll();
        }
        if (seat.isGone) this.#complain(`a client found no host in ${TRIES} tries`);
      }),
    );
    const [first] = this.#seats;
    if (this.#sessions.length === 0 && first !== undefined) {
      for (let left = SESSIONS; left > 0; left -= 1) await first.newSession();
      await Promise.all(this.#seats.slice(1).map((seat) => seat.loadAll()));
      this.#sessions = await first.sessions();
    }
    await this.#nobodyElse();
  }

  async #nobodyElse(): Promise<void> {
    const { home } = this.#ground;
    const doors = new Set(this.#seats.map(({ client }) => client.pid));
    await this.#noneOf('is a door of nobody', () =>
      processesOf(home).flatMap(({ pid, isHost }) => (isHost || doors.has(pid) ? [] : [pid])),
    );
    await this.#noneOf('is a host too many', () => hostsOf(home).slice(1));
    const lists = await Promise.all(this.#seats.map((seat) => seat.sessions()));
    for (const list of lists)
      if (this.#sessions.some((sessionId) => !list.includes(sessionId)))
        this.#complain(`a client sees the sessions ${list.join(', ')}`);
  }

  async #act(seat: CrashRig, acts: readonly Act[], signal: AbortSignal): Promise<void> {
    for (const act of acts) {
      await sleep(act.wait);
      if (signal.aborted || seat.isGone) return;
      const sessionId = this.#sessions[act.session % this.#sessions.length];
      if (sessionId === undefined) continue;
      const done = perform(seat, act, sessionId, this.#messages);
      // A turn lasts as long as it wants; it may stand at a question for the rest of the run.
      if (TURNS.has(act.name)) done.catch(() => undefined);
      else await done;
    }
  }

  async #kill({ victim, seat: index, isHasty, newbornMs }: HostRound): Promise<void> {
    const seat = this.#seats[index];
    if (seat === undefined) throw new TypeError('There is no such client');
    if (victim === 'door') {
      await seat.kill();
      return;
    }
    if (victim === 'client') {
      seat.client.vanish();
      await this.#noneOf('is a door whose client is gone', () =>
        [seat.client.pid ?? 0].filter(isAlive),
      );
      await seat.gone();
      return;
    }
    await this.#killHost(victim === 'all');
    if (victim === 'newborn') await this.#killNewborn(newbornMs);
    else if (isHasty) await this.#gather();
  }

  async #killHost(withDoors: boolean): Promise<void> {
    const { home, folder } = this.#ground;
    const [host] = hostsOf(home);
    if (host === undefined) {
      this.#complain('the host was gone before it was killed');
      return;
    }
    const workers = workersIn(folder);
    killNow(host);
    if (withDoors) await Promise.all(this.#seats.map((seat) => seat.kill()));
    const ends = await Promise.all(this.#seats.map((seat) => seat.gone()));
    if (!withDoors && ends.some((signal) => signal !== null))
      this.#complain('a door was killed by somebody else');
    // Those that it was just about to start are among what the next look finds.
    await this.#noneOf('outlived its host', () => workers.filter(isAlive));
    this.#hostDied = true;
  }

  /** The next host is killed while the clients wait for it. */
  async #killNewborn(ms: number): Promise<void> {
    const before = new Set(hostsOf(this.#ground.home));
    const gathering = this.#gather();
    const deadline = performance.now() + ORPHAN_MS;
    let born: number | undefined;
    while (born === undefined && performance.now() < deadline) {
      await sleep(5);
      born = hostsOf(this.#ground.home).find((pid) => !before.has(pid));
    }
    await sleep(ms);
    if (born === undefined) this.#complain('no host was started');
    else killNow(born);
    await gathering;
    this.#hostDied = true;
  }

  /** None is left in ten seconds. */
  async #noneOf(what: string, pids: () => readonly number[]): Promise<void> {
    const deadline = performance.now() + ORPHAN_MS;
    while (pids().length > 0) {
      if (performance.now() > deadline) {
        for (const pid of pids()) this.#complain(`process ${pid} ${what}`);
        return;
      }
      await sleep(20);
    }
  }

  #check(stage: Evidence['stage']): void {
    for (const seat of this.#seats) seat.collect();
    const { home, sent, told } = this.#ground;
    const earlierMarkers = this.#seats[0]?.marks ?? [];
    const loops = hostsOf(home).length === 0 ? readJournal(home) : readLiveJournal(home);
    const markers = this.#seats[0]?.marks ?? [];
    const evidence = { stage, earlierMarkers, loops, told: told.all, sent, markers, alive: [] };
    for (const { rule, loopId, text } of complaintsAbout(evidence))
      this.#complain(`${stage}: ${rule}: ${text} (${loopId})`);
  }

  #complain(text: string): void {
    this.#complaints.push(text);
  }

  #taken(): readonly string[] {
    const taken = [...this.#complaints, ...this.#watch.seen];
    this.#complaints = [];
    this.#watch.seen.clear();
    return taken;
  }

  #tally(loop: LoopJournal): void {
    for (const { event } of loop.history) {
      if (event.type === 'tool_ended') this.#count(`calls: ${event.result.status}`);
      if (COUNTED.has(event.type)) this.#count(event.type);
    }
  }
}

const COUNTED: ReadonlySet<string> = new Set([
  'turn_started',
  'gate_opened',
  'delegate_started',
  'process_started',
  'inject_delivered',
  'history_moved',
]);

function hostPid(answer: Answer): number | null {
  if (answer.kind !== 'ok') return null;
  let value: unknown = answer.result;
  for (const key of ['agentCapabilities', '_meta', 'pilothouse', 'host', 'pid'])
    value = isObject(value) ? value[key] : undefined;
  return typeof value === 'number' ? value : null;
}

function killNow(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (failure) {
    // It was dying already.
    if (!isObject(failure) || failure['code'] !== 'ESRCH') throw failure;
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
