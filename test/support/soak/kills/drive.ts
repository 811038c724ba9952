import type { LoopJournal } from '../checker/evidence.ts';
import { issuedIn } from '../checker/issued.ts';
import { readJournal } from '../checker/read-journal.ts';
import { CrashRig } from '../rig/crash-rig.ts';
import { TURNS } from './acts.ts';
import { perform } from './perform.ts';
import { type Act, type Round, SESSIONS } from './plan.ts';

/** A round whose process does not come to its crash point is killed after this time. */
const LATEST_MS = 1_500;

/** One data folder with several sessions under random controls, killed again and again. */
export class KillDrive {
  readonly #rig = new CrashRig();
  readonly #count: (what: string, by?: number) => void;
  #sessions: string[] = [];
  readonly #messages: string[] = [];
  #started = false;

  constructor(count: (what: string, by?: number) => void) {
    this.#count = count;
  }

  /** Lives until it is killed, and gives what does not hold then and when everything is back. */
  async round({ kill, permission, acts }: Round): Promise<readonly string[]> {
    const rig = this.#rig;
    const complaints: string[] = [];
    rig.permission = null;
    await rig.start(kill.kind === 'point' ? kill.point : undefined);
    await this.#open();
    if (this.#started && !rig.isGone && kill.kind === 'moment')
      complaints.push(...(await this.#complaints('restored')));
    this.#started = true;
    rig.permission = permission;
    const over = new AbortController();
    const acting = this.#act(acts, over.signal);
    const ms = kill.kind === 'moment' ? kill.ms : LATEST_MS;
    await Promise.race([rig.client.exited, sleep(ms)]);
    this.#count(rig.isGone ? 'killed at a point' : 'killed at a moment');
    await rig.kill();
    over.abort();
    await acting;
    complaints.push(...(await this.#complaints('dead')));
    return complaints;
  }

  /** Everything comes back, to its end, and every session works. */
  async finish(): Promise<readonly string[]> {
    const rig = this.#rig;
    rig.permission = null;
    await rig.start();
    const sessions = await rig.loadAll();
    const complaints = [...(await this.#complaints('restored'))];
    rig.permission = 'allow_once';
    await rig.settle();
    for (const sessionId of sessions) {
      const answer = await rig.prompt(sessionId, 'finish with still here');
      if (answer.kind !== 'ok' || answer.result['stopReason'] !== 'end_turn')
        complaints.push(`session ${sessionId} takes no prompt: ${JSON.stringify(answer)}`);
    }
    await rig.settle();
    for (const sessionId of sessions)
      for (const stream of ['history', 'control']) {
        const answer = await rig.call('_pilothouse/history/verify', { sessionId, stream });
        if (answer.kind !== 'ok' || answer.result['ok'] !== true)
          complaints.push(`the ${stream} of ${sessionId} is not whole: ${JSON.stringify(answer)}`);
      }
    await rig.close();
    complaints.push(...(await this.#complaints('settled')));
    for (const loop of readJournal(rig.home)) this.#tally(loop);
    rig.dispose();
    return complaints;
  }

  async #open(): Promise<void> {
    const rig = this.#rig;
    const known = await rig.loadAll();
    this.#sessions = [...known];
    while (this.#sessions.length < SESSIONS && !rig.isGone) {
      const sessionId = await rig.newSession();
      if (sessionId !== '') this.#sessions.push(sessionId);
    }
  }

  async #act(acts: readonly Act[], signal: AbortSignal): Promise<void> {
    const open: Promise<unknown>[] = [];
    for (const act of acts) {
      if (signal.aborted || this.#rig.isGone) break;
      await sleep(act.wait);
      const sessionId = this.#sessions[act.session % this.#sessions.length];
      if (sessionId === undefined) continue;
      const done = perform(this.#rig, act, sessionId, this.#messages);
      // Some are waited for; a turn would keep the rest waiting.
      if (!TURNS.has(act.name) && act.luck < 0.5) await done;
      else open.push(done);
    }
    await Promise.all(open);
  }

  async #complaints(stage: 'dead' | 'restored' | 'settled'): Promise<readonly string[]> {
    return (await this.#rig.complaints(stage)).map(
      ({ rule, loopId, text }) => `${stage}: ${rule}: ${text} (${loopId})`,
    );
  }

  #tally(loop: LoopJournal): void {
    this.#count('commands', issuedIn(loop).length);
    for (const { event } of loop.control)
      if (event.type === 'command_resolved') this.#count(`resolved: ${event.resolution}`);
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
  'delegate_ended',
  'process_started',
  'inject_delivered',
  'compacted',
  'history_moved',
]);

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
