import { crashPointNames } from '../../../../src/core/host/crash-points/point-names.ts';
import type { Complaint, LoopJournal } from '../checker/evidence.ts';
import { readJournal } from '../checker/read-journal.ts';
import { CrashRig } from '../rig/crash-rig.ts';
import type { Scenario } from './scenario.ts';
import { SESSION_SCENARIOS } from './scenarios/sessions.ts';
import { TURN_SCENARIOS } from './scenarios/turns.ts';

/** Shortest first: a point is tried in the first that passes it. */
export const SCENARIOS: readonly Scenario[] = [...TURN_SCENARIOS, ...SESSION_SCENARIOS];

/** What came of dying at one point. */
export type Verdict = {
  readonly point: string;
  readonly scenario: string;
  /** False: it never got there, and nothing is proven. */
  readonly died: boolean;
  readonly complaints: readonly string[];
};

/** Runs a scenario to its end, without a death, and gives the steps that it passes. */
export async function stepsOf(scenario: Scenario): Promise<{
  readonly steps: ReadonlySet<string>;
  readonly complaints: readonly string[];
}> {
  const rig = new CrashRig();
  await scenario.before?.(rig);
  // What comes before is not passed by the process that dies: its records say nothing about the points.
  const before = new Set(recordsOf(rig).map(({ hash }) => hash));
  await rig.start();
  await scenario.run(rig);
  if (!rig.isGone) await rig.settle();
  await rig.close();
  const steps = new Set((scenario.effects ?? []).map((effect) => `effect/${effect}`));
  for (const { event, hash } of recordsOf(rig)) {
    if (!before.has(hash)) {
      steps.add(`append/${event.type}`);
      if (event.type === 'command_issued') steps.add(`append/command/${event.command.type}`);
      if (event.type === 'tool_proposed') steps.add(`effect/${event.name}`);
    }
  }
  const complaints = (await rig.complaints('settled')).map(said);
  rig.dispose();
  return { steps, complaints };
}

function recordsOf({ home }: CrashRig): readonly LoopJournal['history' | 'control'][number][] {
  return readJournal(home).flatMap(({ history, control }) => [...history, ...control]);
}

/** Which scenario each point is tried in; null for one that none of them passes. */
export function assignment(
  passed: ReadonlyMap<Scenario, ReadonlySet<string>>,
): ReadonlyMap<string, Scenario | null> {
  return new Map(
    crashPointNames().map((point) => {
      const step = point.slice(point.indexOf(':') + 1);
      return [point, [...passed].find(([, steps]) => steps.has(step))?.[0] ?? null];
    }),
  );
}

/** Lets a scenario die at a point, brings everything back, goes on, and checks at each stage. */
export async function dieAt(point: string, scenario: Scenario): Promise<Verdict> {
  const rig = new CrashRig();
  await scenario.before?.(rig);
  await rig.start(point);
  await scenario.run(rig);
  const died = (await rig.close()) === 'SIGKILL';
  const complaints = [...(await stage(rig, 'dead'))];
  rig.permission = null;
  await rig.start();
  const sessions = await rig.loadAll();
  complaints.push(...(await stage(rig, 'restored')));
  rig.permission = 'allow_once';
  await rig.settle();
  for (const sessionId of sessions) {
    const answer = await rig.prompt(sessionId, 'finish with still here');
    if (answer.kind !== 'ok' || answer.result['stopReason'] !== 'end_turn')
      complaints.push(`settled: session ${sessionId} takes no prompt: ${JSON.stringify(answer)}`);
  }
  await rig.close();
  complaints.push(...(await stage(rig, 'settled')));
  rig.dispose();
  return { point, scenario: scenario.name, died, complaints };
}

async function stage(rig: CrashRig, name: 'dead' | 'restored' | 'settled'): Promise<string[]> {
  return (await rig.complaints(name)).map((complaint) => `${name}: ${said(complaint)}`);
}

function said({ rule, loopId, text }: Complaint): string {
  return `${rule}: ${text} (${loopId.slice(0, 8)})`;
}

/** Does the work of a list, two at a time. */
export async function inPairs<T>(
  items: readonly T[],
  work: (item: T) => Promise<void>,
): Promise<void> {
  const left = [...items];
  const worker = async (): Promise<void> => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item);
  };
  await Promise.all([worker(), worker()]);
}
